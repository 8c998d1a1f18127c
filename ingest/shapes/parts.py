"""Records that come in parts: tracers write one line when a call starts and another when it ends.

At most `OPEN` wait for their end and the last `KNOWN` are known again, so that memory is bounded.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from ingest.formats import Line, Skipped

OPEN = 4_096
KNOWN = 65_536
PART = "part of a response told on several lines"
COPY = "a copy of a response already read"

Object = dict[str, Any]


class Recent:
    """The last ids that were added."""

    def __init__(self, size: int = KNOWN) -> None:
        self._size = size
        self._ids: OrderedDict[int, None] = OrderedDict()

    def add(self, name: str) -> None:
        """Know `name` from now on."""
        self._ids[hash(name)] = None
        if len(self._ids) > self._size:
            self._ids.popitem(last=False)

    def __contains__(self, name: Any) -> bool:
        """Whether `name` was added lately."""
        return isinstance(name, str) and hash(name) in self._ids


class Nesting:
    """Calls that two layers traced: the span of a model inside the span of a model is the same call, whichever comes
    first in the log.
    """

    def __init__(self) -> None:
        self._told = Recent()
        self._around = Recent()

    def told_twice(self, name: Any, parents: Iterable[Any]) -> bool:
        """Whether the call `name` was told already, by the span around it or by one inside."""
        return name in self._around or any(parent in self._told for parent in parents)

    def tell(self, name: Any, parents: Iterable[Any]) -> None:
        """The call `name` is told."""
        for known, names in ((self._told, (name,)), (self._around, parents)):
            for each in names:
                if isinstance(each, str) and each:
                    known.add(each)


class Parts:
    """Joins the parts of records with the same id; `whole` says whether a record lacks nothing."""

    def __init__(self, whole: Callable[[Object], bool]) -> None:
        self._whole = whole
        self._open: OrderedDict[str, Line] = OrderedDict()
        self._done = Recent()

    def add(self, line: Line, name: Any) -> Iterator[Line | Skipped]:
        """What can be said now: records that are complete, and lines that went into another."""
        if not isinstance(name, str):
            yield line
            return
        if name in self._done:
            yield Skipped(line.number, COPY)
            return
        if earlier := self._open.pop(name, None):
            yield Skipped(earlier.number, PART)
            line = replace(line, value=joined(earlier.value, line.value), mended=earlier.mended or line.mended)
        if self._whole(line.value):
            self._done.add(name)
            yield line
            return
        self._open[name] = line
        if len(self._open) > OPEN:
            yield self._open.popitem(last=False)[1]

    def rest(self) -> Iterator[Line]:
        """The records that were never completed."""
        while self._open:
            yield self._open.popitem(last=False)[1]


def joined(earlier: Object, later: Object) -> Object:
    """Both parts: what the later says counts, null says nothing, objects are joined."""
    found = dict(earlier)
    for key, value in later.items():
        before = found.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            found[key] = {**before, **value}
        elif value is not None or key not in found:
            found[key] = value
    return found
