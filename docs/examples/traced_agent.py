"""An agent that is traced with OpenTelemetry: its model answers twice, once with a call that stayed text."""

import json

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

ANSWERS = ('<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>', "There are two files.")
TOOLS = [{"type": "function", "name": "ls", "description": "List files."}]

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("agent")
with tracer.start_as_current_span("invoke_agent"):
    for answer in ANSWERS:
        said = [{"role": "assistant", "parts": [{"type": "text", "content": answer}], "finish_reason": "stop"}]
        told = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "qwen3-coder-30b",
            "gen_ai.tool.definitions": json.dumps(TOOLS),
            "gen_ai.output.messages": json.dumps(said),
        }
        with tracer.start_as_current_span("chat qwen3-coder-30b", attributes=told):
            pass  # an instrumentation does all of this around the call of the model
provider.shutdown()
