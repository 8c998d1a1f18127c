"""What the readers of agents' logs share: a record and its line, and where a run stands."""

from dataclasses import dataclass, field
from typing import Any

from ingest.formats import Item, Line, Mapped, quarantined
from ingest.shapes.moments import moment
from ingest.shapes.nudges import nudge_in
from ingest.shapes.openai_message import Fields, validated

PART = "part of a response told on several lines"
COPY = "a copy of a response already read"
USER = "a message of the user"
RESULT = "a tool result"
REPRIMAND = 500
"""Characters of a framework's reprimand that are kept."""


def item(line: Line, *fields: Fields, request: bytes | None = None) -> Item:
    """The line with the generations that `fields` make, or in quarantine."""
    try:
        records = tuple(validated(_told_mended(each, line.mended) for each in fields))
    except (ValueError, OverflowError) as fault:
        return quarantined(line, str(fault))
    return Mapped(line.number, records, request)


def _told_mended(fields: Fields, mended: bool) -> Fields:
    if mended and fields.get("text_fidelity", "exact") == "exact":
        return {**fields, "text_fidelity": "normalised"}
    return fields


def texts(source: Any, names: dict[str, str]) -> Fields:
    """The texts in `source` under our names; blank ones and other values are left out."""
    if not isinstance(source, dict):
        return {}
    return {ours: source[key] for key, ours in names.items() if isinstance(source.get(key), str) and source[key]}


def objects(value: Any) -> list[Fields]:
    """The objects in a list; none in anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def counts(source: Any, given: str, taken: str) -> Fields:
    """The usage that `source` tells under the keys `given` (input) and `taken` (output)."""
    if not isinstance(source, dict):
        return {}
    told = {"input_tokens": source.get(given), "output_tokens": source.get(taken)}
    known = {key: value for key, value in told.items() if type(value) is int and 0 <= value < 2**63}
    return {"usage": known} if known else {}


def started(time: Any) -> Fields:
    """The start at `time`, where that is one."""
    found = moment(time)
    return {"started_at": found} if found else {}


@dataclass(slots=True)
class Pieces:
    """What a response consists of, in order, by kind."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[Fields] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)

    def fields(self, *, mended: bool = False) -> Fields:
        """The fields that they make: what was not said is not there, but for the content, which is then null."""
        fields: Fields = {"content": "".join(self.texts) if self.texts else None}
        if self.texts:
            fields["text_fidelity"] = "normalised" if mended else "exact" if len(self.texts) == 1 else "rebuilt"
        fields |= {"reasoning": "".join(self.thoughts)} if self.thoughts else {}
        fields |= {"tool_calls": self.calls} if self.calls else {}
        return fields | ({"content_parts": self.others} if self.others else {})


@dataclass(slots=True)
class Place:
    """Where a run stands: its turns, rounds and attempts so far, and what links the next response to the one before.

    `open`: the last thing told is a response, which what follows may answer.
    """

    users: int = 0
    rounds: int = 0
    attempt: int = 0
    link: str = "new_turn"
    open: bool = False
    _taken: int = 0
    """The attempt of the last response."""

    def user(self, content: Any = None, *, system: bool = False) -> bool:
        """A message to the model: a nudge asks for another attempt; else one of the user begins a turn. Whether it
        does. A message of the `system` that is no nudge changes nothing."""
        kind = nudge_in(content, system=system) if self.users or self.rounds else None
        if kind:
            self.again(kind)
        elif not system:
            self.users += 1
            self.attempt, self.link, self.open = 0, "new_turn", False
        return not kind and not system

    def result(self) -> None:
        """A tool answered the response before."""
        self.open = False

    def here(self) -> Fields:
        """The place of a response that begins now."""
        turn = self.users - 1 if self.users else 0
        return {"turn": turn, "round": self.rounds, "attempt": self.attempt, "linked_by": self.link}

    def take(self, *, failed: bool = False) -> Fields:
        """The place of the next response; if that failed, the one after it is another attempt."""
        place = self.here()
        self.attempt, self.rounds = (self.attempt + 1, self.rounds) if failed else (0, self.rounds + 1)
        self.link, self.open = ("after_error" if failed else "next_round"), not failed
        self._taken = place["attempt"]
        return place

    def again(self, link: str) -> None:
        """The response before was no good: the next one is another attempt of its round. One that the history does
        not keep counts as an attempt all the same."""
        if self.open:
            self.rounds, self.attempt = self.rounds - 1, self._taken
        self.attempt += self.link != "after_error"
        self.link, self.open = link, False
