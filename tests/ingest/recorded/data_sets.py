"""Conversations as data sets have them."""

from tests.ingest.recorded import Leak, Sample
from tests.ingest.recorded.openai import LEAK

SAMPLES = [
    Sample(
        paths=("openai/finetune_messages.jsonl",),
        format="messages",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=((None, "absent"),),
        models=(None,),
        tools=(("bash",),),
    ),
    Sample(
        paths=("composed/hf_sts_session.jsonl",),
        format="hf-sts",
        generations=1,
        runs=1,
        leaks=(Leak(0, "content", LEAK),),
        finishes=((None, "absent"),),
        models=("mock-model",),
        tools=(None,),
        first="2026-11-30T08:40:00+00:00",
        last="2026-11-30T08:40:00+00:00",
    ),
    Sample(
        paths=("composed/sharegpt_hermes_by_design.jsonl",),
        format="sharegpt",
        generations=1,
        runs=1,
        leaks=(),
        finishes=((None, "absent"),),
        models=(None,),
        tools=(None,),
        call_modes=("text",),
    ),
    Sample(
        paths=("composed/sharegpt_toolcall.jsonl",),
        format="sharegpt",
        generations=2,
        runs=1,
        leaks=(),
        finishes=((None, "absent"),),
        models=(None,),
        tools=(("bash",),),
        call_modes=("native",),
    ),
]
