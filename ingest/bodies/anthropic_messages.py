"""Anthropic's Messages API, which gateways and engines speak too (`content` blocks, `stop_reason`).

A whole response has the input of a call as an object; the raw text of it is in a stream only.
"""

from typing import Any

from ingest.bodies import Body, Object
from ingest.shapes.block_stream import BlockStream
from ingest.shapes.blocks import block_fields, chat_messages, offered_tools
from ingest.shapes.chat_requests import dialect
from ingest.shapes.openai_message import Fields
from ingest.shapes.streams import named
from ingest.shapes.token_counts import counts

_EVENTS = ("content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop")
_TEXTS = {"id": "generation_id", "model": "model", "provider": "provider"}
_KEPT = ("stop_sequence", "stop_details")


def is_request(value: Object) -> bool:
    """Whether `value` is a request with a mark of this API."""
    return dialect(value) == "anthropic-messages"


def is_response(value: Object) -> bool:
    """Whether `value` is a whole reply: an output item of OpenAI's is a `message` too, without a stop reason."""
    return value.get("role") == "assistant" and "stop_reason" in value and isinstance(value.get("content"), list)


def is_event(value: Object) -> bool:
    """Whether `value` is an event of a stream, an error or a ping apart."""
    kind = value.get("type")
    if kind == "message_start":
        return isinstance(value.get("message"), dict)
    return kind in _EVENTS and (kind == "message_stop" or "index" in value or "delta" in value)


def stream_id(event: Object) -> str | None:
    """The id of the reply, which its first event alone tells."""
    message = event.get("message")
    return named(message.get("id")) if event.get("type") == "message_start" and isinstance(message, dict) else None


def replies(response: Object, mended: bool) -> list[Fields]:
    """The one generation of a reply."""
    fields: Fields = {ours: response[key] for key, ours in _TEXTS.items() if isinstance(response.get(key), str)}
    if "usage" in response:
        fields["usage"] = counts(response["usage"], "input_tokens", "output_tokens")
    fields |= {key: response[key] for key in _KEPT if response.get(key) is not None}
    if response.get("error"):
        fields |= {"status": "error", "error": response["error"]}
    return [fields | block_fields(response["content"], mended=mended) | _finish(response.get("stop_reason"))]


def _finish(reason: Any) -> Fields:
    if reason is not None and not isinstance(reason, str):
        raise ValueError("the stop reason is no text")
    return {"finish_reason": reason, "finish_fidelity": "absent" if reason is None else "wire"}


def offer(request: Object) -> Fields:
    """Tools and call mode: a request without tools offered none."""
    tools = offered_tools(request.get("tools", []))
    fields: Fields = {"tools": tools, "call_mode": "native" if tools else "none"}
    if "tool_choice" in request:
        choice = fields["tool_choice"] = request["tool_choice"]
        if isinstance(choice, dict) and choice.get("type") == "none":
            fields["call_mode"] = "none"
    return fields | ({"model": request["model"]} if isinstance(request.get("model"), str) else {})


def history(request: Object) -> list[Object]:
    """The messages of a request, the system prompt first."""
    messages = request["messages"]
    if not all(isinstance(message, dict) for message in messages):
        raise ValueError("messages holds something other than objects")
    system = [{"role": "system", "content": request["system"]}] if request.get("system") else []
    return [*system, *(each for message in messages for each in chat_messages(message))]


def answers(response: Object) -> list[Object]:
    """The reply as a message."""
    return chat_messages({"role": "assistant", "content": response["content"]})


ANTHROPIC_MESSAGES = Body(
    name="anthropic-messages",
    asks="messages",
    marks=frozenset({"stop_reason", "type"}),
    is_request=is_request,
    is_response=is_response,
    is_event=is_event,
    stream=BlockStream,
    stream_id=stream_id,
    replies=replies,
    offer=offer,
    history=history,
    answers=answers,
)
