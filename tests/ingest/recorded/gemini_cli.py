"""Gemini CLI 0.61.0: a session and the output of a run, of the same two responses."""

from tests.ingest.recorded import Leak, Sample
from tests.ingest.recorded.openai import LEAK

SAMPLES = [
    Sample(
        paths=("gemini-cli/session-2026-11-30T08-34-53f3ca49.jsonl",),
        format="gemini-cli",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=((None, "absent"),),
        models=("gemini-2.5-pro",),
        tools=(None,),
        call_modes=("native",),
        first="2026-11-30T08:34:27.102+00:00",
        last="2026-11-30T08:34:27.300+00:00",
    ),
    Sample(
        paths=("gemini-cli/stream-json.stdout.jsonl",),
        format="gemini-stream",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=((None, "absent"),),
        models=("gemini-2.5-pro",),
        tools=(None,),
        call_modes=("native",),
        first="2026-11-30T08:34:27.058+00:00",
        last="2026-11-30T08:34:27.297+00:00",
    ),
]
