"""OpenLLMetry before its 0.50, and LiteLLM's first OpenTelemetry logger: `gen_ai.completion.N.…`.

Tools stand in `llm.request.functions.N.{name,description,parameters}`.
"""

from typing import Any

from ingest.otlp import Object, Span
from ingest.otlp.dialects import Dialect
from ingest.otlp.facts import tools
from ingest.otlp.parts import finish
from ingest.otlp.values import listed, objects, opened
from ingest.shapes.openai_message import Fields, message_fields

PREFIX = "gen_ai.completion."
FUNCTIONS = "llm.request.functions"
_SIGNS = ("gen_ai.prompt.0.role", "gen_ai.prompt.0.content", "llm.request.type")
_FIRST = ("role", "content", "finish_reason", "tool_calls", "tool_calls.0.name", "function_call.name", "reasoning")
_COMPLETIONS = tuple(f"{PREFIX}0.{name}" for name in _FIRST)
_CALLS = ("chat", "completion")


def recognises(span: Span) -> bool:
    """Whether the span holds a flattened call, or says that it is one."""
    attributes = span.attributes
    if any(sign in attributes for sign in _COMPLETIONS):
        return True
    return any(sign in attributes for sign in _SIGNS) and attributes.get("llm.request.type", "chat") in _CALLS


def replies(span: Span) -> list[Fields]:
    """One generation a completion that says something."""
    asked = _offer(span.attributes)
    told = [each for each in objects(listed(span.attributes, PREFIX)) if each.keys() - {"role", "finish_reason"}]
    return [asked | _reply(completion) for completion in told]


def _reply(completion: Object) -> Fields:
    message = {key: value for key, value in completion.items() if key not in ("finish_reason", "tool_calls", "role")}
    if isinstance(message.get("function_call"), dict):
        message["tool_calls"] = [message.pop("function_call")]
    if "tool_calls" in completion:
        message["tool_calls"] = _calls(completion["tool_calls"])
    return message_fields(message) | finish(completion.get("finish_reason"))


def _calls(calls: Any) -> Any:
    """Calls as a list, or JSON of one."""
    try:
        return opened(calls)[0]
    except ValueError:
        return calls


def _offer(attributes: Object) -> Fields:
    if FUNCTIONS in attributes:
        return tools(attributes[FUNCTIONS])
    found = [_tool(each) for each in objects(listed(attributes, f"{FUNCTIONS}."))]
    return {"tools": found} if found else {}


def _tool(function: Object) -> Object:
    """A function whose parameters are JSON in a text; where that was cut they are left out."""
    parameters = function.get("parameters", function.get("arguments", function.get("input_schema")))
    rest: Object = {key: function[key] for key in ("name", "description") if key in function}
    try:
        found, fidelity = opened(parameters)
    except ValueError:
        return rest
    return rest | ({"parameters": found} if isinstance(found, dict) and fidelity != "truncated" else {})


FLATTENED = Dialect(name="flattened", rank=4, recognises=recognises, replies=replies)
