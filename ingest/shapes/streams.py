"""Streamed responses put together from their events, however those of several responses are mixed.

Only streams that are open are kept, each as the response that it makes so far.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

Object = dict[str, Any]
Key = tuple[Hashable, Hashable]
"""What groups events that tell no id (API and wrapper), and the id of the response."""

OPEN = 256
"""Streams that may be open at once; one more closes one that has ended, or the one that was silent longest."""


class Stream(Protocol):
    """A response in the making; whatever an event holds, it raises nothing.

    `ended`: the finish reason or an error has come. `complete`: nothing more can come. `told_whole`: an event told
    the whole response.
    """

    ended: bool
    complete: bool
    told_whole: bool

    def takes(self, event: Object) -> bool:
        """Whether `event` may belong to this response: False if it begins another one."""

    def add(self, event: Object) -> None:
        """Take in the next event."""

    def whole(self) -> Object:
        """The response so far."""


Tag = TypeVar("Tag")


class Entry(Generic[Tag]):
    """An open stream with what its reader keeps of it."""

    __slots__ = ("stream", "tag")

    def __init__(self, stream: Stream, tag: Tag) -> None:
        self.stream = stream
        self.tag = tag


class Streams(Generic[Tag]):
    """The open streams of one file; the one that was silent longest comes first."""

    def __init__(self) -> None:
        self._open: dict[Key, Entry[Tag]] = {}

    def key(self, group: Hashable, told: Hashable) -> Key:
        """The key of an event of `group` with the id `told`; without one it goes with the one before."""
        if told is not None:
            return (group, told)
        return next((key for key in reversed(self._open) if key[0] == group), (group, None))

    def latest(self) -> tuple[Key, Entry[Tag]] | None:
        """The stream that was spoken to last, if it has not ended."""
        key = next(reversed(self._open), None)
        return None if key is None or self._open[key].stream.ended else (key, self._open[key])

    def __bool__(self) -> bool:
        """Whether any is open."""
        return bool(self._open)

    def takes(self, key: Key, event: Object) -> bool:
        """Whether the stream of `key` is open and takes `event`."""
        return key in self._open and self._open[key].stream.takes(event)

    def add(self, key: Key, event: Object) -> Entry[Tag] | None:
        """Give `event` to the open stream of `key`; None if there is none that takes it."""
        entry = self._open.get(key)
        if entry is None or not entry.stream.takes(event):
            return None
        del self._open[key]
        entry.stream.add(event)
        if not entry.stream.complete:
            self._open[key] = entry
        return entry

    def begin(self, key: Key, entry: Entry[Tag], event: Object) -> Iterator[Entry[Tag]]:
        """Open a stream with its first `event`; those that it closes, itself if it is complete at once."""
        if key in self._open:
            yield self._open.pop(key)
        if len(self._open) >= OPEN:
            ended = next((each for each, other in self._open.items() if other.stream.ended), None)
            yield self._open.pop(next(iter(self._open)) if ended is None else ended)
        entry.stream.add(event)
        if entry.stream.complete:
            yield entry
        else:
            self._open[key] = entry

    def rest(self) -> Iterator[Entry[Tag]]:
        """All that are still open, taken out."""
        while self._open:
            yield self._open.pop(next(iter(self._open)))


def assembled(
    events: Sequence[Object], begin: Callable[[], Stream], stream_id: Callable[[Object], Any]
) -> list[Stream]:
    """The streams of `events`, in the order of their first ones; an event without an id goes with the one before."""
    found: list[Stream] = []
    latest: dict[Hashable, Stream] = {}
    key: Hashable = None
    for event in events:
        told = stream_id(event)
        key = key if told is None else told
        stream = latest.get(key)
        if stream is None or not (error_of(event) is not None or stream.takes(event)):
            stream = latest[key] = begin()
            found.append(stream)
        stream.add(event)
    return found


def named(value: Any) -> str | None:
    """An id that is one."""
    return value if isinstance(value, str) and value else None


def error_of(value: Object) -> Any:
    """What a provider sends in the middle of a stream instead of its end; None for anything else."""
    error = value.get("error")
    if isinstance(error, dict):
        return None if error.keys().isdisjoint(("message", "code", "type")) else error
    if value.get("type") == "error" and "message" in value:
        return {key: value[key] for key in ("code", "message", "param") if key in value}
    return None
