"""Pi 0.74.2: a session of two responses."""

from tests.ingest.recorded import Leak, Sample
from tests.ingest.recorded.openai import LEAK

SAMPLES = [
    Sample(
        paths=("pi/2026-11-30T08-33-55-371Z_01a22b96-d6ab-7e9d-9ece-260b5f4d9c6d.jsonl",),
        format="pi",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=(("toolUse", "mapped"), ("stop", "mapped")),
        models=("mock-model-2026",),
        providers=("mock",),
        tools=(None,),
        call_modes=("native",),
        first="2026-11-30T08:33:55.494+00:00",
        last="2026-11-30T08:33:55.629+00:00",
    ),
]
