"""Calls of examples/llm/budget.py, and what they leave of the budget: llm.py <the gateway's address> <Weir's address>"""
import json
import hashlib
import socket
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlparse

BUDGET, PROMPT = 10_000, 30
gateway, weir = sys.argv[1:3]


def post(address, body, token="none"):
    fields = {"Content-Type": "application/json", "Authorization": "Bearer " + token}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), fields), timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as answer:
        return answer.status, answer.headers, answer.read()


def request(text, tokens, **more):
    return {"model": "any", "max_tokens": tokens, "messages": [{"role": "user", "content": text}], **more}


def chat(token, text, tokens=200, **more):
    return post(gateway + "/v1/chat/completions", request(text, tokens, **more), token)


def held(text, tokens):
    return len(json.dumps(request(text, tokens)["messages"])) + tokens


def left(token, kind="budget"):
    caller = hashlib.sha256(("Bearer " + token).encode()).hexdigest()[:16]
    body = {"domain": "llm", "descriptor": {kind: caller}, "permits": 0}
    return json.loads(post(weir + "/v1/check", body)[2])["statuses"][0]["remaining"]


def settled(token, expected):
    """Waits for settlements, which come when an answer has ended."""
    end = time.monotonic() + 30
    while left(token) != expected and time.monotonic() < end:
        time.sleep(0.02)
    assert left(token) == expected, (token, left(token), expected)


# Whole answers and streams cost what the model reports, not what was held.
for i in range(3):
    status, fields, body = chat("whole", "Say it 100 times.")
    assert status == 200 and json.loads(body)["usage"]["total_tokens"] == PROMPT + 100, body
    settled("whole", BUDGET - (i + 1) * (PROMPT + 100))
assert fields["x-ratelimit-limit-tokens"] == "10000" and fields["x-ratelimit-limit-requests"] == "60", fields.items()
assert left("whole", "caller") == 57
status, _, body = chat("stream", "Say it 100 times.", stream=True)
assert status == 200 and body.count(b"word") == 100 and body.endswith(b"data: [DONE]\n\n"), body[-300:]
settled("stream", BUDGET - PROMPT - 100)

# A wrong body holds nothing.
status, _, body = post(gateway + "/v1/chat/completions", {"model": "any"}, "wrong")
assert status == 400 and "'messages'" in json.loads(body)["error"]["message"], body
assert left("wrong") == BUDGET

# What nobody reports stays held: a stream that is cut off, and one whose client leaves.
assert chat("cut", "cut it at 100", stream=True)[0] == 200
where = urlparse(gateway)
text, body = "Say it 5000 times.", json.dumps(request("Say it 5000 times.", 5000, stream=True)).encode()
with socket.create_connection((where.hostname, where.port), timeout=60) as leaving:
    head = f"POST /v1/chat/completions HTTP/1.0\r\nAuthorization: Bearer leaves\r\nContent-Length: {len(body)}\r\n\r\n"
    leaving.sendall(head.encode() + body)
    assert leaving.recv(200).startswith(b"HTTP/1.0 200")
time.sleep(0.5)
settled("cut", BUDGET - held("cut it at 100", 200))
settled("leaves", BUDGET - held(text, 5000))

# Many at once: the budget holds, and what was held too much can be spent.
with ThreadPoolExecutor(40) as pool:
    answers = list(pool.map(lambda _: chat("many", "Say it 900 times.", 1000), range(40)))
passed = sum(status == 200 for status, _, _ in answers)
refused = [each for each in answers if each[0] == 429]
assert passed + len(refused) == 40 and 9 <= passed <= 10, passed
settled("many", BUDGET - passed * (PROMPT + 900))
for _, fields, body in refused:
    problem = json.loads(body)
    assert problem["error"]["type"] == "rate_limit_error" and problem["error"]["code"] == "rate_limit_exceeded", problem
    assert problem["error"]["message"] == problem["detail"] and "Retry in" in problem["detail"], problem
    assert fields["x-should-retry"] == "false" and int(fields["retry-after"]) > 60, fields.items()
print(f"budget of {BUDGET}: {passed} of 40 answers of {PROMPT + 900} passed at once, {left('many')} left")
