"""What running applications sent (OTLP), read from the inbox into one upload for each service and day.

The parts of a model call come in different requests: its span in one, its text as a log record in another, a
framework's span around it in a third. They are joined as in a file (`ingest.otlp.joining`), over all requests; a part
waits for a while for the other. That memory is made anew from the inbox after a restart or a failure: what was read
stays there for some minutes.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pydantic_core import from_json, to_json

from ingest import inbox
from ingest.batch import Batch
from ingest.batches import gathered
from ingest.collector import collector_at_rest
from ingest.formats import Item, Line
from ingest.inbox import Kept
from ingest.otlp.intake import OTHERS
from ingest.otlp.joining import Joining
from ingest.settling import Totals, extend
from ingest.staging import stage, stage_tables
from ingest.store import Cursor, Store, atomic, one
from ingest.verdict_rows import Judge

REMEMBERED_BYTES = 64 * 2**20
"""Bytes of messages that were read and stay in the inbox."""
JOINED_BYTES = 64 * 2**20
"""Bytes of what waits for its other part, in memory."""
JOINED_SPANS = 60_000
"""Spans that are remembered, in memory."""
RUNS = 20_000
"""Runs whose called names are remembered."""
UPLOADS_A_DAY = 200
"""Services with an upload of their own on one day; the rest share one."""

_TODAY = """
SELECT upload_id, service, settings FROM uploads
WHERE state = 'done' AND service IS NOT NULL AND created_at::DATE = $day ORDER BY upload_id
"""
_NEW = """
INSERT INTO uploads BY NAME SELECT nextval('upload_ids')::INTEGER AS upload_id, $path AS path, 'otlp' AS format,
    'done' AS state, make_timestamp(epoch_us(now())) AS created_at, '{}' AS settings, '{}' AS origins,
    0 AS lines, 0 AS mapped, 0 AS skipped, 0 AS duplicate, 0 AS quarantined, 0 AS generations, 0 AS new_generations,
    0 AS events, $service AS service
RETURNING upload_id
"""
_COVERED = ("INSERT INTO coverage VALUES ($1, $2)", "INSERT INTO searched_for_names VALUES ($1)")


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds that a part waits for its other part, and that what was read is remembered to tell copies by."""

    wait: float = 60.0
    remember: float = 600.0


class Rolling:
    """The messages of one store as they come. For one thread."""

    def __init__(
        self,
        store: Store,
        times: Times = Times(),
        *,
        redacted: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`redacted` tells that secrets were taken out of the messages before they were kept."""
        self._store, self._times, self._redacted, self._clock = store, times, redacted, clock
        self._joining: Joining | None = None
        self.behind = False
        """Whether more may have come than was read at once."""
        self._begin()

    def _begin(self) -> None:
        self._last = 0
        self._services: dict[int, str] = {}
        """Of the messages that are not settled."""
        self._called: dict[str, frozenset[str]] = {}
        self._came: deque[tuple[float, int]] = deque()
        """When which message was read, as far as it is remembered."""

    @property
    def busy(self) -> bool:
        """Whether something waits for its other part or is to be forgotten, or nobody knows yet."""
        return self._joining is None or bool(self._came)

    def fold(self, judge: Callable[[], Judge]) -> int:
        """Read what has come since, as much as is read at once, judged by a new `judge` for each upload; the number of
        messages that are done.

        All of a message or nothing of it; after any failure the next call begins with the inbox as it is.
        """
        try:
            return self._fold(judge)
        except BaseException:
            self._joining, self.behind = None, False
            raise

    def _fold(self, judge: Callable[[], Judge]) -> int:
        joining = self._joining or self._recalled()
        kept = self._next(settled=False)
        self._services |= {each.number: each.service for each in kept}
        done = self._settle(judge, _items(joining, kept))
        now = self._clock()
        overdue = max((number for at, number in self._came if at <= now - self._times.wait), default=0)
        done += self._settle(judge, list(joining.finish(overdue)))
        self._forget(now)
        self._joining, self.behind = joining, bool(kept)
        return done

    def _recalled(self) -> Joining:
        """The joining as it stands after what was settled before."""
        self._begin()
        joining = Joining(JOINED_BYTES, JOINED_SPANS)
        while kept := self._next(settled=True):
            gathered(_items(joining, kept), {}, self._called, redacted=self._redacted)
        gathered(list(joining.finish()), {}, self._called, redacted=self._redacted)
        self._last = 0
        return joining

    def _next(self, *, settled: bool) -> list[Kept]:
        kept = inbox.read(self._store, self._last, settled=settled)
        if kept:
            self._last = kept[-1].number
            self._came.append((self._clock(), self._last))
        return kept

    def _settle(self, judge: Callable[[], Judge], items: list[Item]) -> int:
        """Bring items into the uploads of their services, all of them or none."""
        by_service: dict[str, list[Item]] = {}
        for item in sorted(items, key=lambda item: item.line):
            by_service.setdefault(self._services.pop(item.line), []).append(item)
        if by_service:
            with self._store.writing() as cursor, collector_at_rest(), atomic(cursor):
                for service, theirs in by_service.items():
                    self._append(cursor, judge(), service, theirs)
        while len(self._called) > RUNS:
            del self._called[next(iter(self._called))]
        return len(items)

    def _append(self, cursor: Cursor, judge: Judge, service: str, items: list[Item]) -> None:
        upload_id, settings = _upload_of(cursor, service, judge)
        batch = gathered(items, settings, self._called, redacted=self._redacted)
        stage_tables(cursor)
        kept = stage(cursor, batch, judge)
        extend(cursor, upload_id, judge.detector, _totals(batch, kept), indexed=judge.index is not None)
        inbox.settled(cursor, upload_id, [item.line for item in items])

    def _forget(self, now: float) -> None:
        last = 0
        while self._came and self._came[0][0] <= now - max(self._times.remember, self._times.wait):
            last = max(last, self._came.popleft()[1])
        inbox.forget(self._store, last, REMEMBERED_BYTES)


def _items(joining: Joining, kept: Iterable[Kept]) -> list[Item]:
    """What can be answered now that these messages were read."""
    lines = (Line(each.number, each.value, to_json(each.value), each.mended) for each in kept)
    return [item for line in lines for item in joining.read(line)]


def _upload_of(cursor: Cursor, service: str, judge: Judge) -> tuple[int, dict[str, str]]:
    """Today's upload of a service, and what a person set of it; a new one where there is none."""
    [day] = one(cursor, "SELECT make_timestamp(epoch_us(now()))::DATE")
    today = {name: (number, settings) for number, name, settings in cursor.execute(_TODAY, {"day": day}).fetchall()}
    if service not in today and len(today) >= UPLOADS_A_DAY:
        service = OTHERS
    if service in today:
        upload_id, settings = today[service]
        return upload_id, from_json(settings)
    [upload_id] = one(cursor, _NEW, {"path": f"OTLP of {service}, {day}", "service": service})
    cursor.execute(_COVERED[0], [judge.detector, upload_id])
    if judge.index:
        cursor.execute(_COVERED[1], [upload_id])
    return int(upload_id), {}


def _totals(batch: Batch, kept: int) -> Totals:
    return Totals(
        lines=batch.lines,
        quarantined=len(batch.quarantined),
        generations=len(batch.generations),
        events=len(batch.events),
        kept=kept,
        skipped=Counter(batch.skipped),
    )
