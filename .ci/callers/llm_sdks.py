"""The SDKs of model services at a budget that is used up: llm_sdks.py <the gateway's address>

Each raises its own error for limits at once, with the sentence of the refusal, and does not sleep for as long as the refusal holds.
"""
import sys
import time
from importlib.metadata import version

import anthropic
import openai

MESSAGES = [{"role": "user", "content": "Say it 900 times."}]
gateway = sys.argv[1]
model = openai.OpenAI(base_url=gateway + "/v1", api_key="sdk")


def ask():
    return model.chat.completions.create(model="any", messages=MESSAGES, max_tokens=1000)


assert ask().usage.total_tokens == 930
for _ in range(20):
    try:
        ask()
    except openai.RateLimitError:
        break
else:
    raise AssertionError("never refused")

begun = time.monotonic()
try:
    ask()
    raise AssertionError("not refused")
except openai.RateLimitError as e:
    assert "Retry in" in str(e) and e.code == "rate_limit_exceeded" and e.type == "rate_limit_error", str(e)
    print(f"openai {version('openai')}: {e.message[:120]}", end="; ")

try:
    # The gateway takes any path, and its refusals are the same.
    other = anthropic.Anthropic(base_url=gateway, api_key=None, auth_token="sdk")
    other.messages.create(model="any", messages=MESSAGES, max_tokens=1000)
    raise AssertionError("not refused")
except anthropic.RateLimitError as e:
    assert "Retry in" in str(e), str(e)
    print(f"anthropic {version('anthropic')}: {type(e).__name__}", end="; ")
seconds = time.monotonic() - begun
assert seconds < 10, seconds
print(f"both within {seconds:.1f} s")
