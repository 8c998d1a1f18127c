"""LiteLLM's callbacks: a call, a leak, the same leak streamed, and a leak to a request that offered no tools."""

from tests.ingest.recorded import Leak, Sample
from tests.ingest.recorded.openai import LEAK

SAMPLES = [
    Sample(
        paths=("litellm/standard_logging_payload.jsonl",),
        format="litellm",
        generations=4,
        runs=2,
        leaks=(Leak(1, "content", LEAK), Leak(2, "content", LEAK), Leak(3, "content", LEAK)),
        finishes=(("tool_calls", "wire"), ("stop", "wire"), ("stop", "wire"), ("stop", "wire")),
        models=("mock-model-2026", "mock-model-2026", "mock-model", "mock-model-2026"),
        tools=(("bash",), ("bash",), ("bash",), ()),
        call_modes=("native", "native", "native", "none"),
        providers=("openai",),
        first="2026-11-30T08:39:59.525268+00:00",
        last="2026-11-30T08:40:00.214356+00:00",
    ),
]
