"""Messages made of parts, as OpenTelemetry's conventions for generative AI have them, as fields of a generation."""

from collections.abc import Iterable, Iterator
from typing import Any

from ingest.otlp import Object
from ingest.otlp.values import objects
from ingest.shapes.openai_message import Fields, message_fields

MAPPED = ("tool_call", "error")
"""Finish reasons that no provider writes: the conventions' own words."""
_OTHERS_ROLES = ("user", "system", "developer", "tool")
_REASONING = ("reasoning", "thinking")


def replies(messages: Any, reasons: Any = None, *, mapped: bool = False) -> list[Fields]:
    """One generation a message of the model. `reasons` are finish reasons by message, where these have none."""
    if isinstance(messages, dict):
        messages = [messages]
    if not isinstance(messages, list):
        raise ValueError("the output messages are no list")
    told = [message for message in objects(messages) if message.get("role") not in _OTHERS_ROLES]
    return [
        _reply(message) | finish(_reason(message, reasons, index), mapped=mapped) for index, message in enumerate(told)
    ]


def _reason(message: Object, reasons: Any, index: int) -> Any:
    if message.get("finish_reason"):
        return message["finish_reason"]
    return reasons[index] if isinstance(reasons, list) and index < len(reasons) else message.get("finish_reason")


def finish(reason: Any, *, mapped: bool = False) -> Fields:
    """A finish reason and how it was obtained; `mapped` if its writer has a table of its own."""
    if not isinstance(reason, str) or not reason:
        return {"finish_fidelity": "absent"}
    return {"finish_reason": reason, "finish_fidelity": "mapped" if mapped or reason in MAPPED else "wire"}


def _reply(message: Object) -> Fields:
    if "parts" not in message:
        return message_fields({key: message[key] for key in message if key not in ("finish_reason", "name")})
    if not isinstance(message["parts"], list):
        raise ValueError("the parts of a message are no list")
    return of_parts(objects(message["parts"]))


def of_parts(parts: list[Object]) -> Fields:
    """The fields of a message with `parts`. A part without a type, as one that was cut has, counts as text."""
    texts = list(_texts(parts, ("text", None)))
    thoughts = list(_texts(parts, _REASONING))
    calls = [_call(part) for part in parts if part.get("type") == "tool_call"]
    others = [part for part in parts if part.get("type") not in ("text", None, "tool_call", *_REASONING)]
    fields: Fields = {}
    if texts or not (thoughts or calls or others):
        fields["content"] = "".join(texts) if texts else None
    if thoughts:
        fields["reasoning"] = "".join(thoughts)
    if texts or thoughts:
        fields["text_fidelity"] = "exact" if len(texts) < 2 and len(thoughts) < 2 else "rebuilt"
    if calls:
        fields["tool_calls"] = calls
    if others:
        fields.setdefault("content", None)
        fields["content_parts"] = others
    return fields


def _texts(parts: Iterable[Object], kinds: Iterable[Any]) -> Iterator[str]:
    for part in parts:
        found = part.get("content", part.get("text"))
        if part.get("type") in kinds and isinstance(found, str):
            yield found


def _call(part: Object) -> Object:
    return {key: value for key, value in part.items() if key != "type"}
