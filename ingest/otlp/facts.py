"""What a span or an event says of a model call beside its text, in every dialect, as fields of a generation."""

from typing import Any

from ingest.otlp import Event, Object, Span
from ingest.otlp.asked import place
from ingest.otlp.values import first_text, opened
from ingest.records import SERIES
from ingest.shapes.fingerprint import engine
from ingest.shapes.openai_message import Fields, offered

RUNS = (
    "gen_ai.conversation.id",
    "session.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
    "ai.telemetry.metadata.sessionId",
    "langfuse.session.id",
)
_TEXTS = {
    "provider": (
        "trace.metadata.openrouter.provider_name",
        "openrouter.provider_name",
        "gen_ai.provider.name",
        "gen_ai.system",
        "llm.provider",
        "llm.system",
        "ai.model.provider",
    ),
    "system_fingerprint": (
        "gen_ai.openai.response.system_fingerprint",
        "openai.response.system_fingerprint",
        "gen_ai.response.system_fingerprint",
    ),
    "response_id": ("gen_ai.response.id", "ai.response.id"),
    "error_type": ("error.type",),
    "server_address": ("server.address",),
    "api_base": ("gen_ai.openai.api_base", "llm.openai.api_base", "llm.api_base"),
    "agent_name": ("gen_ai.agent.name",),
}
_ANSWERED = ("gen_ai.response.model", "llm.response.model_name", "ai.response.model", "llm.model_name")
_ASKED = ("gen_ai.request.model", "llm.request.model_name", "ai.model.id")
_USAGE = {
    "input_tokens": (
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "ai.usage.inputTokens",
        "ai.usage.promptTokens",
    ),
    "output_tokens": (
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "ai.usage.outputTokens",
        "ai.usage.completionTokens",
    ),
}
GIVEN = "leakdown."
"""Begins a resource attribute that says what no convention has a name for: `leakdown.engine=vllm`, and so on for every
series field."""
_RAISED = ("exception.message", "exception.type")
_OF_THE_SDK = ("telemetry.", "process.", "os.", "host.")
"""Resource attributes that say nothing of a model call, and may hold what is nobody's business."""


def facts(source: Span | Event) -> Fields:
    """The fields that stand beside the text. `tools` are those of the conventions' own attribute."""
    attributes = source.attributes
    fields: Fields = {ours: found for ours, keys in _TEXTS.items() if (found := first_text(attributes, keys))}
    fields |= engine(fields.get("system_fingerprint", ""))
    fields |= _model(attributes)
    if usage := _usage(attributes):
        fields["usage"] = usage
    if isinstance(port := attributes.get("server.port"), int):
        fields["server_port"] = port
    fields |= tools(attributes.get("gen_ai.tool.definitions"))
    return fields | _resource(source.resource) | place(attributes) | _place(source) | _fault(source)


def _model(attributes: Object) -> Fields:
    answered, asked = first_text(attributes, _ANSWERED), first_text(attributes, _ASKED)
    if answered and asked and answered != asked:
        return {"model": answered, "requested_model": asked}
    return {"model": answered or asked} if answered or asked else {}


def _usage(attributes: Object) -> Fields:
    found: Fields = {}
    for ours, keys in _USAGE.items():
        told = (_count(attributes[key]) for key in keys if key in attributes)
        count = next((each for each in told if each is not None), None)
        if count is not None:
            found[ours] = count
    return found


def _count(value: Any) -> int | None:
    """A count; JavaScript's numbers arrive as doubles."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < 2**63 else None


def tools(definitions: Any) -> Fields:
    """The tools of a list, or of JSON in a text; none told where that was cut or is not a list."""
    if definitions is None:
        return {}
    try:
        found, fidelity = opened(definitions)
    except ValueError:
        return {}
    if not isinstance(found, list) or fidelity == "truncated":
        return {}
    named = [opened(tool)[0] if isinstance(tool, str) and tool.lstrip().startswith("{") else tool for tool in found]
    return {"tools": offered(named)}


def _resource(resource: Object) -> Fields:
    kept = {key: value for key, value in resource.items() if not key.startswith(_OF_THE_SDK)}
    named = {"service_name": kept["service.name"]} if isinstance(kept.get("service.name"), str) else {}
    given = {name: found for name in SERIES if (found := first_text(kept, (f"{GIVEN}{name}",)))}
    return {**named, **given, "resource": kept} if kept else {}


def _place(source: Span | Event) -> Fields:
    """Run, id and time. Without a trace there is no run: the reader makes one."""
    run_id = first_text(source.attributes, RUNS)
    fields: Fields = {"generation_id": source.span_id} if source.span_id else {}
    if run_id or source.trace_id:
        fields["run_id"] = run_id or source.trace_id
    if run_id and source.trace_id:
        fields["trace_id"] = source.trace_id
    at = source.started_at if isinstance(source, Span) else source.at
    return fields | ({"started_at": at} if at else {})


def _fault(source: Span | Event) -> Fields:
    """An error, where the status or `error.type` tells one."""
    fault = source.fault if isinstance(source, Span) else None
    if fault == "" and isinstance(source, Span):
        raised = (event for event in source.events if event.name == "exception")
        fault = next((found for each in raised if (found := first_text(each.attributes, _RAISED))), "")
    if fault is None and not first_text(source.attributes, ("error.type",)):
        return {}
    return {"status": "error", "error": fault} if fault else {"status": "error"}
