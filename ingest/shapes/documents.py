"""Runs that stand in one document: one item a record, so that a fault in one leaves the others as they are."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from ingest.formats import Item, Line, Mapped, Skipped, quarantined
from ingest.records import Tool
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, validated

REPRIMAND = 500
"""Characters of an agent's answer to a reply that it could not use."""


class Items:
    """The items of generations. A tool list that is repeated with each of them is validated once and shared."""

    def __init__(self) -> None:
        self._given: Any = None
        self._shared: list[Tool] | None = None

    def of(self, line: Line, fields: Fields) -> Item:
        """The item of one generation."""
        tools = fields.get("tools")
        known = bool(tools) and tools == self._given
        try:
            (record,) = validated([without(fields, "tools") if known else fields])
        except ValueError as fault:
            return quarantined(line, str(fault))
        if known:
            record = record.model_copy(update={"tools": self._shared})
        elif tools:
            self._given, self._shared = tools, record.tools
        return Mapped(line.number, (record,))


def runs(
    lines: Iterable[Line], recognises: Callable[[Any], bool], what: str, read: Callable[[Line], Iterable[Item]]
) -> Iterator[Item]:
    """The items of documents, each of which `read` takes apart; one that is no `what` goes into quarantine."""
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, f"no {what}")
            continue
        empty = True
        for item in read(line):
            empty = False
            yield item
        if empty:
            yield Skipped(line.number, "no reply of a model")


def without(fields: Fields, *names: str) -> Fields:
    """`fields` but for `names`."""
    return {key: value for key, value in fields.items() if key not in names}


def started(time: Any) -> Fields:
    """When a generation began. A text without a zone is taken as UTC, and the record says so."""
    found = moment(time)
    if found is None:
        return {}
    return {"started_at": found} | ({"zone": "assumed_utc"} if isinstance(time, str) and _zoneless(time) else {})


def _zoneless(time: str) -> bool:
    return datetime.fromisoformat(time).tzinfo is None


def objects(value: Any) -> list[Fields]:
    """The objects of a list; none of anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def part(value: Any, *path: str) -> Fields:
    """The object at `path` of `value`; an empty one where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str | None:
    """`value` if it is a text that says something."""
    return value if isinstance(value, str) and value else None


def told(**names: Any) -> Fields:
    """Those of `names` that are texts that say something."""
    return {name: value for name, value in names.items() if text(value)}
