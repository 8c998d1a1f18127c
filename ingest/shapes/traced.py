"""Spans of tracing tools: one a line, begun on one and ended on another, the same call traced by two layers."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ingest.formats import Item, Line, Skipped, quarantined
from ingest.shapes.parts import Nesting, Parts
from ingest.shapes.wrapped import spread

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Traced:
    """A tool's spans: the key of a list that may hold them, what one is, when it lacks nothing, what becomes of it."""

    within: str
    recognises: Callable[[Any], bool]
    foreign: str
    ended: Callable[[Object], bool]
    item: Callable[[Line, Nesting], Item]

    def read(self, lines: Iterable[Line]) -> Iterator[Item]:
        """One span a line, its beginning and its end joined where they stand apart."""
        parts, models = Parts(self.ended), Nesting()
        for line in spread(iter(lines), self.within):
            if not self.recognises(line.value):
                yield quarantined(line, self.foreign)
                continue
            for each in parts.add(line, line.value.get("id")):
                yield each if isinstance(each, Skipped) else self.item(each, models)
        for each in parts.rest():
            yield self.item(each, models)
