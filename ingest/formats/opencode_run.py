"""What `opencode run --format json` prints: the parts of one session's responses, an event a line.

Source: cli/cmd/run.ts of OpenCode 1.x. A part is printed once, when it is whole; reasoning only with `--thinking`.
Events of different messages may interleave; a response ends with its `step_finish`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.openai_message import Fields
from ingest.shapes.opencode_parts import status_of, step_fields
from ingest.shapes.told import PART, Place, item, started

TYPES = ("step_start", "text", "reasoning", "tool_use", "step_finish", "error")
OPEN = 64
"""Responses that are told at the same time."""


def recognises(value: Any) -> bool:
    """Whether `value` is an event of that output."""
    match value:
        case {"type": str() as kind, "sessionID": str(), "timestamp": _}:
            return kind in TYPES and isinstance(value.get("error" if kind == "error" else "part"), dict)
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of events."""
    return share(values, recognises)


@dataclass(slots=True)
class _Response:
    line: Line
    run_id: str
    key: str
    time: Fields
    parts: dict[str, Fields] = field(default_factory=dict)


@dataclass(slots=True)
class _Output:
    open: dict[str, _Response] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)
    """Responses of each message that was begun: older versions have several in one."""


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response a step."""
    output = _Output()
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no event of `opencode run --format json`")
        elif line.value["type"] == "error":
            yield _error(output, line)
        else:
            yield from _part(output, line)
    for response in list(output.open.values()):
        yield _close(output, response, "cut")


def _part(output: _Output, line: Line) -> Iterator[Item]:
    part = line.value["part"]
    key = str(part.get("messageID"))
    response = output.open.get(key)
    if response is None:
        response = _Response(line, line.value["sessionID"], key, started(line.value["timestamp"]))
        output.open[key] = response
    else:
        yield Skipped(response.line.number, PART)
        response.line = line
    response.parts[str(part.get("id", len(response.parts)))] = part
    if line.value["type"] == "step_finish":
        yield _close(output, response, "ok")
    elif len(output.open) > OPEN:
        yield _close(output, next(iter(output.open.values())), "cut")


def _error(output: _Output, line: Line) -> Item:
    """What ended the session: the response that it cut is given as it stands."""
    run_id, error = line.value["sessionID"], line.value["error"]
    fields = {"content": None, "error": error, "status": status_of(error), "finish_fidelity": "absent"}
    place = output.places.setdefault(run_id, Place()).take(failed=True)
    return item(line, fields | place | started(line.value["timestamp"]) | {"run_id": run_id, "client": "opencode"})


def _close(output: _Output, response: _Response, status: str) -> Item:
    del output.open[response.key]
    again = output.begun.get(response.key, 0)
    if len(output.begun) >= OPEN:
        output.begun.clear()
    output.begun[response.key] = again + 1
    whole = {
        "run_id": response.run_id,
        "generation_id": f"{response.key}#{again}" if again else response.key,
        "client": "opencode",
        "call_mode": "native",
        "status": status,
    }
    place = output.places.setdefault(response.run_id, Place()).take()
    return item(response.line, step_fields(list(response.parts.values())) | response.time | place | whole)


OPENCODE_RUN = Format(
    name="opencode-run",
    title="OpenCode, output of run --format json (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="events with `sessionID`, `timestamp` and a `part`; `type` step_start, text, tool_use or step_finish",
    carries="text (trailing white space gone), calls with parsed arguments, finish reason (as the AI SDK names it), "
    "usage, time, errors; reasoning if `--thinking` was given",
    lacks="model, provider, tools offered, the request, raw arguments, retries, engine",
    better="`opencode export SESSION`: it has model, provider, reasoning and retries",
    example="""\
{"type":"step_start","timestamp":1796027663462,"sessionID":"ses_1","part":{"id":"p1","messageID":"msg_1",\
"type":"step-start"}}
{"type":"text","timestamp":1796027664228,"sessionID":"ses_1","part":{"id":"p2","messageID":"msg_1","type":"text",\
"text":"One file."}}
{"type":"step_finish","timestamp":1796027664324,"sessionID":"ses_1","part":{"id":"p3","messageID":"msg_1",\
"type":"step-finish","reason":"stop","tokens":{"input":9,"output":3}}}
""",
)
