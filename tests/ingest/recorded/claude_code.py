"""Sessions of Claude Code, and what it prints."""

from tests.ingest.recorded import Leak, Sample

LEAK = 'I will list the files.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls -la"}}\n</tool_call>'
OPUS = "claude-opus-4-5-20251101"
SONNET = "claude-3-sonnet-20240229"
END, CALL, UNTOLD = ("end_turn", "wire"), ("tool_use", "wire"), (None, "absent")
SCOUT = "claude-code/inspect_scout-fixtures/"


def session(name: str, *finishes: tuple[str | None, str], first: str, last: str, runs: int = 1) -> Sample:
    """A session of one model, with no leak and no tools told."""
    return Sample(
        paths=(name,),
        format="claude-code",
        generations=len(finishes),
        runs=runs,
        leaks=(),
        finishes=finishes,
        models=(OPUS if name.startswith(SCOUT) else SONNET,),
        tools=(None,),
        first=first,
        last=last,
    )


SAMPLES = [
    Sample(
        paths=("claude-code/session-2.1.332.generated-redacted.jsonl",),
        format="claude-code",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=(CALL, END),
        models=("mock-model-2026",),
        tools=(("Agent", "Bash", "Edit", "ListAgents", "Read", "ReportFindings"),),
        call_modes=("native",),
        first="2026-11-30T08:43:18.407+00:00",
        last="2026-11-30T08:43:18.643+00:00",
    ),
    Sample(
        paths=("claude-code/print-stream-json.stdout.jsonl",),
        format="claude-stream",
        generations=2,
        runs=1,
        leaks=(Leak(1, "content", LEAK),),
        finishes=(UNTOLD, ("end_turn", "inferred")),
        models=("mock-model-2026",),
        tools=(("Task", "Bash", "CronCreate", "CronDelete", "CronList", "Edit", "EnterWorktree", "ExitWorktree"),),
        call_modes=("native",),
        first="2026-11-30T08:43:18.407+00:00",
        last="2026-11-30T08:43:18.643+00:00",
    ),
    Sample(
        paths=("claude-code/edge_cases.jsonl",),
        format="claude-code",
        generations=4,
        runs=2,
        leaks=(),
        finishes=(END, CALL, CALL, UNTOLD),
        models=(SONNET, SONNET, SONNET, "claude-sonnet-4"),
        tools=(None,),
        first="2025-06-14T10:02:00+00:00",
        last="2025-06-14T11:03:00+00:00",
        quarantined=4,
    ),
    session(
        "claude-code/representative_messages.jsonl", END, CALL, END, CALL, END,
        first="2025-06-14T10:00:30+00:00", last="2025-06-14T10:03:30+00:00",
    ),
    Sample(
        paths=("claude-code/todowrite_examples.jsonl",),
        format="claude-code",
        generations=6,
        runs=1,
        leaks=(),
        finishes=(UNTOLD,),
        models=("claude-sonnet-4",),
        tools=(None,),
        first="2025-06-14T10:00:05+00:00",
        last="2025-06-14T10:04:00+00:00",
    ),
    session(
        f"{SCOUT}simple_conversation.jsonl", END, END,
        first="2026-01-31T10:00:01+00:00", last="2026-01-31T10:00:05+00:00",
    ),
    session(
        f"{SCOUT}tool_call_conversation.jsonl", CALL, END,
        first="2026-01-31T11:00:01+00:00", last="2026-01-31T11:00:03+00:00",
    ),
    session(
        f"{SCOUT}clear_split_session.jsonl", END, END,
        first="2026-01-31T12:00:01+00:00", last="2026-01-31T12:00:04+00:00",
    ),
    session(
        f"{SCOUT}agent_session.jsonl", CALL, END,
        first="2026-01-31T13:00:01+00:00", last="2026-01-31T13:00:07+00:00",
    ),
    Sample(
        paths=(f"{SCOUT}agent_session.jsonl", f"{SCOUT}agent-atest01.jsonl"),
        format="claude-code",
        generations=4,
        runs=2,
        leaks=(),
        finishes=(CALL, END, CALL, END),
        models=(OPUS, OPUS, "claude-sonnet-4-20250514", "claude-sonnet-4-20250514"),
        tools=(None,),
        first="2026-01-31T13:00:01+00:00",
        last="2026-01-31T13:00:07+00:00",
    ),
    Sample(
        paths=(f"{SCOUT}agent-atest01.jsonl",),
        format="claude-code",
        generations=2,
        runs=1,
        leaks=(),
        finishes=(CALL, END),
        models=("claude-sonnet-4-20250514",),
        tools=(None,),
        first="2026-01-31T13:00:03+00:00",
        last="2026-01-31T13:00:05+00:00",
    ),
    Sample(
        # The second is the summary of the compaction, whose model nothing tells.
        paths=(f"{SCOUT}compaction_session.jsonl",),
        format="claude-code",
        generations=3,
        runs=1,
        leaks=(),
        finishes=(END, UNTOLD, END),
        models=(OPUS, None, OPUS),
        tools=(None,),
        first="2026-01-31T14:00:01+00:00",
        last="2026-01-31T14:30:03+00:00",
    ),
    session(f"{SCOUT}slug_session_1.jsonl", END, first="2026-01-31T10:00:01+00:00", last="2026-01-31T10:00:01+00:00"),
    session(f"{SCOUT}slug_session_2.jsonl", END, first="2026-01-31T10:01:01+00:00", last="2026-01-31T10:01:01+00:00"),
    session(
        f"{SCOUT}slug_clear_session.jsonl", END, END,
        first="2026-01-31T10:00:01+00:00", last="2026-01-31T10:00:04+00:00",
    ),
    session(
        f"{SCOUT}slug_clear_partner.jsonl", END, first="2026-01-31T10:01:01+00:00", last="2026-01-31T10:01:01+00:00"
    ),
    session(
        f"{SCOUT}slug_multi_clear_file1.jsonl", END, END,
        first="2026-01-31T10:00:01+00:00", last="2026-01-31T10:05:01+00:00",
    ),
    session(
        f"{SCOUT}slug_multi_clear_file2.jsonl", END, END,
        first="2026-01-31T10:01:01+00:00", last="2026-01-31T10:03:01+00:00",
    ),
]  # fmt: skip
