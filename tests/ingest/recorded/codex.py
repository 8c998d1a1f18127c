"""A rollout of OpenAI Codex, and what it printed of the same thread."""

from tests.ingest.recorded import Leak, Sample

LEAK = 'I will list the files.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls -la"}}\n</tool_call>'

SAMPLES = [
    Sample(
        paths=("codex-cli/rollout-2026-11-30T08-33-07-01a22b96-1c1d-7243-bb9e-10076567ae0c.jsonl",),
        format="codex-rollout",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=((None, "absent"),),
        models=("mock-model",),
        tools=(None,),
        providers=("mock",),
        first="2026-11-30T08:33:07.822+00:00",
        last="2026-11-30T08:33:07.918+00:00",
    ),
    Sample(
        paths=("codex-cli/exec.jsonl",),
        format="codex-exec",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=((None, "absent"),),
        models=(None,),
        tools=(None,),
    ),
]
