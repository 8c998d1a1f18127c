"""OpenTelemetry traces and logs, and exports of spans."""

from tests.ingest.recorded import Leak, Sample

LEAK = 'I will list the files.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls -la"}}\n</tool_call>'
EVENT_ONLY = ("otlp/otel-current-event_only.traces.jsonl", "otlp/otel-current-event_only.logs.jsonl")
LEGACY = ("otlp/otel-legacy-events.traces.jsonl", "otlp/otel-legacy-events.logs.jsonl")

SAMPLES = [
    Sample(
        paths=("otlp/openinference.traces.jsonl",),
        format="otlp",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=(("tool_calls", "wire"), ("stop", "wire")),
        models=("mock-model-2026",),
        tools=(("bash",),),
        call_modes=("native",),
        providers=("openai",),
        first="2026-11-30T08:35:28.236521+00:00",
        last="2026-11-30T08:35:28.268468+00:00",
    ),
    Sample(
        paths=("otlp/openllmetry.traces.jsonl",),
        format="otlp",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=(("tool_call", "mapped"), ("stop", "mapped")),
        models=("mock-model-2026",),
        tools=(("bash",),),
        call_modes=("native",),
        providers=("openai",),
        first="2026-11-30T08:35:33.269746+00:00",
        last="2026-11-30T08:35:33.295517+00:00",
    ),
    Sample(
        paths=("otlp/otel-current-span_only.traces.jsonl",),
        format="otlp",
        generations=1,
        runs=1,
        leaks=(Leak(0, "content", LEAK),),
        finishes=(("stop", "wire"),),
        models=("mock-model-2026",),
        tools=(("bash",),),
        call_modes=("native",),
        providers=("openai",),
        first="2026-11-30T08:46:21.034643+00:00",
        last="2026-11-30T08:46:21.034643+00:00",
    ),
    *(
        Sample(
            paths=paths,
            format="otlp",
            generations=1,
            runs=1,
            leaks=(Leak(0, "content", LEAK),),
            finishes=(("stop", "wire"),),
            models=("mock-model-2026",),
            tools=(("bash",),),
            call_modes=("native",),
            providers=("openai",),
            first="2026-11-30T08:46:21.636528+00:00",
            last="2026-11-30T08:46:21.636528+00:00",
        )
        for paths in (EVENT_ONLY, EVENT_ONLY[::-1])
    ),
    *(
        Sample(
            paths=paths,
            format="otlp",
            generations=2,
            runs=1,
            leaks=(Leak(1, "content", LEAK),),
            finishes=(("tool_calls", "wire"), ("stop", "wire")),
            models=("mock-model-2026",),
            tools=(None,),
            providers=("openai",),
            first="2026-11-30T08:45:41.432973+00:00",
            last="2026-11-30T08:45:41.463813+00:00",
        )
        for paths in (LEGACY, LEGACY[::-1])
    ),
    Sample(
        paths=("composed/phoenix_spans_export.jsonl",),
        format="otlp",
        generations=1,
        runs=1,
        leaks=(Leak(0, "content", LEAK),),
        finishes=(("stop", "wire"),),
        models=("mock-model-2026",),
        tools=(None,),
        first="2026-11-30T08:40:00+00:00",
        last="2026-11-30T08:40:00+00:00",
    ),
    Sample(
        paths=("composed/vercel_ai_sdk_span_attributes.json",),
        format="otlp",
        generations=1,
        runs=1,
        leaks=(Leak(0, "content", LEAK),),
        finishes=(("stop", "mapped"),),
        models=("mock-model",),
        tools=(("bash",),),
        call_modes=("native",),
        providers=("openai.chat",),
    ),
]
