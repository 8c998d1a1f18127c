"""An application with OpenTelemetry's SDK, which knows nothing of us: where it sends stands in its environment.

Run as a program; each of DIALECTS is a service whose model makes one call, leaks once and answers once.
"""

import json
from collections.abc import Callable
from typing import Any

from opentelemetry import trace
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

LEAK = '<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>'
ANSWER = "There are two files."
TOOL = {"type": "function", "name": "ls"}
FUNCTION = {"type": "function", "function": {"name": "ls"}}
Attributes = dict[str, Any]
Emit = Callable[..., None]


def parts(content: str) -> str:
    """An output of the current conventions."""
    said = [{"type": "text", "content": content}]
    return json.dumps([{"role": "assistant", "parts": said, "finish_reason": "stop"}])


def current(content: str) -> Attributes:
    """OpenTelemetry's conventions, text on the span."""
    return {**bare(content), "gen_ai.output.messages": parts(content)}


def bare(_: str) -> Attributes:
    """The same without the text, which an event has."""
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.tool.definitions": json.dumps([TOOL]),
    }


def openinference(content: str) -> Attributes:
    """OpenInference."""
    return {
        "openinference.span.kind": "LLM",
        "llm.model_name": "m",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": content,
        "llm.tools.0.tool.json_schema": json.dumps(FUNCTION),
    }


def openllmetry(content: str) -> Attributes:
    """OpenLLMetry before its 0.50."""
    return {
        "llm.request.type": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": content,
        "llm.request.functions.0.name": "ls",
    }


def ai_sdk(content: str) -> Attributes:
    """Vercel's AI SDK."""
    return {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.model.id": "m",
        "ai.response.text": content,
        "ai.prompt.messages": "[]",
        "ai.prompt.tools": [json.dumps(TOOL)],
    }


def choice(emit: Emit, content: str) -> None:
    """The retired event of a choice."""
    body = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    emit(event_name="gen_ai.choice", body=body)


def details(emit: Emit, content: str) -> None:
    """The event of the current conventions."""
    told = {**bare(content), "gen_ai.output.messages": parts(content)}
    emit(event_name="gen_ai.client.inference.operation.details", attributes=told)


def none(_: Emit, __: str) -> None:
    """No event."""


DIALECTS: dict[str, tuple[Callable[[str], Attributes], Callable[[Emit, str], None]]] = {
    "current": (current, none),
    "current-events": (bare, details),
    "retired-events": (bare, choice),
    "openinference": (openinference, none),
    "openllmetry": (openllmetry, none),
    "ai-sdk": (ai_sdk, none),
}


def run(service: str) -> None:
    """One agent that asks its model twice; the exporters read their environment."""
    attributes, event = DIALECTS[service]
    resource = Resource.create({"service.name": service})
    spans, records = TracerProvider(resource=resource), LoggerProvider(resource=resource)
    spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    records.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    tracer, logger = spans.get_tracer("agent"), records.get_logger("agent")
    with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
        for content in (LEAK, ANSWER):
            with tracer.start_as_current_span("chat m", attributes=attributes(content)) as span:

                def emit(of: trace.Span = span, **told: Any) -> None:
                    logger.emit(LogRecord(context=trace.set_span_in_context(of), timestamp=1, **told))

                event(emit, content)
            spans.force_flush()  # its spans leave in several exports
            logger.emit(LogRecord(body="a line of a log that tells of no model"))
    spans.shutdown()
    records.shutdown()


if __name__ == "__main__":
    for name in DIALECTS:
        run(name)
