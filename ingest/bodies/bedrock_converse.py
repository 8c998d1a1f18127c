"""Amazon Bedrock's Converse API, whose blocks are named by a key (`text`, `toolUse`) where Anthropic's have a type.

Requests and replies are read as Anthropic's. The model stands in the address, not in the bodies.
"""

from typing import Any

from ingest.bodies import Body, Object, anthropic_messages
from ingest.shapes.block_stream import BlockStream
from ingest.shapes.blocks import block_fields, chat_messages
from ingest.shapes.chat_requests import dialect
from ingest.shapes.openai_message import Fields
from ingest.shapes.token_counts import counts

_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop")


def is_request(value: Object) -> bool:
    """Whether `value` is a request with a mark of this API."""
    return dialect(value) == "bedrock-converse"


def is_response(value: Object) -> bool:
    """Whether `value` is a whole reply."""
    output = value.get("output")
    return "stopReason" in value and isinstance(output, dict) and isinstance(output.get("message"), dict)


def is_event(value: Object) -> bool:
    """Whether `value` is an event of a stream."""
    if isinstance(metadata := value.get("metadata"), dict) and len(value) == 1:
        return isinstance(metadata.get("usage"), dict)
    return any(isinstance(value.get(key), dict) for key in _EVENTS)


def stream_id(event: Object) -> str | None:  # noqa: ARG001 - no event tells one
    """No event tells an id."""
    return None


class ConverseStream(BlockStream):
    """A streamed reply, put together as one of Anthropic's."""

    def takes(self, event: Object) -> bool:
        """All but the start of another reply."""
        return super().takes({"type": "message_start"} if "messageStart" in event else event)

    def add(self, event: Object) -> None:
        """Take in one event."""
        super().add(_as_anthropic(event))

    def whole(self) -> Object:
        """The reply so far, in the shape of this API."""
        whole = super().whole()
        reply = {"output": {"message": {"role": "assistant", "content": whole["content"]}}}
        counted = {"usage": whole["usage"]} if "usage" in whole else {}
        failed = {"error": whole["error"]} if "error" in whole else {}
        return reply | {"stopReason": whole.get("stop_reason")} | counted | failed


def _as_anthropic(event: Object) -> Object:
    match event:
        case {"contentBlockStart": {"start": dict() as start, **told}}:
            return {"type": "content_block_start", "index": _index(told), "content_block": _block(start)}
        case {"contentBlockDelta": {"delta": dict() as delta, **told}}:
            return {"type": "content_block_delta", "index": _index(told), "delta": _delta(delta)}
        case {"messageStop": {"stopReason": reason}}:
            return {"type": "message_delta", "delta": {"stop_reason": reason}}
        case {"metadata": {"usage": usage}}:
            return {"type": "message_delta", "usage": usage}
        case _:
            return event


def _index(told: Any) -> Any:
    return told.get("contentBlockIndex", 0)


def _delta(delta: Object) -> Object:
    match delta:
        case {"text": text}:
            return {"type": "text_delta", "text": text}
        case {"toolUse": {"input": raw}}:
            return {"type": "input_json_delta", "partial_json": raw}
        case {"reasoningContent": {"text": thought}}:
            return {"type": "thinking_delta", "thinking": thought}
        case _:
            return delta


def _block(block: Any) -> Any:
    """A block as Anthropic's; one with a type already is one."""
    match block:
        case {"type": _}:
            return block
        case {"text": text}:
            return {"type": "text", "text": text}
        case {"toolUse": {"toolUseId": call_id, **told}}:
            return {"type": "tool_use", "id": call_id, **told}
        case {"toolResult": {"toolUseId": call_id, **told}}:
            return {"type": "tool_result", "tool_use_id": call_id, **told}
        case {"reasoningContent": {"reasoningText": {"text": thought}}}:
            return {"type": "thinking", "thinking": thought}
        case _:
            return block


def _content(message: Object) -> list[Any]:
    content = message.get("content")
    if not isinstance(content, list):
        raise ValueError("the content is not a list of blocks")
    return [_block(block) for block in content]


def replies(response: Object, mended: bool) -> list[Fields]:
    """The one generation of a reply."""
    reason = response["stopReason"]
    if reason is not None and not isinstance(reason, str):
        raise ValueError("the stop reason is no text")
    fields: Fields = {"finish_reason": reason, "finish_fidelity": "absent" if reason is None else "wire"}
    if "usage" in response:
        fields["usage"] = counts(response["usage"], "inputTokens", "outputTokens")
    if response.get("error"):
        fields |= {"status": "error", "error": response["error"]}
    return [fields | block_fields(_content(response["output"]["message"]), mended=mended)]


def offer(request: Object) -> Fields:
    """Tools and call mode: a request without tools offered none."""
    config = request.get("toolConfig")
    config = config if isinstance(config, dict) else {}
    tools = config.get("tools", [])
    if not isinstance(tools, list):
        raise ValueError("tools is not a list")
    offered = [_tool(tool) for tool in tools if not (isinstance(tool, dict) and "cachePoint" in tool)]
    fields: Fields = {"tools": offered, "call_mode": "native" if offered else "none"}
    fields |= {"tool_choice": config["toolChoice"]} if "toolChoice" in config else {}
    return fields | ({"model": request["modelId"]} if isinstance(request.get("modelId"), str) else {})


def _tool(tool: Any) -> Any:
    match tool:
        case {"toolSpec": dict() as spec}:
            schema = spec.get("inputSchema")
            told = {"parameters": schema["json"]} if isinstance(schema, dict) and "json" in schema else {}
            return {key: value for key, value in spec.items() if key != "inputSchema"} | told
        case _:
            return tool


def history(request: Object) -> list[Object]:
    """The messages of a request, the system prompt first."""
    messages = [
        {**message, "content": _content(message)} if isinstance(message.get("content"), list) else message
        for message in anthropic_messages.history({"messages": request["messages"]})
    ]
    system = [{"role": "system", "content": request["system"]}] if request.get("system") else []
    return [*system, *(each for message in messages for each in chat_messages(message))]


def answers(response: Object) -> list[Object]:
    """The reply as a message."""
    return chat_messages({"role": "assistant", "content": _content(response["output"]["message"])})


BEDROCK_CONVERSE = Body(
    name="bedrock-converse",
    asks="messages",
    marks=frozenset({"stopReason", "metadata", *_EVENTS}),
    is_request=is_request,
    is_response=is_response,
    is_event=is_event,
    stream=ConverseStream,
    stream_id=stream_id,
    replies=replies,
    offer=offer,
    history=history,
    answers=answers,
)
