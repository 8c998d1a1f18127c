"""OpenTelemetry traces and logs of model calls, in JSON: OTLP (opentelemetry-proto 1.x), Tempo, Jaeger, Phoenix.

Of the dialects of instrumentations `ingest.otlp.dialects` tells. OTLP in protobuf is made lines of this format by
`ingest.otlp.protobuf`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.otlp.joining import Joining
from ingest.otlp.page import NOTHING
from ingest.otlp.signals import LOGS, METRICS, TRACES, is_signal


def sniff(values: Sequence[Any]) -> float:
    """The share of messages with spans or log records."""
    return share(values, is_signal)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One message a line, or one span; each is answered when nothing in it waits for another any more."""
    joining = Joining()
    for line in lines:
        if is_signal(line.value):
            yield from joining.read(line)
        else:
            yield _other(line)
    yield from joining.finish()


def _other(line: Line) -> Item:
    if isinstance(line.value, dict):
        if isinstance(line.value.get(METRICS), list):
            return Skipped(line.number, "metrics, which hold no text")
        if any(line.value.get(key) in ([], [{}]) for key in (TRACES, LOGS, "batches")):
            return Skipped(line.number, NOTHING)
    return quarantined(line, "neither spans nor log records of OpenTelemetry")


OTLP = Format(
    name="otlp",
    title="OpenTelemetry traces and logs (OTLP in JSON or protobuf, Phoenix, Tempo, Jaeger)",
    sniff=sniff,
    read=read,
    joint=True,
    across_files=True,
    recognised="objects with `resourceSpans`, `resourceLogs` or `batches`; spans with `context` and `attributes`; "
    "dialects of OpenTelemetry's GenAI conventions (current and retired), OpenInference, OpenLLMetry, Vercel's AI SDK "
    "and OpenRouter's Broadcast, told apart for each span",
    carries="text and calls where content capture is on, model, provider, time, usage, errors, the trace as the run; "
    "tools where the dialect records them; reasoning (OpenInference: only from the raw response in `output.value`)",
    lacks="retries inside a call; often the tools or their parameters; raw arguments and the provider's finish reason "
    "in OpenLLMetry and the AI SDK; the engine, unless a raw response or its fingerprint is recorded. Metrics hold no "
    "text at all",
    better="switch content capture on (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, TRACELOOP_TRACE_CONTENT), "
    "lift attribute length limits, and upload the traces and the logs of one run together",
    example="""\
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"agent"}}]},"scopeSpans":\
[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"chat m","kind":3,\
"startTimeUnixNano":"1796027728236521394","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},\
{"key":"gen_ai.request.model","value":{"stringValue":"m"}},{"key":"gen_ai.output.messages","value":{"stringValue":\
"[{\\"role\\":\\"assistant\\",\\"parts\\":[{\\"type\\":\\"text\\",\\"content\\":\\"<tool_call>ls</tool_call>\\"}],\
\\"finish_reason\\":\\"stop\\"}]"}}]}]}]}]}
{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b175",\
"name":"chat m","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":\
"gen_ai.response.model","value":{"stringValue":"m"}}]}]}]}]}
{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":\
"eee19b7ec3c1b175","eventName":"gen_ai.choice","body":{"kvlistValue":{"values":[{"key":"index","value":{"intValue":\
"0"}},{"key":"finish_reason","value":{"stringValue":"stop"}},{"key":"message","value":{"kvlistValue":{"values":\
[{"key":"role","value":{"stringValue":"assistant"}},{"key":"content","value":{"stringValue":"Two files."}}]}}}]}}}]}]}]}
""",
)
