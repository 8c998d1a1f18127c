"""The same as a program of its own: a line in, a line out. Any language will do."""

import json
import sys

TRIGGERS = ["<function=", "<invoke name="]


def answer(output):
    """What is said of one output."""
    if "hello" in output:
        return {"triggers": TRIGGERS, "summary": "An opening, whatever it opens."}
    content = output["content"] or ""
    opening = next((each for each in TRIGGERS if each in content), None)
    return opening and {"markup": opening, "tier": "certain", "reason": f"{opening} stands there"}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
