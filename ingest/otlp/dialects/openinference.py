"""OpenInference (openinference-instrumentation-openai 0.1.66): `llm.output_messages.N.message.…` and raw bodies.

Reasoning stands only in `output.value`, the raw response, so this is preferred where it is one.
"""

from typing import Any

from ingest.bodies import body_of, generations
from ingest.otlp import Object, Span
from ingest.otlp.dialects import Dialect
from ingest.otlp.parts import finish
from ingest.otlp.values import listed, objects, opened, text
from ingest.shapes.openai_message import Fields, message_fields, offered

KIND = "openinference.span.kind"
REDACTED = "__REDACTED__"
_MODEL, _OUTPUT = "llm.model_name", "llm.output_messages."


def recognises(span: Span) -> bool:
    """Whether the span is a model call: its kind says so, or its keys do where it has none."""
    kind = span.attributes.get(KIND)
    if kind is None:
        return _MODEL in span.attributes and any(key.startswith(_OUTPUT) for key in span.attributes)
    return text(kind).upper() == "LLM"


def replies(span: Span) -> list[Fields]:
    """The choices of the raw response; else those that were flattened; else the output as it is."""
    attributes = span.attributes
    return _of_bodies(attributes) or _of_messages(attributes) or _of_texts(attributes)


def _of_bodies(attributes: Object) -> list[Fields]:
    response, request = _object(attributes.get("output.value")), _object(attributes.get("input.value"))
    body = body_of(response) if response else None
    if body is None:
        return []
    request = request if request is not None and body.is_request(request) else None
    try:
        found = generations(body, request, response)
    except ValueError:
        return []
    offer = _offer(attributes)
    hidden = {"tools", "call_mode"} if offer or not _is_whole(request) else set()
    return [{key: reply[key] for key in reply if key not in hidden} | offer for reply in map(_renamed, found)]


def _is_whole(request: Object | None) -> bool:
    """Whether the lack of tools in a request means that none were offered: only a whole one names its model."""
    return request is not None and bool({"tools", "functions", "model"} & request.keys())


def _renamed(reply: Fields) -> Fields:
    """A reply whose own id and time make way for those of the span."""
    rest = {key: value for key, value in reply.items() if key not in ("generation_id", "started_at")}
    return rest | ({"response_id": reply["generation_id"]} if "generation_id" in reply else {})


def _object(value: Any) -> Object | None:
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return None
    try:
        found, fidelity = opened(value)
    except ValueError:
        return None
    return found if isinstance(found, dict) and fidelity == "exact" else None


def _of_messages(attributes: Object) -> list[Fields]:
    messages = [each.get("message") for each in objects(listed(attributes, _OUTPUT))]
    reason = finish(attributes.get("llm.finish_reason"))
    told = [message for message in objects(messages) if message.keys() - {"role"}]
    return [_offer(attributes) | _reply(message, _limit(attributes)) | reason for message in told]


def _limit(attributes: Object) -> int | None:
    """The length at which attributes were cut, where the raw response shows that they were."""
    try:
        cut = opened(attributes.get("output.value"))[1] == "truncated"
    except ValueError:
        return None
    return len(attributes["output.value"]) if cut else None


def _reply(message: Object, limit: int | None) -> Fields:
    calls = [each.get("tool_call") for each in objects(message.get("tool_calls"))]
    legacy = {"name": message.get("function_call_name"), "arguments": message.get("function_call_arguments_json")}
    found: Object = {"tool_calls": calls} if calls else {"function_call": legacy} if legacy["name"] else {}
    if "content" in message:
        found["content"] = message["content"]
    elif "contents" in message:
        found["content"] = [each.get("message_content") for each in objects(message["contents"])]
    fields = message_fields(found)
    content = fields.get("content")
    if content == REDACTED:
        fields["text_fidelity"] = "redacted"
    elif content is not None and len(content) == limit:
        fields["text_fidelity"] = "truncated"
    return fields


def _of_texts(attributes: Object) -> list[Fields]:
    """Completions, and an output that is no body: a text as the instrumentation wrote it."""
    choices = [each.get("completion") for each in objects(listed(attributes, "llm.choices."))]
    texts = [each["text"] for each in objects(choices) if isinstance(each.get("text"), str)]
    output = attributes.get("output.value")
    if not texts and isinstance(output, str) and attributes.get("output.mime_type") != "application/json":
        texts = [output] if output else []
    reason = finish(attributes.get("llm.finish_reason"))
    return [
        _offer(attributes) | {"content": each, "text_fidelity": "redacted" if each == REDACTED else "rebuilt"} | reason
        for each in texts
    ]


def _offer(attributes: Object) -> Fields:
    tools = [
        _tool(each["tool"]) for each in objects(listed(attributes, "llm.tools.")) if isinstance(each.get("tool"), dict)
    ]
    return {"tools": offered(tools)} if tools else {}


def _tool(tool: Object) -> Any:
    """A tool by its JSON; where that was cut, by its name."""
    try:
        found, fidelity = opened(tool.get("json_schema"))
    except ValueError:
        found, fidelity = None, "truncated"
    named = {key: tool[key] for key in ("name", "description") if key in tool}
    return {**found, **named} if isinstance(found, dict) and fidelity != "truncated" else named


OPENINFERENCE = Dialect(name="openinference", rank=2, recognises=recognises, replies=replies)
