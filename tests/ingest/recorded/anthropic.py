"""Bodies of Anthropic's API."""

from tests.ingest.recorded import Leak, Sample
from tests.ingest.recorded.openai import LEAK

SAMPLES = [
    Sample(
        paths=("anthropic/messages_request_response_pairs.jsonl",),
        format="anthropic-messages",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=(("tool_use", "wire"), ("end_turn", "wire")),
        models=("mock-model-2026",),
        tools=(("bash",),),
        call_modes=("native",),
    ),
]
