"""Events that tell a model call: of the current conventions the whole of it, of the retired ones a choice each.

Retired since semantic conventions 1.37, as opentelemetry-instrumentation-openai-v2 2.2b0 writes them: `gen_ai.choice`
for each choice, and an event for each message of the history.
"""

from collections.abc import Iterator
from typing import Any

from ingest.otlp import Event, Object, Span
from ingest.otlp.dialects.genai import of_attributes
from ingest.otlp.parts import finish
from ingest.otlp.values import objects, opened, text
from ingest.shapes.openai_message import Fields, message_fields

DETAILS = "gen_ai.client.inference.operation.details"
CHOICE = "gen_ai.choice"
HISTORY = ("gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message")
COMPLETION = "gen_ai.content.completion"
"""The oldest form: an event of a span with `gen_ai.completion`, JSON of messages."""
_TOLD = (DETAILS, CHOICE, COMPLETION)


def tells(event: Event) -> bool:
    """Whether the event holds what a model answered."""
    return event.name in _TOLD


def in_attribute(span: Span) -> Iterator[Event]:
    """The retired events that Pydantic AI (its instrumentation of version 1) puts into an attribute, as JSON."""
    if isinstance(span.attributes.get("events"), str):
        for each in objects(opened(span.attributes["events"])[0]):
            name = text(each.get("event.name"))
            yield Event(span.trace_id, span.span_id, name, None, span.attributes, each, span.resource)


def replies(event: Event) -> dict[int, Fields]:
    """The generations in an event, by the index of their choice; none where the text was not captured."""
    if event.name == DETAILS:
        return dict(enumerate(of_attributes(event.attributes)))
    if event.name == COMPLETION:
        messages = objects(opened(event.attributes.get("gen_ai.completion"))[0])
        return {index: message_fields(_said(message)) | finish(None) for index, message in enumerate(messages)}
    return _choice(event.body)


def _choice(body: Any) -> dict[int, Fields]:
    body = opened(body)[0] if isinstance(body, str) else body
    if not isinstance(body, dict):
        return {}
    message = body.get("message", body)
    message = opened(message)[0] if isinstance(message, str) else message
    if not isinstance(message, dict) or not {"content", "tool_calls", "function_call"} & message.keys():
        return {}
    index = body.get("index")
    reason = finish(body.get("finish_reason"))
    return {index if type(index) is int else 0: message_fields(_said(message)) | reason}


def _said(message: Object) -> Object:
    """A message without what the choice around it says, and with its calls as a list."""
    said = {key: value for key, value in message.items() if key not in ("index", "finish_reason", "message")}
    if isinstance(said.get("tool_calls"), str):
        said["tool_calls"] = opened(said["tool_calls"])[0]
    return said
