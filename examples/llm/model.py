"""A stand-in for a language model, in OpenAI's form: model.py <port>

It says "word" as often as the last number in the last message says, at most max_tokens times. Its prompt counts as 30 tokens.
A message that begins with "cut" ends the stream after half of that, without a report.
"""
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROMPT = 30


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = body["messages"][-1]["content"]
        words = min(int(re.findall(r"\d+", text)[-1]), body["max_tokens"])
        usage = {"prompt_tokens": PROMPT, "completion_tokens": words, "total_tokens": PROMPT + words}
        same = {"id": "chatcmpl-1", "created": 0, "model": body["model"]}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if body.get("stream") else "application/json")
        self.end_headers()
        if not body.get("stream"):
            message = {"role": "assistant", "content": "word " * words}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self.wfile.write(json.dumps({**same, "object": "chat.completion", "choices": [choice], "usage": usage}, indent=2).encode())
            return
        for i in range(words // 2 if text.startswith("cut") else words):
            choice = {"index": 0, "delta": {"content": "word "}, "finish_reason": None}
            self.event({**same, "object": "chat.completion.chunk", "choices": [choice], "usage": None})
        if not text.startswith("cut"):
            self.event({**same, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            if body.get("stream_options", {}).get("include_usage"):
                self.event({**same, "object": "chat.completion.chunk", "choices": [], "usage": usage})
            self.wfile.write(b"data: [DONE]\n\n")

    def event(self, value):
        self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")
        self.wfile.flush()

    def log_message(self, *unused):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128  # Callers that may come at once.


if __name__ == "__main__":
    with Server(("127.0.0.1", int(sys.argv[1])), Model) as model:
        print(f"ready: http://127.0.0.1:{model.server_port}", flush=True)
        model.serve_forever()
