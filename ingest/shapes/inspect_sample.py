"""The model calls of one sample of an Inspect log, each once, where they stand among its spans and attachments.

Field names and defaults are those of inspect_ai 0.3.58 to 0.3.285 (`event/_model.py`, `event/_pool.py`,
`log/_condense.py`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ingest.shapes.documents import REPRIMAND, objects
from ingest.shapes.nudges import nudge_in
from ingest.shapes.openai_message import Fields

_REFERENCE = re.compile(r"(?:attachment|tc)://([0-9a-f]{8,64})")
_SCORING = ("scorer", "scorers")
_JUDGES = ("grader", "judge", "scorer", "critic", "monitor")
_USERS = ("user", "user_simulator", "simulator")


@dataclass(slots=True)
class Call:
    """A model event: its role, the thread of calls that it belongs to, and where it stands in that thread.

    `thread` is None for the sample's own agent. `reprimand` is what the scaffold answered to a reply that it could
    not use.
    """

    event: Fields
    role: str | None
    thread: str | None
    round: int = 0
    attempt: int = 0
    link: str = "new_turn"
    reprimand: str | None = None


@dataclass(slots=True)
class _Thread:
    round: int = 0
    attempt: int = 0
    last: Call | None = None


@dataclass(slots=True)
class Sample:
    """One sample: an attempt of the agent at one task."""

    value: Fields
    attachments: Fields = field(init=False)
    pool: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        attachments = self.value.get("attachments")
        self.attachments = attachments if isinstance(attachments, dict) else {}
        data = self.value.get("events_data")
        pool = data.get("messages") if isinstance(data, dict) else None
        self.pool = pool if isinstance(pool, list) else []

    def calls(self) -> list[Call]:
        """Its model events, in their order."""
        threads: dict[str | None, _Thread] = {}
        seen: set[str] = set()
        calls = []
        for call in _calls(objects(self.value.get("events")), {}, (None, None)):
            uuid = call.event.get("uuid")
            if isinstance(uuid, str):
                if uuid in seen:
                    continue
                seen.add(uuid)
            self._place(call, threads.setdefault(call.thread, _Thread()))
            calls.append(call)
        return calls

    def _place(self, call: Call, thread: _Thread) -> None:
        """Its round and attempt: what follows a nudge or an error is another attempt of the same round."""
        if call.event.get("cache") == "read" or call.event.get("pending"):
            return
        last = thread.last
        if last is not None:
            nudge, complaint = self._answer(call.event)
            last.reprimand = nudge or complaint
            nudged = nudge_in(nudge) or "nudge" if nudge and not _made_calls(last.event) else None
            again = nudged or ("after_error" if last.event.get("error") else None)
            thread.attempt = thread.attempt + 1 if again else 0
            thread.round += 0 if again else 1
            call.link = again or "next_round"
        call.round, call.attempt, thread.last = thread.round, thread.attempt, call

    def _answer(self, event: Fields) -> tuple[str | None, str | None]:
        """What stands last in the input: a user message that no user wrote, or a complaint about a call."""
        match self._last_input(event):
            case {"role": "user", "source": "input" | "operator"}:
                return None, None
            case {"role": "user", "content": content}:
                return _start(self.resolved(_text(content))), None
            case {"role": "tool", "error": {"type": "parsing", "message": str() as message}}:
                return None, _start(self.resolved(message))
            case _:
                return None, None

    def _last_input(self, event: Fields) -> Any:
        given = event.get("input")
        if isinstance(given, list) and given:
            return given[-1]
        match event.get("input_refs"):
            case [*_, [_, int() as end]] if 0 < end <= len(self.pool):
                return self.pool[end - 1]
            case _:
                return None

    def resolved(self, value: Any) -> Any:
        """`value` with the texts that its references to attachments stand for."""
        return _resolved(value, self.attachments) if self.attachments else value


def unresolved(text: Any) -> bool:
    """Whether `text` is a reference to an attachment that the log lacks."""
    return isinstance(text, str) and _REFERENCE.fullmatch(text) is not None


def _resolved(value: Any, attachments: Fields) -> Any:
    if isinstance(value, str):
        found = _REFERENCE.fullmatch(value)
        text = attachments.get(found[1]) if found else None
        return text if isinstance(text, str) else value
    if isinstance(value, dict):
        return {key: _resolved(part, attachments) for key, part in value.items()}
    return [_resolved(part, attachments) for part in value] if isinstance(value, list) else value


def _text(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return next((part["text"] for part in objects(content) if isinstance(part.get("text"), str)), None)


def _start(text: Any) -> str | None:
    return text[:REPRIMAND] if isinstance(text, str) and text else None


def _made_calls(event: Fields) -> bool:
    output = event.get("output")
    choices = objects(output.get("choices")) if isinstance(output, dict) else []
    return any(isinstance(each.get("message"), dict) and each["message"].get("tool_calls") for each in choices)


_Spans = dict[str, tuple[Any, Any]]
_Where = tuple[str | None, str | None]
"""Role and thread."""


def _calls(events: list[Fields], spans: _Spans, outer: _Where) -> Iterator[Call]:
    """The model events of a list and of the lists inside it, as older versions nest them in tool events."""
    scoring = False
    for event in events:
        match event:
            case {"event": "span_begin", "id": str() as name}:
                spans[name] = (event.get("type"), event.get("parent_id"))
            case {"event": "step", "action": action, "type": kind}:
                scoring = action == "begin" and kind in _SCORING
            case {"event": "model"}:
                role, thread = ("judge", "scorer") if scoring else _where(event, spans, outer)
                yield Call(event, role, thread)
            case {"event": "tool" | "subtask", "events": [_, *_] as inner}:
                named = event.get("id") or event.get("uuid") or event.get("name")
                yield from _calls(objects(inner), spans, ("subagent", str(named)))


def _where(event: Fields, spans: _Spans, outer: _Where) -> _Where:
    model_role = event.get("role")
    if model_role in _JUDGES:
        return "judge", str(model_role)
    if model_role in _USERS:
        return "user_simulator", str(model_role)
    return _in_spans(event.get("span_id"), spans) or outer


def _in_spans(name: Any, spans: _Spans) -> _Where | None:
    """A scorer's span makes a judge; an agent inside an agent, a tool or a subtask is another agent."""
    inside: list[str] = []
    agent: str | None = None
    while isinstance(name, str) and name in spans and len(inside) < len(spans):
        inside.append(name)
        kind, parent = spans[name]
        if kind in _SCORING:
            return "judge", name
        if kind in ("tool", "subtask") or (kind == "agent" and agent):
            return "subagent", agent or name
        agent = name if kind == "agent" else agent
        name = parent
    return None
