"""Limits by leases over gRPC: grpc_client.py <port> <user> <requests>

The stubs: python3 -m grpc_tools.protoc -I protocol/src/main/proto --python_out=. --grpc_python_out=. weir/v1/weir.proto
"""
import sys
import time

import grpc
from weir.v1 import weir_pb2, weir_pb2_grpc


class Limit:
    """What is known of one key: a lease, or a refusal. Not for several threads."""

    def __init__(self, stub, domain, key, value):
        descriptor = weir_pb2.Descriptor(entries=[weir_pb2.Entry(key=key, value=value)])
        self.stub, self.check = stub, weir_pb2.Check(domain=domain, descriptors=[descriptor])
        self.lease, self.left, self.given, self.ends, self.ahead, self.begun = 0, 0, 0, 0.0, 1, 0.0
        self.refused_until, self.retry_at, self.calls, self.on_failure = 0.0, 0.0, 0, weir_pb2.ON_FAILURE_DENY

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
        except grpc.RpcError:  # Not asked again: it may have been charged.
            return self.on_failure == weir_pb2.ON_FAILURE_ALLOW, 1.0

    def ask(self, sent):
        early = self.left == 0 and sent < (self.begun + self.ends) / 2
        self.ahead = max(1, 2 * self.ahead if early else min(self.ahead, self.given - self.left) // 2)
        ask = weir_pb2.LeaseAsk(check=self.check, ahead=[self.ahead])
        request = weir_pb2.LeaseRequest(returns=self.rest(), asks=[ask])
        self.calls += 1
        grant = self.stub.Lease(request, timeout=0.5).grants[0]
        if grant.result.error:
            raise ValueError(grant.result.error)
        lent, life = grant.leases[0], grant.leases[0].life_us / 1e6
        self.lease, self.left, self.given, self.begun = lent.lease, lent.permits, lent.permits, sent
        self.ends = sent + life - max(0.001, life / 100)
        self.refused_until = sent + lent.refuse_for_ms / 1000
        self.retry_at = sent + grant.result.retry_after_ms / 1000
        self.on_failure = lent.on_failure
        return grant.result.allowed, grant.result.retry_after_ms / 1000

    def rest(self):
        """Returns what is to be given back, once."""
        lease, left, self.lease, self.left = self.lease, self.left, 0, 0
        return [weir_pb2.LeaseReturn(lease=lease, permits=left)] if lease else []

    def close(self):
        self.stub.Lease(weir_pb2.LeaseRequest(returns=self.rest()), timeout=0.5)


def main(port, user, requests):
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.enable_retries", 0)]) as channel:
        limit = Limit(weir_pb2_grpc.WeirStub(channel), "clients", "user", user)
        answers = [limit.allow() for _ in range(int(requests))]
        limit.close()
    allowed = sum(passes for passes, _ in answers)
    print(f"allowed {allowed}, refused {len(answers) - allowed}, calls {limit.calls}, retry after {answers[-1][1]:.1f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
