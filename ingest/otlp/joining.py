"""Model calls whose parts arrive in several messages: the facts on a span, the text in a log record, either first.

A message is answered once nothing in it waits any more; at the latest when all were read, or when what waits grows
too large: then the oldest is told as it is.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

from pydantic_core import from_json, to_json

from ingest.formats import Item, Line, excerpt
from ingest.otlp import Event, Span, told
from ingest.otlp.dialects import replies as replies_of
from ingest.otlp.facts import facts
from ingest.otlp.families import REMEMBERED, Families, key_of
from ingest.otlp.page import BARE, COPY, HISTORY, PART, Page
from ingest.otlp.recent import Recent
from ingest.otlp.signals import events_of, spans_of
from ingest.shapes.openai_message import Fields

WAITING = 192 * 2**20
"""Bytes that may wait, by estimate."""
_ENTRY = 500
"""Bytes of an entry that waits, beside its fields."""
_LATELY = 1_000
"""Spans whose facts are kept after their first choice, for the others."""


class Joining:
    """The messages of a stream so far, of which `waiting` bytes may wait and so many spans are remembered."""

    def __init__(self, waiting: int = WAITING, remembered: int = REMEMBERED) -> None:
        self._waiting = waiting
        self._families = Families(remembered)
        self._spans: dict[int, tuple[Page, bytes]] = {}
        """Model calls without their text, by span: their facts as JSON."""
        self._events: dict[int, dict[int, tuple[Page, Fields, Fields]]] = {}
        """Texts without their span, by span and choice: facts and reply."""
        self._choices = Recent[bool](remembered)
        """Choices that events told."""
        self._lately = Recent[Fields](_LATELY)
        """The facts of spans whose first choice an event told."""
        self._open: OrderedDict[Page, None] = OrderedDict()
        self._done: list[Page] = []
        self._size = 0

    def read(self, line: Line) -> Iterator[Item]:
        """The messages that can be answered now that `line` was read."""
        page = Page(line.number, excerpt(line.raw), line.mended)
        try:
            self._read(page, line.value)
        except ValueError as fault:
            page.fault = str(fault)
        if page.waits:
            page.size += len(line.raw) if page.records or page.events else 0
            self._open[page] = None
            self._size += page.size
        else:
            self._done.append(page)
        while self._size > self._waiting:
            self._close(next(iter(self._open)))
        yield from self._answers()

    def finish(self, last: float = inf) -> Iterator[Item]:
        """The rest; or those that still wait of the messages up to the number `last`."""
        while (page := next(iter(self._open), None)) and page.number <= last:
            self._close(page)
            yield from self._answers()

    def _answers(self) -> Iterator[Item]:
        done, self._done = self._done, []
        yield from (page.item() for page in done)

    def _read(self, page: Page, value: Any) -> None:
        spans = list(spans_of(value))
        for span in spans:
            self._families.meet(span)
        if len(spans) > 1:
            spans.sort(key=lambda span: -self._families.depth(key_of(span.trace_id, span.span_id)))
        for span in spans:
            try:
                self._span(page, span)
            except ValueError as fault:
                page.fault = page.fault or str(fault)
        for event in events_of(value):
            try:
                self._event(page, event)
            except ValueError as fault:
                page.fault = page.fault or str(fault)

    def _span(self, page: Page, span: Span) -> None:
        found = replies_of(span)
        if found is None:
            return
        found = found or _own_events(span)
        key = key_of(span.trace_id, span.span_id)
        waiting = self._events.pop(key, {})
        for index, (other, _, _) in waiting.items():
            self._leave(other, event=(key, index))
        said = facts(span)
        if found:
            self._tell(page, key, said, found)
        elif waiting:
            for index in waiting:
                self._choices.note(hash((key, index)), True)
            self._lately.note(key, said)
            self._tell(page, key, said, [waiting[index][1] | said | waiting[index][2] for index in sorted(waiting)])
        elif self._families.is_known(key) or key in self._spans:
            page.why[COPY] = None
        else:
            self._wait(page, key, said)

    def _wait(self, page: Page, key: int, said: Fields) -> None:
        if not key:
            page.why[BARE] = None
            return
        packed = to_json(said)
        self._spans[key] = page, packed
        page.spans.add(key)
        page.size += len(packed) + _ENTRY

    def _event(self, page: Page, event: Event) -> None:
        if event.name in told.HISTORY:
            page.why[HISTORY] = None
        if not told.tells(event):
            return
        key = key_of(event.trace_id, event.span_id)
        found = told.replies(event)
        if not found:
            page.why[BARE] = None
        for index, reply in found.items():
            self._choice(page, key, index, facts(event), reply)

    def _choice(self, page: Page, key: int, index: int, said: Fields, reply: Fields) -> None:
        if not key:
            self._tell(page, 0, said, [reply])
        elif (lately := self._lately.get(key)) is not None and hash((key, index)) not in self._choices:
            self._later(page, key, index, said | lately | reply)
        elif self._families.is_known(key) or index in self._events.get(key, {}):
            page.why[COPY] = None
        elif key in self._spans:
            other, packed = self._spans.pop(key)
            self._leave(other, span=key)
            of_span: Fields = from_json(packed)
            self._lately.note(key, of_span)
            self._first(page, key, index, said | of_span | reply)
        else:
            self._events.setdefault(key, {})[index] = page, said, reply
            page.events.add((key, index))
            page.size += _ENTRY

    def _first(self, page: Page, key: int, index: int, reply: Fields) -> None:
        """The first choice of a call that events tell."""
        if self._families.is_copy(key, [reply]):
            page.why[COPY] = None
        else:
            self._later(page, key, index, reply)

    def _later(self, page: Page, key: int, index: int, reply: Fields) -> None:
        self._choices.note(hash((key, index)), True)
        page.add({}, reply, index)

    def _tell(self, page: Page, key: int, said: Fields, found: Sequence[Fields]) -> None:
        """Add the generations of a call, unless another span told it."""
        if key in self._spans:
            other, _ = self._spans.pop(key)
            self._leave(other, span=key)
        if self._families.is_copy(key, found):
            page.why[COPY] = None
            return
        for index, reply in enumerate(found):
            page.add(said, reply, index)

    def _leave(self, page: Page, span: int = 0, event: tuple[int, int] = (0, 0)) -> None:
        """What waited in `page` was joined elsewhere."""
        page.spans.discard(span)
        page.events.discard(event)
        page.why[PART] = None
        if not page.waits and page in self._open:
            del self._open[page]
            self._size -= page.size
            self._done.append(page)

    def _close(self, page: Page) -> None:
        """Nothing more is waited for: an error stands without text, a text without its span."""
        del self._open[page]
        self._size -= page.size
        for key in page.spans:
            said = from_json(self._spans.pop(key)[1])
            known = self._families.is_known(key)
            if not known and said.get("status") == "error":
                self._tell(page, key, said, [{"content": None, "finish_fidelity": "absent"}])
            page.why[COPY if known else BARE] = None
        for key, index in sorted(page.events, key=lambda event: event[1]):
            _, said, reply = self._events[key].pop(index)
            told_before = any(hash((key, other)) in self._choices for other in range(index))
            (self._later if told_before else self._first)(page, key, index, said | reply)
            if not self._events[key]:
                del self._events[key]
        page.spans.clear()
        page.events.clear()
        self._done.append(page)


def _own_events(span: Span) -> list[Fields]:
    """The replies that the events of a span itself tell."""
    found: dict[int, Fields] = {}
    for event in (*span.events, *told.in_attribute(span)):
        if told.tells(event):
            found |= told.replies(event)
    return [found[index] for index in sorted(found)]
