"""Bodies of OpenAI's APIs."""

from tests.ingest.recorded import Leak, Sample

LEAK = 'I will list the files.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls -la"}}\n</tool_call>'

SAMPLES = [
    Sample(
        paths=("openai/chat_request_response_pairs.jsonl",),
        format="openai-chat",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=(("tool_calls", "wire"), ("stop", "wire")),
        models=("mock-model-2026",),
        tools=(("bash",),),
        call_modes=("native",),
        first="2026-11-30T08:46:22+00:00",
        last="2026-11-30T08:46:22+00:00",
    ),
]
