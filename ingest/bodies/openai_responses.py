"""OpenAI's Responses API, which engines speak too (`object: response`, `output` items).

It has no finish reason: one is inferred from the status and the items, or is what made the response incomplete.
"""

from typing import Any

from ingest.bodies import Body, Object
from ingest.shapes.moments import seconds
from ingest.shapes.openai_message import Fields, offered
from ingest.shapes.response_items import CALLS, chat_messages, item_fields
from ingest.shapes.response_stream import ResponseStream
from ingest.shapes.streams import named
from ingest.shapes.token_counts import counts

_TEXTS = {"id": "generation_id", "model": "model", "provider": "provider"}
_ASKED = ("model", "instructions", "previous_response_id")
_STATUSES = {"failed": "error", "cancelled": "cancelled", "in_progress": "cut", "queued": "cut"}


def is_request(value: Object) -> bool:
    """Whether `value` is a request: its input is a text or a list, and something else is asked for beside it."""
    asked = isinstance(value.get("input"), str | list) and any(isinstance(value.get(key), str) for key in _ASKED)
    return (
        asked and "messages" not in value and not any(isinstance(value.get(key), list) for key in ("output", "choices"))
    )


def is_response(value: Object) -> bool:
    """Whether `value` is a whole response."""
    return value.get("object") == "response" and isinstance(value.get("output"), list)


def is_event(value: Object) -> bool:
    """Whether `value` is an event of a stream, an error apart."""
    kind = value.get("type")
    if not isinstance(kind, str) or not kind.startswith("response."):
        return False
    return isinstance(value.get("response"), dict) or "output_index" in value or "item_id" in value


def stream_id(event: Object) -> str | None:
    """The id of the response, which events of the whole response alone tell."""
    response = event.get("response")
    return named(response.get("id")) if isinstance(response, dict) else None


def replies(response: Object, mended: bool) -> list[Fields]:
    """The one generation of a response."""
    fields: Fields = {ours: response[key] for key, ours in _TEXTS.items() if isinstance(response.get(key), str)}
    if created := seconds(response.get("created_at")):
        fields["started_at"] = created
    if "usage" in response:
        fields["usage"] = counts(response["usage"], "input_tokens", "output_tokens")
    if isinstance(response.get("tools"), list):
        fields |= _offer(response)
    fields |= {key: response[key] for key in ("error", "previous_response_id") if response.get(key)}
    return [fields | item_fields(response["output"], mended=mended) | _finish(response)]


def _finish(response: Object) -> Fields:
    status, details = response.get("status"), response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    if status == "incomplete" and isinstance(reason, str):
        return {"finish_reason": reason, "finish_fidelity": "mapped"}
    if status == "completed":
        called = any(isinstance(item, dict) and item.get("type") in CALLS for item in response["output"])
        return {"finish_reason": "tool_calls" if called else "stop", "finish_fidelity": "inferred"}
    told = _STATUSES.get(status) if isinstance(status, str) else None
    return {"finish_fidelity": "absent"} | ({"status": told} if told else {})


def offer(request: Object) -> Fields:
    """Tools and call mode: a request without tools offered none."""
    return _offer({"tools": [], **request}) | (
        {"model": request["model"]} if isinstance(request.get("model"), str) else {}
    )


def _offer(told: Object) -> Fields:
    tools = offered(told["tools"])
    fields: Fields = {"tools": tools, "call_mode": "native" if tools else "none"}
    if "tool_choice" in told:
        fields["tool_choice"] = told["tool_choice"]
        if fields["tool_choice"] == "none":
            fields["call_mode"] = "none"
    return fields


def history(request: Object) -> list[Object]:
    """The input as messages; with `previous_response_id` it is but the latest part."""
    told: Any = request["input"]
    system = [{"role": "system", "content": request["instructions"]}] if request.get("instructions") else []
    return [*system, *([{"role": "user", "content": told}] if isinstance(told, str) else chat_messages(told))]


def answers(response: Object) -> list[Object]:
    """The output as messages."""
    return chat_messages(item for item in response["output"] if isinstance(item, dict))


OPENAI_RESPONSES = Body(
    name="openai-responses",
    asks="input",
    marks=frozenset({"object", "type"}),
    is_request=is_request,
    is_response=is_response,
    is_event=is_event,
    stream=ResponseStream,
    stream_id=stream_id,
    replies=replies,
    offer=offer,
    history=history,
    answers=answers,
)
