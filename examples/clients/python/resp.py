"""Limits by leases over the Redis protocol: resp.py <port> <user> <requests>"""
import socket
import sys
import time


class Weir:
    """One connection. Of several threads each needs its own."""

    def __init__(self, port, timeout=0.5):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.replies = self.socket.makefile("rb")

    def call(self, *words):
        parts = [str(word).encode() for word in words]
        message = b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        self.socket.sendall(message)
        return self.reply()

    def reply(self):
        kind, rest = (line := self.replies.readline().rstrip(b"\r\n"))[:1], line[1:]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        if kind == b"$":
            return self.replies.read(int(rest) + 2)[:-2].decode()
        if kind == b":":
            return int(rest)
        raise OSError(rest.decode() or "the server has closed the connection")


class Limit:
    """What is known of one key: a lease, or a refusal."""

    def __init__(self, weir, domain, *entry):
        self.weir, self.domain, self.entry = weir, domain, entry
        self.lease, self.left, self.given, self.ends, self.ahead, self.begun = "", 0, 0, 0.0, 1, 0.0
        self.refused_until, self.retry_at, self.calls, self.on_failure = 0.0, 0.0, 0, "deny"

    def allow(self):
        """Returns whether one request may pass, and the seconds after which it makes sense to try again."""
        now = time.monotonic()
        if now < self.refused_until:
            return False, self.retry_at - now  # It is kept for 30 s at most, and may be true for longer.
        if self.left > 0 and now < self.ends:
            self.left -= 1
            return True, 0.0
        try:
            return self.ask(now)
        except OSError:
            return self.on_failure == "allow", 1.0

    def ask(self, sent):
        early = self.left == 0 and sent < (self.begun + self.ends) / 2
        self.ahead = max(1, 2 * self.ahead if early else min(self.ahead, self.given - self.left) // 2)
        self.close()
        self.calls += 1
        reply = self.weir.call("WEIR.LEASE", self.domain, 1, self.ahead, *self.entry)
        allowed, retry_ms, lease, permits, life_us, refuse_ms, self.on_failure = (reply[i] for i in (0, 3, 7, 8, 9, 10, 11))
        life = life_us / 1e6
        self.lease, self.left, self.given, self.begun = lease, permits, permits, sent
        self.ends = sent + life - max(0.001, life / 100)
        self.refused_until, self.retry_at = sent + refuse_ms / 1000, sent + retry_ms / 1000
        return allowed == 1, retry_ms / 1000

    def close(self):
        """Gives back what is left, once."""
        lease, left, self.lease, self.left = self.lease, self.left, "", 0
        if lease:
            self.weir.call("WEIR.RETURN", lease, left)


def main(port, user, requests):
    limit = Limit(Weir(int(port)), "clients", "user", user)
    answers = [limit.allow() for _ in range(int(requests))]
    limit.close()
    allowed = sum(passes for passes, _ in answers)
    print(f"allowed {allowed}, refused {len(answers) - allowed}, calls {limit.calls}, retry after {answers[-1][1]:.1f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
