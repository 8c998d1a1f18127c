"""Lines that are events of streamed responses: grouped by response, each answered once.

A line is a bare event, or one in a wrapper (`{"timestamp": …, "request_id": …, "data": {…}}`), whose ids then tell
streams apart whose events do not. The records of a response come with its last line.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ingest.bodies import Body, bodies, event_of, joined, streamed
from ingest.formats import EXCERPT, Item, Line, Mapped, Quarantined, Skipped, excerpt
from ingest.shapes.openai_message import Fields, unpacked, validated
from ingest.shapes.streams import Entry, Key, Streams, error_of, named
from ingest.shapes.threads import Threads
from ingest.shapes.wrappers import run_named, time_told

Object = dict[str, Any]

PART = "part of a response told on several lines"
_PACKED = frozenset({"data", "chunk", "event", "payload", "body"})
_ID_KEYS = ("request_id", "requestId", "stream_id", "response_id", "span_id", "trace_id", "run_id", "session_id")
_BESIDE_ERROR = {
    "error",
    "type",
    "object",
    "message",
    "code",
    "param",
    "status",
    "request_id",
    "sequence_number",
    "event_id",
}


KEPT = 4 * EXCERPT
"""Bytes kept of the last line of a stream."""


@dataclass(slots=True)
class _Told:
    """What is kept of a stream beside it: its API, what its wrapper tells, its last line."""

    body: Body
    whole: Fields
    line: int
    mended: bool
    start: bytes


def event_in(record: Object) -> tuple[Body, Object] | None:
    """The event of a stream that `record` is or wraps, and its API."""
    for value in _in_wrapper(record):
        if (body := event_of(value)) is not None:
            return body, value
    return None


def _in_wrapper(record: Object) -> Iterator[Object]:
    yield record
    if not _PACKED.isdisjoint(record):
        values = (unpacked(record[key]) for key in record if key in _PACKED)
        yield from (value for value in values if isinstance(value, dict))


class EventLines:
    """The events of one file."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._streams: Streams[_Told] = Streams()
        self._next: tuple[Body | None, Object] | None = None

    def takes(self, record: Object) -> bool:
        """Whether `record` is an event, or the whole reply or error that ends an open stream."""
        self._next = event_in(record) or self._last_part(record)
        return self._next is not None

    def _last_part(self, record: Object) -> tuple[Body | None, Object] | None:
        if not self._streams:
            return None
        if self._streams.latest() and record.keys() <= _BESIDE_ERROR and error_of(record) is not None:
            return None, record
        for value in _in_wrapper(record):
            for body in bodies():
                if body.is_event(value) and self._streams.takes(self._key(body, value, record), value):
                    return body, value
        return None

    def _key(self, body: Body, event: Object, record: Object) -> Key:
        wrapped = None if event is record else next((record[key] for key in _ID_KEYS if named(record.get(key))), None)
        return self._streams.key((body.name, wrapped), body.stream_id(event))

    def add(self, line: Line) -> Iterator[Item]:
        """What became of the line that `takes` was asked about, and of the streams that it ends."""
        assert self._next is not None  # noqa: S101 - takes comes first
        body, event = self._next
        if body is None:
            [key, _] = self._streams.latest() or ((None, None), None)
        else:
            key = self._key(body, event, line.value)
        entry = self._streams.add(key, event)
        if entry is not None:
            yield Skipped(entry.tag.line, PART)
            entry.tag.line, entry.tag.start = line.number, line.raw[:KEPT]
            entry.tag.mended |= line.mended
            if entry.stream.complete:
                yield self._item(entry)
        elif body is not None:
            told = _Told(body, _wrapper(line.value), line.number, line.mended, line.raw[:KEPT])
            closed = self._streams.begin(key, Entry(body.stream(), told), event)
            yield from map(self._item, closed)

    def rest(self) -> Iterator[Item]:
        """The streams that are open at the end of the file."""
        yield from map(self._item, self._streams.rest())

    def _item(self, entry: Entry[_Told]) -> Item:
        told, response = entry.tag, entry.stream.whole()
        try:
            run_id = self._run_id(told, response)
            replies = told.body.replies(response, told.mended) or _failed(response)
            fields = [{"run_id": run_id} | told.whole | reply for reply in joined({}, replies)]
            if entry.stream.told_whole is False:
                fields = list(map(streamed, fields))
            records = tuple(validated(fields))
        except ValueError as fault:
            return Quarantined(told.line, str(fault), excerpt(told.start))
        return Mapped(told.line, records) if records else Skipped(told.line, "a response without choices")

    def _run_id(self, told: _Told, response: Object) -> str:
        if isinstance(run_id := told.whole.get("run_id"), str):
            return run_id
        run_id = self._threads.issued(response.get("previous_response_id"))
        run_id = run_id or self._threads.run_of([], told.body.answers(response) or [response])
        if isinstance(response_id := response.get("id"), str) and told.body.name == "openai-responses":
            self._threads.issue(response_id, run_id)
        return run_id


def _wrapper(record: Object) -> Fields:
    run_id = run_named(record, {})
    return time_told(record) | ({"run_id": run_id} if run_id else {})


def _failed(response: Object) -> list[Fields]:
    """The generation of a stream that brought nothing but an error."""
    if not response.get("error"):
        return []
    return [{"content": None, "status": "error", "finish_fidelity": "absent", "error": response["error"]}]
