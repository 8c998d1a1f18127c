"""Rows of the table `messages` of Crush (`<project>/.crush/crush.db`), written as JSON Lines.

Source: internal/message of Crush. `parts` is JSON in a string; a retry resets them, so that failed attempts are lost.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.conversation import OTHER
from ingest.shapes.openai_message import Fields, unpacked
from ingest.shapes.told import RESULT, USER, Pieces, Place, item, objects, started, texts

_STATUS = {"canceled": "cancelled", "error": "error"}
OPEN = 1024
"""Sessions whose turns are counted at the same time."""


def recognises(value: Any) -> bool:
    """Whether `value` is such a row."""
    match value:
        case {"id": str(), "session_id": str(), "role": str(), "parts": str() | list(), "created_at": _}:
            return all("type" in part for part in objects(unpacked(value["parts"])))
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of rows."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One message a row."""
    places: dict[str, Place] = {}
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no row of Crush's messages")
            continue
        row = line.value
        place = places.setdefault(row["session_id"], Place())
        match row["role"]:
            case "assistant":
                yield item(line, _generation(row) | place.take())
            case "user":
                place.user([data for _, data in _parts(row)])
                yield Skipped(line.number, USER)
            case "tool":
                yield Skipped(line.number, RESULT)
            case _:
                yield Skipped(line.number, OTHER)
        if len(places) > OPEN:
            places.pop(next(iter(places)))


def _generation(row: Fields) -> Fields:
    parts = _parts(row)
    pieces = Pieces()
    finish: Fields = {}
    for kind, data in parts:
        match kind, data:
            case "text", {"text": str() as text}:
                pieces.texts.append(text)
            case "reasoning", {"thinking": str() as thought}:
                pieces.thoughts.append(thought)
            case "tool_call", _:
                pieces.calls.append(_call(data))
            case "finish", _:
                finish = data
    fields = pieces.fields()
    fields |= texts(row, {"id": "generation_id", "session_id": "run_id", "model": "model", "provider": "provider"})
    fields |= started(row["created_at"]) | _ending(finish) | {"client": "crush", "call_mode": "native"}
    return fields | {"role": "summariser" if row.get("is_summary_message") else "agent"}


def _parts(row: Fields) -> list[tuple[Any, Fields]]:
    return [(part.get("type"), part["data"]) for part in objects(unpacked(row["parts"])) if _has_data(part)]


def _has_data(part: Fields) -> bool:
    return isinstance(part.get("data"), dict)


def _call(data: Fields) -> Fields:
    names = {"id": "id", "name": "name", "input": "arguments"}
    return {ours: data[key] for key, ours in names.items() if key in data}


def _ending(finish: Fields) -> Fields:
    reason = finish.get("reason")
    if not isinstance(reason, str):
        return {"finish_fidelity": "absent", "status": "cut"}
    return {"finish_reason": reason, "finish_fidelity": "mapped", "status": _STATUS.get(reason, "ok")}


CRUSH = Format(
    name="crush",
    title="messages of Crush, as rows (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="rows with `session_id`, `role`, `created_at` and `parts`, each part with `type` and `data`",
    carries="exact text, reasoning, raw arguments, finish reason (as Crush names it), model, provider, time",
    lacks="tools offered, usage by response, failed attempts, responding model, engine",
    better="log at a gateway in front of the engine where retries and tools matter",
    example="""\
{"id":"m0","session_id":"s1","role":"user","parts":"[{\\"type\\":\\"text\\",\\"data\\":{\\"text\\":\\"list\\"}}]",\
"created_at":1796028000}
{"id":"m1","session_id":"s1","role":"assistant","parts":"[{\\"type\\":\\"text\\",\\"data\\":{\\"text\\":\
\\"One file.\\"}},{\\"type\\":\\"finish\\",\\"data\\":{\\"reason\\":\\"end_turn\\"}}]","model":"m","provider":"p",\
"created_at":1796028001}
""",
)
