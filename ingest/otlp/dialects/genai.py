"""OpenTelemetry's conventions for generative AI (semantic-conventions-genai@024a4f9), and OpenLLMetry since 0.50.

The text is opt-in: JSON in a string on a span, structured on an event, or nowhere. OpenLLMetry maps finish reasons
(seen in 0.62.4).
"""

from typing import Any

from ingest.otlp import Object, Span
from ingest.otlp.dialects import Dialect
from ingest.otlp.parts import replies as replies_of
from ingest.otlp.values import opened
from ingest.shapes.openai_message import Fields

OUTPUT = "gen_ai.output.messages"
REASONS = "gen_ai.response.finish_reasons"
CALLS = ("chat", "text_completion", "generate_content")
_OPENLLMETRY = ("gen_ai.is_streaming", "gen_ai.openai.api_base", "traceloop.workflow.name", "traceloop.entity.path")


def recognises(span: Span) -> bool:
    """Whether the span is a model call: its operation says so, or its text does where it names none."""
    operation = span.attributes.get("gen_ai.operation.name")
    return operation in CALLS if isinstance(operation, str) else OUTPUT in span.attributes


def replies(span: Span) -> list[Fields]:
    """The output messages of a span."""
    return of_attributes(span.attributes, span.scope)


def of_attributes(attributes: Object, scope: str = "") -> list[Fields]:
    """The output messages in the attributes of a span or an event."""
    messages, fidelity = opened(attributes.get(OUTPUT))
    if messages is None:
        return []
    mapped = any(key in attributes for key in _OPENLLMETRY) or "traceloop" in scope
    found = replies_of(messages, reasons(attributes), mapped=mapped)
    return [reply | ({} if fidelity == "exact" else {"text_fidelity": fidelity}) for reply in found]


def reasons(attributes: Object) -> Any:
    """The finish reasons of the choices: a list, or JSON of one."""
    value = attributes.get(REASONS, attributes.get("gen_ai.response.finish_reason"))
    if isinstance(value, str):
        try:
            value = opened(value)[0] if value.startswith("[") else [value]
        except ValueError:
            return None
    return value


GENAI = Dialect(name="genai", rank=3, recognises=recognises, replies=replies)
