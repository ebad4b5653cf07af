#!/usr/bin/env bash
# What does an SDK of a model service do with a 429 whose Retry-After is a day?
#
# One would guess: the SDKs of OpenAI and Anthropic for Python are made by the same generator, and take a Retry-After of at
# most a minute; beyond that both come back by their own backoff, after some seconds.
# Seen with openai 3.57.0 and anthropic 2.14.0 on Python 3.11: openai sleeps for up to 120 s, and raises RateLimitError at once
# beyond that, without another request. anthropic sleeps for as long as it is asked to, a day, inside the call, and then once more. With
# x-should-retry: false both raise at once.
# Why it matters here: a limit of tokens a day refuses for hours. A server that tells the truth in Retry-After, and nothing else, holds
# callers of one SDK for that long; so a refusal of a minute or longer also has x-should-retry: false.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install openai==3.57.0 anthropic==2.14.0

cat >"$work/try.py" <<'END'
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai

DAY = 86_400
fields, requests = {}, []


class Refusing(BaseHTTPRequestHandler):
    def do_POST(self):
        requests.append(self.path)
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(429)
        for name, value in {**fields, "Content-Type": "application/json"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps({"error": {"type": "rate_limit_error", "message": "later"}}).encode())

    def log_message(self, *unused):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
sleeps = []
time.sleep = lambda seconds: sleeps.append(round(seconds))
messages = [{"role": "user", "content": "x"}]


def openai_call():
    openai.OpenAI(base_url=address, api_key="x").chat.completions.create(model="m", messages=messages)


def anthropic_call():
    anthropic.Anthropic(base_url=address, api_key="x").messages.create(model="m", messages=messages, max_tokens=1)


def tried(call, error, **given):
    fields.clear()
    fields.update({name.replace("_", "-"): value for name, value in given.items()})
    requests.clear()
    sleeps.clear()
    try:
        call()
    except error:
        return len(requests), list(sleeps)
    raise AssertionError("no error")


def check(name, seen, expected):
    print(f"{name}: {seen[0]} requests, slept {seen[1]}")
    assert seen == expected, (name, seen, expected)


check("openai, 120 s", tried(openai_call, openai.RateLimitError, Retry_After="120"), (3, [120, 120]))
check("openai, 121 s", tried(openai_call, openai.RateLimitError, Retry_After="121"), (1, []))
check("openai, a day", tried(openai_call, openai.RateLimitError, Retry_After=str(DAY)), (1, []))
check("anthropic, 121 s", tried(anthropic_call, anthropic.RateLimitError, Retry_After="121"), (3, [121, 121]))
check("anthropic, a day", tried(anthropic_call, anthropic.RateLimitError, Retry_After=str(DAY)), (3, [DAY, DAY]))
for name, call, error in (("openai", openai_call, openai.RateLimitError), ("anthropic", anthropic_call, anthropic.RateLimitError)):
    seen = tried(call, error, Retry_After=str(DAY), x_should_retry="false")
    check(f"{name}, a day, x-should-retry: false", seen, (1, []))
END
"$work/venv/bin/python" "$work/try.py"
