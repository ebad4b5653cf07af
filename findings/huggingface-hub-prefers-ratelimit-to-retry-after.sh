#!/usr/bin/env bash
# huggingface_hub 2.4.0 (PyPI): RateLimit decides how long it sleeps, before Retry-After, and only names like "api" are seen.
#
# The guess: a client that reads both fields sleeps for Retry-After, which RFC 9110 defines for this; and of a list of limits it
# takes the one that is used up.
# Seen: http_backoff sleeps for t + 1 seconds of the first member of RateLimit whose name has letters, digits and _ only, if its
# r is 0, whatever Retry-After says. If that first member has something left, or all names have a dot or a hyphen, it sleeps for
# Retry-After + 1. (Its sleep is replaced here by one that only records the seconds.)
# Why it matters here: Weir's bound on Retry-After (--max-retry-after) does not bound such a client where a limit's name is a
# bare word, and which of two limits it obeys depends on their order. docs/refusals.md has the row.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q huggingface_hub==2.4.0

cat >try.py <<'P'
import logging, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from huggingface_hub.utils import _http

class Refusing(BaseHTTPRequestHandler):
    fields = {}
    def do_GET(self):
        self.send_response(429)
        for name, value in self.fields.items():
            self.send_header(name, value)
        self.send_header('Content-Length', '0')
        self.end_headers()
    def log_message(self, *unused):
        pass

server = ThreadingHTTPServer(('127.0.0.1', 0), Refusing)
threading.Thread(target=server.serve_forever, daemon=True).start()
logging.getLogger('huggingface_hub').setLevel(logging.CRITICAL)
slept = []
_http.time.sleep = slept.append
url = f'http://127.0.0.1:{server.server_address[1]}/'
for case, field in [
    ('one name', '"api";r=0;t=3600'),
    ('first has some left', '"api";r=4;t=3600, "tokens";r=0;t=40'),
    ('first is used up', '"api";r=0;t=3600, "tokens";r=0;t=40'),
    ('name with a dot', '"shop.api";r=0;t=3600'),
    ('name with a hyphen', '"by-address";r=0;t=3600, "tokens";r=0;t=40'),
]:
    Refusing.fields = {'Retry-After': '7', 'RateLimit': field}
    slept.clear()
    try:
        _http.http_backoff('GET', url, max_retries=1, retry_on_status_codes=429)
    except Exception as e:
        raised = type(e).__name__
    print(case, slept, raised)
server.shutdown()
P
venv/bin/python try.py | tee seen
diff seen - <<'W'
one name [3601.0] HfHubHTTPError
first has some left [8.0] HfHubHTTPError
first is used up [3601.0] HfHubHTTPError
name with a dot [8.0] HfHubHTTPError
name with a hyphen [41.0] HfHubHTTPError
W
echo 'as described: huggingface_hub 2.4.0 takes the time of the first member of RateLimit with a bare name'
