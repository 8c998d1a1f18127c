"""Tracing platforms: LangSmith, Braintrust and MLflow recorded a call and a leak, Langfuse and Weave hold a leak."""

from typing import Any

from tests.ingest.recorded import Finish, Leak, Sample
from tests.ingest.recorded.openai import LEAK

WIRE: tuple[Finish, ...] = (("tool_calls", "wire"), ("stop", "wire"))


def _traced(path: str, name: str, **facts: Any) -> Sample:
    return Sample(
        paths=(path,),
        format=name,
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=WIRE,
        tools=(("bash",),),
        call_modes=("native",),
        **facts,
    )


def _composed(path: str, name: str, **facts: Any) -> Sample:
    return Sample(
        paths=(path,),
        format=name,
        generations=1,
        runs=1,
        leaks=(Leak(0, "content", LEAK),),
        first="2026-11-30T08:40:00+00:00",
        last="2026-11-30T08:40:00+00:00",
        **facts,
    )


SAMPLES = [
    _traced(
        "langsmith/runs.jsonl",
        "langsmith",
        models=("mock-model-2026",),
        providers=("openai",),
        first="2026-11-30T08:45:20.367569+00:00",
        last="2026-11-30T08:45:20.445798+00:00",
    ),
    _traced(
        "braintrust/spans.jsonl",
        "braintrust",
        models=("mock-model",),
        providers=("openai",),
        first="2026-11-30T08:44:47.112108+00:00",
        last="2026-11-30T08:44:47.127838+00:00",
    ),
    _traced(
        "mlflow/traces.json",
        "mlflow",
        models=("mock-model-2026",),
        first="2026-11-30T08:38:37.092503+00:00",
        last="2026-11-30T08:38:37.133032+00:00",
    ),
    _composed(
        "composed/langfuse_observations_v2.jsonl",
        "langfuse",
        finishes=((None, "absent"),),
        models=("mock-model",),
        tools=(("bash",),),
        call_modes=("native",),
    ),
    _composed(
        "composed/langfuse_trace_export.json",
        "langfuse",
        finishes=((None, "absent"),),
        models=("mock-model",),
        tools=(None,),
    ),
    _composed(
        "composed/weave_calls.jsonl",
        "weave",
        finishes=(("stop", "wire"),),
        models=("mock-model-2026",),
        tools=(("bash",),),
        call_modes=("native",),
    ),
]
