"""What `cline --json` prints: the events of one run, an event a line.

Source: sample of cline 3.0.65. A response is an iteration: text comes in pieces, then whole when it ends. The model
stands in the last event only; responses wait for it, the latest of them. `done` and `run_result` repeat the last text.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.openai_message import Fields
from ingest.shapes.told import PART, Place, counts, item, started, texts

WAITING = 256
"""Responses that wait for the end of their run."""
_TYPES = ("hook_event", "agent_event", "team_event", "run_start", "run_result", "run_aborted", "error")


def recognises(value: Any) -> bool:
    """Whether `value` is an event of that output."""
    match value:
        case {"ts": str(), "type": "agent_event", "event": {"type": str()}}:
            return True
        case {"ts": str(), "type": "hook_event", "hookEventName": str()}:
            return True
        case {"ts": str(), "type": str() as kind}:
            return kind in _TYPES[2:]
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of events, once one of them is an agent's."""
    agents = any(recognises(value) and value["type"] in _TYPES[:2] for value in values)
    return share(values, recognises) if agents else 0.0


@dataclass(slots=True)
class _Run:
    run_id: str = "cline"
    place: Place = field(default_factory=Place)
    line: Line | None = None
    """The last line of the iteration that is being told."""
    fields: Fields = field(default_factory=dict)
    said: dict[str, list[str]] = field(default_factory=dict)
    """The whole texts of the iteration, by kind."""
    piece: dict[str, list[str]] = field(default_factory=dict)
    calls: dict[str, Fields] = field(default_factory=dict)
    waiting: deque[tuple[Line, Fields]] = field(default_factory=deque)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response an iteration."""
    run = _Run()
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no event of `cline --json`")
            continue
        match line.value:
            case {"type": "agent_event", "event": {"type": "iteration_start"}}:
                yield from _close(run, "cut")
                run.line, run.fields = line, started(line.value["ts"])
            case {"type": "agent_event", "event": {"type": str() as kind} as event} if run.line and kind != "done":
                yield Skipped(run.line.number, PART)
                run.line = line
                yield from _told(run, kind, event)
            case _:
                run.run_id = _task(run, line.value)
                yield Skipped(line.number, "bookkeeping: an event beside the responses")
                if line.value["type"] in ("run_result", "run_aborted"):
                    yield from _end(run, line.value)
                    run = _Run()
    yield from _end(run, {})


def _task(run: _Run, value: Fields) -> str:
    task = value.get("taskId")
    return task if isinstance(task, str) and task else run.run_id


def _told(run: _Run, kind: str, event: Fields) -> Iterator[Item]:
    match event.get("contentType"):
        case "text" | "reasoning" as channel if isinstance(event.get(channel), str):
            if kind == "content_end":
                run.said.setdefault(channel, []).append(event[channel])
                run.piece.pop(channel, None)
            else:
                run.piece.setdefault(channel, []).append(event[channel])
        case "tool" if kind == "content_start":
            call = {"id": event.get("toolCallId"), "name": event.get("toolName")}
            run.calls[str(event.get("toolCallId"))] = call | ({"arguments": event["input"]} if "input" in event else {})
    if kind == "usage":
        run.fields |= counts(event, "inputTokens", "outputTokens")
    if kind == "error":
        run.fields |= {"error": event.get("error"), "status": "error"}
    if kind == "iteration_end":
        yield from _close(run, "ok")


def _close(run: _Run, status: str) -> Iterator[Item]:
    """Put the response that was being told among those that wait for their model."""
    if run.line is None:
        return
    line, run.line = run.line, None
    text, thoughts = _channel(run, "text"), _channel(run, "reasoning")
    fields = {"content": text, "status": status, **run.fields, **run.place.take()}
    fields |= {"text_fidelity": "rebuilt" if "text" in run.piece else "exact"} if text is not None else {}
    fields |= {"reasoning": thoughts} if thoughts is not None else {}
    fields |= {"tool_calls": list(run.calls.values())} if run.calls else {}
    run.fields, run.said, run.piece, run.calls = {}, {}, {}, {}
    run.waiting.append((line, fields))
    if len(run.waiting) > WAITING:
        yield item(run.waiting[0][0], run.waiting.popleft()[1] | _whole(run, {}))


def _channel(run: _Run, channel: str) -> str | None:
    told = [*run.said.get(channel, ()), *run.piece.get(channel, ())]
    return "".join(told) if told else None


def _end(run: _Run, result: Fields) -> Iterator[Item]:
    yield from _close(run, "cut")
    for line, fields in run.waiting:
        yield item(line, fields | _whole(run, result))


def _whole(run: _Run, result: Fields) -> Fields:
    fields = {"run_id": run.run_id, "client": "cline", "call_mode": "native", "finish_fidelity": "absent"}
    return fields | texts(result.get("model"), {"id": "model", "provider": "provider"})


CLINE_STREAM = Format(
    name="cline-stream",
    title="Cline CLI, output of --json (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="events with `ts` and a `type` agent_event (with an `event`), hook_event, or run_result",
    carries="exact text, reasoning, calls with parsed arguments, usage, time; model and provider if the run ended",
    lacks="tools offered, finish reason, responding model, raw arguments, the user's messages, engine, version",
    better="upload the session's .messages.json, which names the model with each response",
    example="""\
{"ts":"2026-11-30T08:00:00.395Z","type":"hook_event","hookEventName":"agent_start","taskId":"conv_1"}
{"ts":"2026-11-30T08:00:00.411Z","type":"agent_event","event":{"type":"iteration_start","iteration":1}}
{"ts":"2026-11-30T08:00:00.978Z","type":"agent_event","event":{"type":"content_start","contentType":"text",\
"text":"One file."}}
{"ts":"2026-11-30T08:00:00.990Z","type":"agent_event","event":{"type":"content_end","contentType":"text",\
"text":"One file."}}
{"ts":"2026-11-30T08:00:00.991Z","type":"agent_event","event":{"type":"iteration_end","iteration":1}}
{"ts":"2026-11-30T08:00:01.161Z","type":"run_result","text":"One file.","model":{"id":"m","provider":"p"}}
""",
)
