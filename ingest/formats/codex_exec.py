"""What `codex exec --json` prints: events of a thread (`exec_events.rs`, 0.41 to 0.171).

Items tell what was done, in words of the tool: a command is one whatever tool ran it. Nothing tells where a response
ends: it is taken to end once its calls are done.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined, share
from ingest.shapes.agent_sessions import NOTICE, PART, Steps, counts
from ingest.shapes.openai_message import Fields, validated

_EVENTS = frozenset((
    "thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.updated",
    "item.completed", "error",
))  # fmt: skip
_ARGUMENTS = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "web_search": ("query", "action"),
    "todo_list": ("items",),
}
"""Items that are calls, and what is left of their arguments."""
_NAMED = ("mcp_tool_call", "collab_tool_call")


def recognises(value: Any) -> bool:
    """Whether `value` is an event of a thread."""
    match value:
        case {"type": "thread.started", "thread_id": _} | {"type": "turn.completed", "usage": _}:
            return True
        case {"type": "item.started" | "item.updated" | "item.completed", "item": {"id": _, "type": _}}:
            return True
        case {"type": "turn.failed", "error": {"message": _}} | {"type": "error", "message": str()}:
            return len(value) == 2
        case _:
            return isinstance(value, dict) and value == {"type": "turn.started"}


def sniff(values: Sequence[Any]) -> float:
    """The share of events of a thread."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response for all the events of its items."""
    printed = _Printed()
    for line in lines:
        yield from printed.take(line)
    yield from printed.close()


class _Printed:
    """The thread so far, and the response that may still grow."""

    def __init__(self) -> None:
        self._run = ""
        self._steps = Steps()
        self._line: Line | None = None
        self._fields: Fields = {}
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[Fields] = []
        self._begun: set[str] = set()
        """The calls of the turn that were told of."""
        self._answered = self._mended = False
        self._in_turn = 0

    def take(self, line: Line) -> Iterator[Item]:
        """What became of `line`, and of earlier ones that waited for it."""
        value = line.value
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in _EVENTS:
            yield quarantined(line, "not an event of codex exec")
        elif isinstance(value.get("item"), dict):
            yield from self._item(line, kind, value["item"])
        else:
            yield from self._event(kind, value)
            yield Skipped(line.number, NOTICE if kind == "error" else f"bookkeeping: {kind}")

    def _event(self, kind: str, value: Fields) -> Iterator[Item]:
        if kind == "thread.started":
            yield from self.close()
            name = value.get("thread_id")
            self._run, self._steps = name if isinstance(name, str) else "", Steps()
        elif kind == "turn.started":
            yield from self.close()
            self._steps.ask()
            self._in_turn, self._begun = 0, set()
        elif kind == "turn.completed":
            usage = counts(value.get("usage"), input_tokens="input_tokens", output_tokens="output_tokens")
            yield from self.close(usage if self._in_turn == 1 else {})

    def _item(self, line: Line, event: str, item: Fields) -> Iterator[Item]:
        kind, text = item.get("type"), item.get("text")
        if kind == "error":
            yield Skipped(line.number, NOTICE)
        elif kind in ("agent_message", "reasoning") and isinstance(text, str) and event == "item.completed":
            yield from self._grow(line)
            (self._texts if kind == "agent_message" else self._thoughts).append(text)
        elif isinstance(kind, str) and (kind in _ARGUMENTS or kind in _NAMED):
            yield from self._call(line, event, kind, item)
        else:
            yield Skipped(line.number, "bookkeeping: another item")

    def _call(self, line: Line, event: str, kind: str, item: Fields) -> Iterator[Item]:
        """A call begins where it is first told of; a list of tasks is written again by each call, and has no end."""
        name = str(item.get("id"))
        plan = kind == "todo_list"
        if event == "item.completed" if plan else name in self._begun:
            yield Skipped(line.number, f"bookkeeping: {event}")
        else:
            yield from self._grow(line)
            self._begun.add(name)
            self._calls.append(_call_fields(kind, item))
        self._answered = self._answered or plan or event == "item.completed"

    def _grow(self, line: Line) -> Iterator[Item]:
        if self._answered:
            yield from self.close()
        if self._line is None:
            self._fields = {"run_id": self._run, "client": "codex"} | self._steps.next()
            self._in_turn += 1
        else:
            yield Skipped(self._line.number, PART)
        self._line, self._mended = line, self._mended or line.mended

    def close(self, told: Fields | None = None) -> Iterator[Item]:
        """The response that was open, with what was `told` of it at its end."""
        line, fields = self._line, self._whole() | (told or {})
        self._line, self._answered, self._mended = None, False, False
        self._texts, self._thoughts, self._calls = [], [], []
        if line is None:
            return
        try:
            yield Mapped(line.number, tuple(validated([fields])))
        except ValueError as fault:
            yield quarantined(line, str(fault))

    def _whole(self) -> Fields:
        joined = len(self._texts) > 1 or len(self._thoughts) > 1
        fidelity = "rebuilt" if joined else "normalised" if self._mended else "exact"
        fields = self._fields | {"text_fidelity": fidelity, "finish_fidelity": "absent"}
        fields["content"] = "".join(self._texts) if self._texts else None
        fields |= {"reasoning": "".join(self._thoughts)} if self._thoughts else {}
        calls = self._calls
        return fields | ({"tool_calls": calls, "calls_fidelity": "mapped"} if calls else {})


def _call_fields(kind: str, item: Fields) -> Fields:
    named = {"id": item["id"]} if "id" in item else {}
    if kind in _NAMED:
        call: Fields = {**named, "name": item.get("tool"), "type": kind}
        call |= {"server": item["server"]} if "server" in item else {}
        return call | ({"arguments": item["arguments"]} if "arguments" in item else {})
    found = {key: item[key] for key in _ARGUMENTS[kind] if key in item}
    return {**named, "name": kind} | ({"arguments": found} if found else {})


CODEX_EXEC = Format(
    name="codex-exec",
    title="OpenAI Codex's printed output, codex exec --json (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="events of `type` thread.started, turn.* and item.* with their `thread_id`, `usage` or `item`",
    carries="exact text, reasoning or its summary, what was called in words of the tool; tokens of a turn",
    lacks="model, time, tools, calls as the model wrote them, finish reason, where a response ends",
    better="upload the rollout of the same thread instead: `~/.codex/sessions`, with the thread's id in its name",
    example="""\
{"type":"thread.started","thread_id":"t1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"Look."}}
{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls","status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","status":"completed"}}
{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"One file."}}
{"type":"turn.completed","usage":{"input_tokens":60,"output_tokens":12}}
""",
)
