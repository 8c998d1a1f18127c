"""Where a response stands in its run, by the messages that a span or an event tells it was asked with.

Each convention has its own attribute: OpenTelemetry's (parts), OpenInference's and old OpenLLMetry's (flattened), and
that of Vercel's AI SDK. What was cut tells nothing.
"""

from typing import Any

from ingest.otlp import Object
from ingest.otlp.values import listed, objects, opened
from ingest.shapes.history import walk
from ingest.shapes.openai_message import Fields

_WHOLE = ("gen_ai.input.messages", "ai.prompt.messages")
_FLATTENED = ("llm.input_messages.", "gen_ai.prompt.")


def place(attributes: Object) -> Fields:
    """Turn, round, attempt and what links it to the response before; nothing where no history is told."""
    messages = _whole(attributes) or _flattened(attributes)
    return walk([_chat(each) for each in messages])[0].here() if messages else {}


def _whole(attributes: Object) -> list[Object]:
    for key in _WHOLE:
        try:
            found, fidelity = opened(attributes.get(key))
        except ValueError:
            continue
        if fidelity != "truncated" and objects(found):
            return objects(found)
    return []


def _flattened(attributes: Object) -> list[Object]:
    found = (objects(listed(attributes, prefix)) for prefix in _FLATTENED)
    told = next((messages for messages in found if messages), [])
    return [each["message"] if isinstance(each.get("message"), dict) else each for each in told]


def _chat(message: Object) -> Object:
    """A message as one of chat completions, as far as its place is told by it."""
    parts = objects(message.get("parts"))
    if not parts:
        return message
    answers = any(part.get("type") == "tool_call_response" for part in parts)
    texts: list[Any] = [part.get("content", part.get("text")) for part in parts if part.get("type") in ("text", None)]
    return {"role": "tool" if answers else message.get("role"), "content": [each for each in texts if each is not None]}
