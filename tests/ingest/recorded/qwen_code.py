"""A session of Qwen Code, and the requests that it logged."""

from tests.ingest.recorded import Leak, Sample

LEAK = 'I will list the files.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls -la"}}\n</tool_call>'
REQUESTS = (
    "qwen-code/openai-2026-11-30T08-33-48.692Z-42f7766d.json",
    "qwen-code/openai-2026-11-30T08-33-50.737Z-77037ba9.json",
)
TOOLS = (
    "tool_search", "agent", "task_stop", "send_message", "skill", "list_directory", "read_file", "grep_search", "glob",
    "edit", "write_file", "run_shell_command", "todo_write", "web_fetch", "monitor",
)  # fmt: skip


def requests(*paths: str, first: str, last: str, leaks: tuple[Leak, ...] = ()) -> Sample:
    """Logged requests of one session."""
    return Sample(
        paths=paths,
        format="qwen-openai-log",
        generations=len(paths),
        runs=1,
        leaks=leaks,
        finishes=(("stop", "mapped"),),
        models=("mock-model",),
        tools=(TOOLS,),
        call_modes=("native",),
        first=first,
        last=last,
    )


SAMPLES = [
    Sample(
        paths=("qwen-code/61bf5702-d476-4c1a-bd05-6848017a938d.jsonl",),
        format="qwen-code",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=((None, "absent"),),
        models=("mock-model",),
        tools=(None,),
        first="2026-11-30T08:33:48.694+00:00",
        last="2026-11-30T08:33:50.738+00:00",
    ),
    requests(
        *REQUESTS,
        first="2026-11-30T08:33:48.693+00:00",
        last="2026-11-30T08:33:50.737+00:00",
        leaks=(Leak(1, "content", LEAK),),
    ),
    requests(REQUESTS[0], first="2026-11-30T08:33:48.693+00:00", last="2026-11-30T08:33:48.693+00:00"),
    requests(
        REQUESTS[1],
        first="2026-11-30T08:33:50.737+00:00",
        last="2026-11-30T08:33:50.737+00:00",
        leaks=(Leak(0, "content", LEAK),),
    ),
]
