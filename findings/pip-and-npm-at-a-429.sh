#!/usr/bin/env bash
# A limit in front of a package index: pip 26.3 turns a 429 into "No matching distribution found", and Retry-After makes it try
# six times instead of once; npm 11.6.2 does not read it.
#
# The guess: package managers obey Retry-After and then say that there were too many requests; without the field they retry
# with a wait of their own.
# Seen: pip makes one request without Retry-After and six with it, each after the wait, and in both cases its last line is that
# there is no such package. npm comes back after 10 s of its own, whatever the field says (only two requests are awaited here).
# Why it matters here: a build that fails by a limit looks like a missing package, in which nobody looks for a limit; and the
# field decides whether pip retries at all. docs/refusals.md has the row.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q pip==26.3
npm install --silent --no-fund --no-audit --prefix npm npm@11.6.2

cat >try.py <<'P'
import os, signal, subprocess, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Refusing(BaseHTTPRequestHandler):
    after, at = None, []
    def do_GET(self):
        self.at.append(time.monotonic())
        self.send_response(429)
        if self.after:
            self.send_header('Retry-After', self.after)
        self.send_header('Content-Length', '0')
        self.end_headers()
    def log_message(self, *unused):
        pass

server = ThreadingHTTPServer(('127.0.0.1', 0), Refusing)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f'http://127.0.0.1:{server.server_address[1]}'
pip = ['venv/bin/pip', 'download', '--disable-pip-version-check', '--no-cache-dir', '--no-deps', '-i', url + '/simple', 'sampleproject']
for after in [None, '1']:
    Refusing.after, Refusing.at = after, []
    said = subprocess.run(pip, capture_output=True, text=True).stderr.strip().splitlines()
    gaps = {round(b - a) for a, b in zip(Refusing.at, Refusing.at[1:])}
    print('pip', after, len(Refusing.at), sorted(gaps), said[-1])
npm = ['npm/node_modules/.bin/npm', 'view', 'left-pad', '--registry', url, '--cache', 'cache', '--prefer-online']
for after in [None, '1']:
    Refusing.after, Refusing.at = after, []
    client = subprocess.Popen(npm, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while len(Refusing.at) < 2:
        time.sleep(0.05)
    os.killpg(client.pid, signal.SIGKILL)
    client.wait()
    print('npm', after, round(Refusing.at[1] - Refusing.at[0]))
server.shutdown()
P
timeout 120 python3 try.py | tee seen
diff seen - <<'W'
pip None 1 [] ERROR: No matching distribution found for sampleproject
pip 1 6 [1] ERROR: No matching distribution found for sampleproject
npm None 10
npm 1 10
W
echo 'as described: pip names no limit, and retries only with Retry-After; npm waits 10 s'
