"""OpenCode 1.18.33: the export of a session and the output of its run, of the same two responses."""

from tests.ingest.recorded import Leak, Sample
from tests.ingest.recorded.openai import LEAK

SAMPLES = [
    Sample(
        paths=("opencode/export.json",),
        format="opencode",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=(("tool-calls", "mapped"), ("stop", "mapped")),
        models=("mock-model",),
        providers=("mock",),
        tools=(None,),
        call_modes=("native",),
        first="2026-11-30T08:34:21.385+00:00",
        last="2026-11-30T08:34:23.934+00:00",
    ),
    Sample(
        paths=("opencode/run--format-json.stdout.jsonl",),
        format="opencode-run",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=(("tool-calls", "mapped"), ("stop", "mapped")),
        models=(None,),
        tools=(None,),
        call_modes=("native",),
        first="2026-11-30T08:34:23.462+00:00",
        last="2026-11-30T08:34:24.227+00:00",
    ),
]
