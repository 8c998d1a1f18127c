"""What `gemini --output-format stream-json` prints: deltas, calls and results of one run.

Source: output/types.ts of @google/gemini-cli-core 0.61.0. No event ends a response: it lasts until the first tool
result, the next message of the user, or the end.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.openai_message import Fields
from ingest.shapes.told import PART, RESULT, USER, Place, item, started, texts

_KEYS = {
    "init": {"session_id", "model"},
    "message": {"role", "content"},
    "tool_use": {"tool_name", "tool_id"},
    "tool_result": {"tool_id", "status"},
    "error": {"severity", "message"},
    "result": {"status"},
}
"""The keys of each event beside its type and its time."""


def recognises(value: Any) -> bool:
    """Whether `value` is an event of that stream."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in _KEYS or "timestamp" not in value or "subtype" in value:
        return False
    return _KEYS[kind] <= value.keys() and not {"id", "uuid", "sessionID", "part"} & value.keys()


def sniff(values: Sequence[Any]) -> float:
    """The share of events."""
    return share(values, recognises)


@dataclass(slots=True)
class _Run:
    fields: Fields = field(default_factory=lambda: {"run_id": "gemini-cli"})
    place: Place = field(default_factory=Place)
    line: Line | None = None
    """The last line of the response that is being told."""
    deltas: list[str] = field(default_factory=list)
    calls: list[Fields] = field(default_factory=list)
    time: Fields = field(default_factory=dict)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response after the other."""
    run = _Run()
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no event of a Gemini CLI stream")
            continue
        value = line.value
        match value["type"]:
            case "message" if value["role"] == "assistant":
                yield from _part(run, line)
                run.deltas.append(value["content"] if isinstance(value["content"], str) else "")
            case "tool_use":
                yield from _part(run, line)
                run.calls.append(_call(value))
            case "init":
                yield from _close(run, "cut")
                run = _Run({"run_id": str(value["session_id"])} | texts(value, {"model": "model"}))
                yield Skipped(line.number, "bookkeeping: the stream's first event")
            case kind:
                yield from _close(run, "error" if kind in ("result", "error") and _failed(value) else "ok")
                yield Skipped(line.number, _why(run, value))
    yield from _close(run, "cut")


def _failed(value: Fields) -> bool:
    return "error" in (value.get("status"), value.get("severity"))


def _why(run: _Run, value: Fields) -> str:
    if value["type"] == "message":
        run.place.user(value.get("content"))
        return USER
    return RESULT if value["type"] == "tool_result" else "bookkeeping: the end of the run, or a notice"


def _part(run: _Run, line: Line) -> Iterator[Item]:
    if run.line is not None:
        yield Skipped(run.line.number, PART)
    else:
        run.time = started(line.value["timestamp"])
    run.line = line


def _call(value: Fields) -> Fields:
    arguments = {"arguments": value["parameters"]} if "parameters" in value else {}
    return {"id": value["tool_id"], "name": value["tool_name"], **arguments}


def _close(run: _Run, status: str) -> Iterator[Item]:
    """Give the response that was being told."""
    if run.line is None:
        return
    text = {"content": "".join(run.deltas), "text_fidelity": "rebuilt"} if run.deltas else {"content": None}
    made = {"tool_calls": run.calls} if run.calls else {}
    line, run.line = run.line, None
    whole = {"status": status, "client": "gemini-cli", "call_mode": "native", "finish_fidelity": "absent"}
    yield item(line, {**text, **made, **run.time, **run.place.take(), **run.fields, **whole})
    run.deltas, run.calls = [], []


GEMINI_STREAM = Format(
    name="gemini-stream",
    title="Gemini CLI, output of --output-format stream-json (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="events with a `timestamp` and a `type` init, message, tool_use, tool_result, error or result",
    carries="text (put together from its deltas), calls with parsed arguments, the model asked for, time",
    lacks="reasoning, tools offered, finish reason, responding model, raw arguments, where one response ends and the "
    "next begins if no tool ran between them",
    better="upload the telemetry file (`telemetry.outfile` with `logPrompts` and `traces`), else the session in "
    "~/.gemini/tmp",
    example="""\
{"type":"init","timestamp":"2026-11-30T08:00:00Z","session_id":"s-1","model":"gemini-pro"}
{"type":"message","timestamp":"2026-11-30T08:00:00Z","role":"user","content":"what is here?"}
{"type":"message","timestamp":"2026-11-30T08:00:01Z","role":"assistant","content":"I will ","delta":true}
{"type":"message","timestamp":"2026-11-30T08:00:01Z","role":"assistant","content":"look.","delta":true}
{"type":"tool_use","timestamp":"2026-11-30T08:00:01Z","tool_name":"ls","tool_id":"c1","parameters":{"path":"."}}
{"type":"tool_result","timestamp":"2026-11-30T08:00:02Z","tool_id":"c1","status":"success","output":"b.txt"}
{"type":"result","timestamp":"2026-11-30T08:00:03Z","status":"success","stats":{"total_tokens":12}}
""",
)
