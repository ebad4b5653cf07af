"""A gateway that keeps budgets of tokens: budget.py <port> <Weir's address> <the model's address>

Each request holds the most that it may cost, prompt and answer. When its answer has ended, the hold is replaced by the
usage that the model reports. What nobody reports, as of a stream that was cut off, stays charged.
"""
import hashlib
import json
import sys
import urllib.error
import urllib.request
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MOST_TOKENS = 256  # Of an answer whose request has no bound of its own.
PASSED_ON = ("content-type", "retry-after", "x-should-retry", "x-ratelimit-")  # Fields that clients read.


def post(address, body, fields=()):
    """Returns the open answer, whatever its status."""
    request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json", **dict(fields)})
    try:
        return urllib.request.urlopen(request, timeout=600)
    except urllib.error.HTTPError as answer:
        return answer


def most(body):
    """Returns the tokens that a request may cost at most: a token has at least one character of JSON, usually four."""
    bound = body.get("max_completion_tokens") or body.setdefault("max_tokens", MOST_TOKENS)
    return len(json.dumps(body["messages"])) + bound * body.get("n", 1)


class Usage:
    """What an answer reports: of each number the largest, since some models report all along."""

    def __init__(self):
        self.prompt = self.answer = 0

    def read(self, text):
        try:
            usage = json.loads(text).get("usage")
        except (ValueError, AttributeError):
            return  # The mark of a stream's end, or a comment.
        if usage:
            self.prompt = max(self.prompt, usage.get("prompt_tokens") or 0)
            self.answer = max(self.answer, usage.get("completion_tokens") or 0)


class Gateway(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            tokens = most(body)
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            return self.problem(400, f"body: {e!r} (expected: a request with messages, in JSON)")
        caller = hashlib.sha256(self.headers.get("Authorization", "").encode()).hexdigest()[:16]
        asked = {"domain": "llm", "permits": tokens, "descriptors": [
            {"entries": [{"key": "caller", "value": caller}], "permits": 1},
            {"entries": [{"key": "budget", "value": caller}]}]}
        try:
            with post(self.server.weir + "/v1/hold", asked) as held:
                answer = held.read()
        except OSError as e:
            return self.problem(503, f"Weir: {e}")
        if held.status != 200:
            return self.head(held) and self.wfile.write(answer)
        if body.get("stream"):
            body["stream_options"] = {"include_usage": True}
        cost = self.forward(body, held)
        if cost is not None:
            post(self.server.weir + "/v1/settle", {"hold": json.loads(answer)["hold"], "permits": cost}).close()

    def forward(self, body, held):
        """Asks the model, and returns what that did cost; None if nobody says."""
        try:
            model = post(self.server.model + self.path, body, {"Authorization": self.headers.get("Authorization", "")}.items())
        except OSError as e:
            self.problem(502, f"the model: {e}")
            return 0
        with model:
            cost = self.relay(model, held)
        return cost if body.get("n", 1) == 1 else None

    def relay(self, model, held):
        """Passes the answer on, and returns what it did cost; None if nobody says."""
        usage = Usage()
        self.head(model, held)
        stream = model.headers.get("Content-Type", "").startswith("text/event-stream")
        try:
            for piece in model if stream else [model.read()]:
                usage.read(piece.removeprefix(b"data:"))
                self.wfile.write(piece)
                self.wfile.flush()
        except (OSError, HTTPException):
            return None  # The model or the client has gone.
        if model.status >= 400:
            return 0
        return usage.prompt + usage.answer if usage.prompt and usage.answer else None

    def problem(self, status, text):
        """Answers in the form that clients of models read."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"error": {"type": "server_error", "message": text}}).encode())

    def head(self, *answers):
        self.send_response(answers[0].status)
        for answer in answers:
            for name, value in answer.headers.items():
                read = name.lower().startswith(PASSED_ON)
                if read and (answer is answers[0] or name.lower().startswith("x-ratelimit-")):
                    self.send_header(name, value)
        self.end_headers()
        return True

    def log_message(self, *unused):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128  # Callers that may come at once.


if __name__ == "__main__":
    with Server(("127.0.0.1", int(sys.argv[1])), Gateway) as gateway:
        gateway.weir, gateway.model = sys.argv[2:4]
        print(f"ready: http://127.0.0.1:{gateway.server_port}", flush=True)
        gateway.serve_forever()
