"""Vercel's AI SDK (ai 6.0.326): spans `ai.generateText.doGenerate`, `ai.streamText.doStream` and their kin.

The spans around them (`ai.generateText`) tell the last answer again. Finish reasons are the SDK's own.
"""

from typing import Any

from ingest.otlp import Object, Span
from ingest.otlp.dialects import Dialect
from ingest.otlp.parts import finish
from ingest.otlp.values import objects, opened
from ingest.shapes.openai_message import Fields

_TEXT = ("ai.response.text", "ai.result.text", "ai.response.object", "ai.result.object")
_CALLS = ("ai.response.toolCalls", "ai.result.toolCalls")
_REASON = ("ai.response.finishReason", "ai.finishReason")


def recognises(span: Span) -> bool:
    """Whether the span is one call of a model."""
    operation = span.attributes.get("ai.operationId", span.name)
    return (
        isinstance(operation, str) and operation.startswith("ai.") and operation.endswith((".doGenerate", ".doStream"))
    )


def replies(span: Span) -> list[Fields]:
    """The one answer of a call, if it was recorded."""
    attributes = span.attributes
    fields = _texts(attributes, streamed=span.name.endswith(".doStream")) | _calls(attributes)
    if not fields:
        return []
    reason = next((attributes[key] for key in _REASON if key in attributes), None)
    return [_offer(attributes) | fields | finish(reason, mapped=True)]


def _texts(attributes: Object, *, streamed: bool) -> Fields:
    """The texts: of a stream, put together from its parts."""
    fields: Fields = {}
    content = next((attributes[key] for key in _TEXT if isinstance(attributes.get(key), str)), None)
    if content is not None:
        fields["content"] = content
    if isinstance(attributes.get("ai.response.reasoning"), str):
        fields["reasoning"] = attributes["ai.response.reasoning"]
    return fields | {"text_fidelity": "rebuilt" if streamed else "exact"} if fields else fields


def _calls(attributes: Object) -> Fields:
    told = next((attributes[key] for key in _CALLS if attributes.get(key) is not None), None)
    calls, fidelity = opened(told)
    if not isinstance(calls, list):
        return {}
    cut = {"text_fidelity": "truncated"} if fidelity == "truncated" else {}
    return {"tool_calls": [_call(call) for call in objects(calls)]} | cut


def _call(call: Object) -> Object:
    named = {"toolCallId": "id", "toolName": "name", "input": "arguments", "args": "arguments"}
    return {named.get(key, key): value for key, value in call.items() if key not in ("type", "toolCallType")}


def _offer(attributes: Object) -> Fields:
    """Tools and choice. Where the prompt was recorded and no tools were, none were offered."""
    tools = attributes.get("ai.prompt.tools")
    fields: Fields = {}
    if isinstance(tools, list):
        fields["tools"] = [_tool(each) for each in tools]
    elif "ai.prompt.messages" in attributes and tools is None:
        fields["tools"] = []
    choice = _json(attributes.get("ai.prompt.toolChoice"))
    return fields | ({"tool_choice": choice} if choice is not None else {})


def _tool(tool: Any) -> Any:
    """A tool, of which each is JSON in a text."""
    found = _json(tool)
    if not isinstance(found, dict):
        raise ValueError("a tool in ai.prompt.tools is no object")
    return {{"inputSchema": "parameters"}.get(key, key): value for key, value in found.items()}


def _json(value: Any) -> Any:
    try:
        return opened(value)[0]
    except ValueError:
        return value


AI_SDK = Dialect(name="ai-sdk", rank=0, recognises=recognises, replies=replies)
