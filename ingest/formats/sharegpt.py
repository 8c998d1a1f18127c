"""Conversations in the ShareGPT shape, one a line: `conversations` with `from` and `value`.

Sources: the formats of LLaMA-Factory (`function_call` and `observation`, `tools` as JSON in a string), and of the
Hermes and Glaive function-calling sets, whose models write their calls as text by design. By design means: the prompt
teaches the markup, or a result follows text that holds it, and no call of the conversation is structured.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic_core import from_json

from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined, share
from ingest.shapes.by_design import Part, text_by_design
from ingest.shapes.openai_message import Fields, offered, unpacked, validated
from ingest.shapes.threads import digest
from ingest.shapes.told import Place

MODEL, CALL, USER = ("gpt", "assistant", "chatgpt", "model", "bing", "bard"), "function_call", ("human", "user")
RESULTS = ("tool", "observation", "function_response", "function-response", "function", "tool_response")
_PARTS: dict[str, Part] = {
    "system": "prompt",
    **dict.fromkeys(MODEL, "model"),
    **dict.fromkeys(RESULTS, "result"),
}


def recognises(value: Any) -> bool:
    """Whether `value` is such a conversation."""
    turns = unpacked(value.get("conversations")) if isinstance(value, dict) else None
    return isinstance(turns, list) and bool(turns) and all(_speaker(turn) is not None for turn in turns)


def sniff(values: Sequence[Any]) -> float:
    """The share of conversations."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One conversation a line."""
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no conversation: an object with `conversations`, each with `from` and `value`")
            continue
        try:
            records = tuple(validated(_generations(line.value, line.mended)))
        except (ValueError, OverflowError) as fault:
            yield quarantined(line, str(fault))
        else:
            yield Mapped(line.number, records) if records else Skipped(line.number, "no message of a model")


def _speaker(turn: Any) -> str | None:
    match turn:
        case {"from": str() as speaker, "value": _} | {"role": str() as speaker, "content": _}:
            return speaker
        case _:
            return None


def _value(turn: Fields) -> Any:
    return turn["value"] if "value" in turn else turn.get("content")


def _generations(value: Fields, mended: bool) -> Iterator[Fields]:
    turns = unpacked(value["conversations"])
    named = value.get("id")
    run_id = named if isinstance(named, str) and named else f"s{digest(turns).hex()}"
    whole = {"run_id": run_id, "finish_fidelity": "absent"} | _offer(value, turns)
    place, number = Place(), 0
    for turn in turns:
        speaker = _speaker(turn)
        if speaker in USER:
            place.user(_value(turn))
        if speaker in MODEL or speaker == CALL:
            yield _said(speaker, _value(turn), mended) | whole | place.take() | {"generation_id": f"{run_id}:{number}"}
            number += 1


def _said(speaker: str, value: Any, mended: bool) -> Fields:
    if not isinstance(value, str | None):
        raise ValueError("the value of a turn is no text")
    calls = _calls(value) if speaker == CALL else None
    if calls is not None:
        return {"content": None, "tool_calls": calls}
    fidelity = {} if value is None else {"text_fidelity": "normalised" if mended else "exact"}
    return {"content": value} | fidelity | ({"speaker": speaker} if speaker == CALL else {})


def _calls(value: str | None) -> list[Fields] | None:
    """The calls of a turn that is calls by its speaker; None for what cannot be read, which stays text."""
    try:
        told = from_json(value or "")
    except ValueError:
        return None
    calls = told if isinstance(told, list) else [told]
    named = calls and all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls)
    return calls if named else None


def _offer(value: Fields, turns: list[Fields]) -> Fields:
    fields: Fields = {"tools": offered(value["tools"])} if "tools" in value else {}
    if any(_speaker(turn) == CALL for turn in turns):
        return fields | {"call_mode": "native"}
    if text_by_design(list(_parts(value, turns))):
        return fields | {"call_mode": "text"}
    return fields | ({"call_mode": "none"} if fields.get("tools") == [] else {})


def _parts(value: Fields, turns: list[Fields]) -> Iterator[tuple[Part, str]]:
    if isinstance(value.get("system"), str):
        yield "prompt", value["system"]
    for turn in turns:
        text = _value(turn)
        yield _PARTS.get(_speaker(turn) or "", "other"), text if isinstance(text, str) else ""


SHAREGPT = Format(
    name="sharegpt",
    title="conversations in the ShareGPT shape (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="objects with `conversations`, each turn with `from` and `value`",
    carries="exact text, calls of `function_call` turns, tools where the set has them; text calls by design are told",
    lacks="model, finish reason, time, usage, engine; raw arguments",
    better="write leakdown's own records, or log whole responses",
    generic=2,
    example="""\
{"id":"c1","conversations":[{"from":"human","value":"what is here?"},{"from":"function_call","value":\
"{\\"name\\": \\"ls\\", \\"arguments\\": {}}"},{"from":"observation","value":"b.txt"},{"from":"gpt","value":\
"One file."}],"tools":"[{\\"name\\": \\"ls\\"}]"}
{"conversations":[{"from":"human","value":"hello"},{"from":"gpt","value":"Hello."}]}
""",
)
