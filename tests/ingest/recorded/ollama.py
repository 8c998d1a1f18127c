"""Ollama's own API."""

from tests.ingest.recorded import Leak, Sample
from tests.ingest.recorded.openai import LEAK

SAMPLES = [
    Sample(
        paths=("composed/ollama_chat_stream.ndjson",),
        format="response-streams",
        generations=1,
        runs=1,
        leaks=(Leak(0, "content", LEAK),),
        finishes=(("stop", "wire"),),
        models=("qwen3:8b",),
        tools=(None,),
        engines=(("ollama", None),),
        first="2026-11-30T08:40:00.100+00:00",
        last="2026-11-30T08:40:00.100+00:00",
    ),
]
