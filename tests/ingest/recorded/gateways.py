"""Exports of gateways, and two local logs: each composed, each with one leak, or its raw text."""

from typing import Any

from tests.ingest.recorded import Leak, Sample
from tests.ingest.recorded.openai import LEAK


def _one(path: str, name: str, **facts: Any) -> Sample:
    facts.setdefault("leaks", (Leak(0, "content", LEAK),))
    facts.setdefault("first", "2026-11-30T08:40:00+00:00")
    facts.setdefault("last", facts["first"])
    return Sample(paths=(f"composed/{path}",), format=name, generations=1, runs=1, **facts)


SAMPLES = [
    _one(
        "helicone_export.jsonl",
        "helicone",
        finishes=(("stop", "wire"),),
        models=("mock-model-2026",),
        tools=(("bash",),),
        call_modes=("native",),
        providers=("openai",),
    ),
    _one(
        "portkey_logs.jsonl",
        "portkey",
        finishes=(("stop", "wire"),),
        models=("mock-model-2026",),
        tools=(("bash",),),
        call_modes=("native",),
        providers=("openai",),
    ),
    _one(
        "openrouter_generation_plus_content.jsonl",
        "openrouter-generation",
        finishes=(("stop", "wire"),),
        models=("qwen/qwen3-coder",),
        tools=(None,),
        providers=("SomeHost",),
    ),
    _one(
        "simonw_llm_responses_rows.jsonl",
        "simonw-llm",
        finishes=(("stop", "wire"),),
        models=("mock-model-2026",),
        tools=(None,),
        first="2026-11-30T08:40:00.123456+00:00",
    ),
    _one(
        "lmstudio_log_stream.jsonl",
        "lmstudio",
        leaks=(),
        finishes=(("eosFound", "wire"),),
        models=("qwen3-8b",),
        tools=(None,),
        call_modes=("unknown",),
        engines=(("lmstudio", None),),
        first="2026-11-30T08:40:01+00:00",
    ),
]
