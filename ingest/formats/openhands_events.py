"""Events of the OpenHands SDK (V1): `<conversation>/events/event-*.json`, with `base_state.json` beside them.

Source: openhands-sdk, event/. Calls made in one response are events with one `llm_response_id`. Tools stand in the
`SystemPromptEvent` that begins a conversation, the model in the base state. Times name no zone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.conversation import NUDGED, REPRIMANDED
from ingest.shapes.nudges import complaint
from ingest.shapes.openai_message import Fields, message_fields, part_text, said
from ingest.shapes.told import PART, REPRIMAND, RESULT, USER, Place, item, objects, started, texts

OPEN = 8
"""Responses whose calls may still come."""


def is_state(value: Any) -> bool:
    """Whether `value` is the base state of a conversation."""
    match value:
        case {"id": str(), "agent": {"llm": dict()}}:
            return True
        case _:
            return False


def is_event(value: Any) -> bool:
    """Whether `value` is an event."""
    match value:
        case {"id": str(), "kind": str() as kind, "source": str(), "timestamp": _}:
            return kind.endswith(("Event", "Condensation", "CondensationRequest"))
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of events and base states."""
    return share(values, lambda value: is_event(value) or is_state(value))


@dataclass(slots=True)
class _Conversation:
    whole: Fields = field(default_factory=dict)
    begun: bool = False
    place: Place = field(default_factory=Place)
    open: dict[str, tuple[Line, Fields]] = field(default_factory=dict)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response by `llm_response_id`."""
    talk = _Conversation()
    for line in lines:
        if is_state(line.value):
            yield from _close(talk, 0)
            talk = _Conversation(_state(line.value))
            yield Skipped(line.number, "bookkeeping: the state of a conversation")
        elif not is_event(line.value):
            yield quarantined(line, "no event of OpenHands")
        else:
            if line.value["kind"] == "SystemPromptEvent" and talk.begun:
                yield from _close(talk, 0)
                talk = _Conversation()
            talk.begun = True
            yield from _event(talk, line, line.value)
    yield from _close(talk, 0)


def _state(state: Fields) -> Fields:
    llm = state["agent"]["llm"]
    mode = {"call_mode": "text"} if llm.get("native_tool_calling") is False else {}
    return {"run_id": state["id"]} | texts(llm, {"model": "model", "base_url": "base_url"}) | mode


def _event(talk: _Conversation, line: Line, event: Fields) -> Iterator[Item]:
    talk.whole.setdefault("run_id", f"openhands:{event['id']}")
    match event:
        case {"kind": "SystemPromptEvent"}:
            tools = [tool for tool in map(_tool, objects(event.get("tools"))) if tool]
            talk.whole |= {"tools": tools} if isinstance(event.get("tools"), list) else {}
            yield Skipped(line.number, "bookkeeping: the prompt and the tools")
        case {"kind": "ActionEvent"}:
            yield from _response(talk, line, event, _action(event))
        case {"kind": "MessageEvent", "source": "agent", "llm_message": dict() as message}:
            yield from _message(talk, line, event, message)
        case {"kind": "Condensation", "summary": str() as summary}:
            yield _summary(talk, line, event, summary)
        case {"kind": "MessageEvent", "llm_message": dict() as message}:
            yield Skipped(line.number, _asked(talk, said(message.get("content"))))
        case {"observation": _}:
            talk.place.result()
            yield Skipped(line.number, RESULT)
        case _:
            yield Skipped(line.number, RESULT)


def _message(talk: _Conversation, line: Line, event: Fields, message: Fields) -> Iterator[Item]:
    try:
        told = message_fields(message)
    except ValueError as fault:
        yield quarantined(line, str(fault))
    else:
        yield from _response(talk, line, event, told)


def _summary(talk: _Conversation, line: Line, event: Fields, summary: str) -> Item:
    told = {"content": summary, "text_fidelity": "exact", "role": "summariser", "call_mode": "none"}
    return item(line, {**_about(event), **{key: talk.whole[key] for key in talk.whole if key != "tools"}, **told})


def _asked(talk: _Conversation, text: str) -> str:
    """A message to the model: of the user, or of the framework that missed a call."""
    if talk.place.user(text):
        return USER
    if talk.open:
        list(talk.open.values())[-1][1]["reprimand"] = text[:REPRIMAND]
    return REPRIMANDED if complaint(text) else NUDGED


def _tool(tool: Fields) -> Fields | None:
    name = tool.get("name", tool.get("title"))
    return {"name": name} | texts(tool, {"description": "description"}) if isinstance(name, str) else None


def _action(event: Fields) -> Fields:
    """What an action tells of its response: the thought before it, and one call."""
    thoughts = [part_text(part) for part in event["thought"]] if isinstance(event.get("thought"), list) else []
    told = [text for text in thoughts if text is not None]
    call = event.get("tool_call")
    if not isinstance(call, dict) or "name" not in call:
        call = texts(event, {"tool_call_id": "id", "tool_name": "name"})
    content = {"content": "".join(told), "text_fidelity": "exact"} if told else {}
    return content | texts(event, {"reasoning_content": "reasoning"}) | {"tool_calls": [call]}


def _about(event: Fields) -> Fields:
    zone = {"zone": "assumed_utc"} if "started_at" in started(event["timestamp"]) else {}
    named = texts(event, {"llm_response_id": "generation_id"}) or {"generation_id": event["id"]}
    return {**named, **started(event["timestamp"]), **zone, "client": "openhands", "finish_fidelity": "absent"}


def _response(talk: _Conversation, line: Line, event: Fields, told: Fields) -> Iterator[Item]:
    about = _about(event)
    key = about["generation_id"]
    earlier = talk.open.pop(key, None)
    if earlier is None:
        fields = about | told | talk.place.take() | {"role": "agent"}
    else:
        yield Skipped(earlier[0].number, PART)
        calls = [*(earlier[1].get("tool_calls") or ()), *(told.get("tool_calls") or ())]
        fields = {**told, **earlier[1]} | ({"tool_calls": calls} if calls else {})
    talk.open[key] = line, fields
    yield from _close(talk, OPEN)


def _close(talk: _Conversation, left: int) -> Iterator[Item]:
    while len(talk.open) > left:
        line, fields = talk.open.pop(next(iter(talk.open)))
        mode = {} if "tools" not in talk.whole else {"call_mode": "native" if talk.whole["tools"] else "none"}
        yield item(line, {**fields, **mode, **talk.whole})


OPENHANDS_EVENTS = Format(
    name="openhands-events",
    title="OpenHands conversations, V1 events (JSON)",
    sniff=sniff,
    read=read,
    recognised="events with `id`, `kind` (…Event), `source` and `timestamp`; the `base_state.json` beside them",
    carries="exact text, reasoning, raw arguments, tools offered, time (no zone), reprimands; the model if "
    "base_state.json is uploaded too",
    lacks="finish reason, usage, responding model, failed attempts, engine, time zone",
    better="the folder that `log_completions` writes: it has the request and the raw response",
    joint=True,
    example="""\
{"id":"e0","timestamp":"2026-11-30T08:40:00.1","source":"agent","kind":"SystemPromptEvent","system_prompt":\
{"type":"text","text":"You are an agent"},"tools":[{"kind":"TerminalTool","name":"terminal","description":"run"}]}
{"id":"e1","timestamp":"2026-11-30T08:40:02.0","source":"agent","kind":"MessageEvent","llm_message":\
{"role":"assistant","content":[{"type":"text","text":"One file."}],"tool_calls":null},"llm_response_id":"r1"}
""",
)
