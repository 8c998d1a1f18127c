"""In which turn outputs come to a reviewer: of a drawn sample in its order, of the whole store what detectors dispute
first. Written for ten million outputs: none of its statements joins all of them with anything."""

# ruff: noqa: S608 - the statements are made of our own parts; values are bound

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from analysis.labels import samples
from analysis.rollups.outputs import COMPARED as IN_REPLAY
from analysis.rollups.outputs import outputs
from ingest.store import Cursor, Store

HELD = timedelta(minutes=30)
"""How long an output that was shown is kept from other people."""
_PAGE = 100

_WORDS = "reply IN ('words', 'reasoning_only')"
_TAKEN = """
WITH taken AS (
    SELECT verdict_key, count(DISTINCT by_whom) FILTER (by_whom <> $by) AS others,
        count(DISTINCT by_whom) FILTER (labelled) AS labels, bool_or(by_whom = $by AND labelled) AS mine,
        bool_or(by_whom = $by AND skipped) AS skipped,
        min(assigned_at) FILTER (by_whom = $by) AS assigned_at
    FROM (
        SELECT verdict_key, by_whom, true AS labelled, false AS skipped, NULL::TIMESTAMP AS assigned_at FROM labels
        WHERE verdict_key IS NOT NULL AND taken_back_at IS NULL
        UNION ALL
        SELECT verdict_key, by_whom, false, skipped, assigned_at FROM assignments
        WHERE (NOT skipped AND assigned_at > $live) OR (skipped AND by_whom = $by)
    ) GROUP BY verdict_key
)
"""
"""Outputs that someone has labelled or holds; what a reviewer skipped is held by nobody."""
_FREE = "NOT coalesce(t.mine, false) AND coalesce(t.others, 0) < $people AND NOT coalesce(t.skipped, false)"
_PAGED = "LIMIT $page OFFSET $offset"

_HELD = f"""{_TAKEN}
SELECT verdict_key FROM taken WHERE NOT mine AND NOT skipped AND others < $people AND assigned_at IS NOT NULL
ORDER BY assigned_at, verdict_key {_PAGED}
"""
"""What the reviewer holds, the longest held first: so an output whose label was taken back comes again."""
_SKIPPED = f"""{_TAKEN}
SELECT verdict_key FROM taken WHERE NOT mine AND skipped AND others < $people ORDER BY assigned_at, verdict_key {_PAGED}
"""
_SECOND = f"""{_TAKEN}
SELECT verdict_key FROM taken WHERE NOT mine AND NOT skipped AND others = 1 ORDER BY verdict_key {_PAGED}
"""
"""What one other person looked at, where two are wanted."""
_SUSPECTED = f"""{_TAKEN}
SELECT i.verdict_key FROM (
    SELECT verdict_key, count(*) < (SELECT count(DISTINCT detector) FROM coverage) AS disputed
    FROM verdicts WHERE tier IN ('certain', 'likely') GROUP BY verdict_key
) i LEFT JOIN taken t ON t.verdict_key = i.verdict_key
WHERE {_FREE} ORDER BY disputed DESC, i.verdict_key {_PAGED}
"""
"""What any detector takes for a leak, first that on which they differ. A verdict key is a hash: its order says
nothing of the output."""
_REST = f"""{_TAKEN}
SELECT i.verdict_key FROM (
    SELECT verdict_key FROM generations WHERE {IN_REPLAY} AND {{reply}} ORDER BY verdict_key LIMIT $first
) i LEFT JOIN taken t ON t.verdict_key = i.verdict_key
WHERE {_FREE} ORDER BY i.verdict_key {_PAGED}
"""
"""Among one more than there are generations of taken outputs one must be free."""
_REST_OF = (_REST.format(reply=_WORDS), _REST.format(reply=f"NOT {_WORDS}"))
_TAKEN_GENERATIONS = (
    f"{_TAKEN} SELECT count(*) FROM generations WHERE {IN_REPLAY} AND verdict_key IN (SELECT verdict_key FROM taken)"
)
_HERE = f"""
SELECT DISTINCT verdict_key FROM generations WHERE {IN_REPLAY} AND verdict_key IN (SELECT unnest($keys::UUID[]))
"""
_COUNTS = """
SELECT count(*) FILTER (labels >= $people), count(*) FILTER (mine OR others >= $people),
    count(*) FILTER (NOT mine AND labels < $people AND others >= $people)
FROM taken WHERE verdict_key IN (SELECT verdict_key FROM ({items}))
"""
COMPARED = f"SELECT verdict_key FROM generations WHERE {IN_REPLAY}"
_SAMPLED = """
SELECT i.verdict_key FROM ({items}) i LEFT JOIN taken t ON t.verdict_key = i.verdict_key
WHERE {free} ORDER BY {order} LIMIT $page OFFSET $offset
"""


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who looks, through what: a drawn sample by its id, else the whole store; `double` asks for second labels."""

    by: str
    sample: str | None = None
    double: bool = False

    @property
    def people(self) -> int:
        """How many people look at each output."""
        return 2 if self.double else 1


class Turns:
    """The outputs that a reviewer may look at, on one cursor. NotFound for an unknown sample."""

    def __init__(self, store: Store, cursor: Cursor, who: Reviewer, now: datetime) -> None:
        self._store, self._cursor, self._who = store, cursor, who
        self._values: dict[str, object] = {"by": who.by, "people": who.people, "live": now - HELD, "page": _PAGE}
        self._sample: str | None = None
        if who.sample is not None:
            self._values["sample"] = who.sample
            self._sample = samples.items(cursor, who.sample)

    def next(self) -> UUID | None:
        """What is held for the reviewer; else what comes first; at last what they skipped."""
        statements = self._of_sample(self._sample) if self._sample else self._of_store()
        return next((key for sql in statements for key in self._candidates(sql)), None)

    def counts(self) -> dict[str, int]:
        """Outputs in all, done, waiting for this reviewer, and held by others."""
        items = self._sample or COMPARED
        done, closed, elsewhere = self._ask(_TAKEN + _COUNTS.format(items=items))[0]
        total = (
            self._ask(f"SELECT count(DISTINCT verdict_key) FROM ({self._sample})")[0][0]
            if self._sample
            else outputs(self._cursor)
        )
        return {"waiting": total - closed, "total": total, "done": done, "elsewhere": elsewhere}

    def _of_store(self) -> Iterator[str]:
        yield _HELD
        if self._who.double:
            yield _SECOND
        yield _SUSPECTED
        self._values["first"] = self._ask(_TAKEN_GENERATIONS)[0][0] + 1
        yield from _REST_OF
        yield _SKIPPED

    def _of_sample(self, items: str) -> Iterator[str]:
        free, own = _FREE, "NOT t.mine AND t.others < $people AND t.assigned_at IS NOT NULL"
        order = "i.ord, i.verdict_key"
        first_seconds = f"coalesce(t.others, 0) DESC, {order}" if self._who.double else order
        for condition, by in (
            (f"{own} AND NOT t.skipped", "t.assigned_at"),
            (free, first_seconds),
            (f"{own} AND t.skipped", "t.assigned_at"),
        ):
            yield _TAKEN + _SAMPLED.format(items=items, free=condition, order=by)

    def _candidates(self, sql: str) -> Iterator[UUID]:
        """The keys that `sql` gives, page by page, without those of outputs that are not to be labelled."""
        offset = 0
        while rows := self._ask(sql, offset=offset):
            keys = [key for (key,) in rows]
            here = set(keys) if self._sample else {key for (key,) in self._ask(_HERE, keys=keys)}
            yield from (key for key in keys if key in here)
            offset += len(rows)

    def _ask(self, sql: str, **more: object) -> list[tuple[Any, ...]]:
        values = {**self._values, **more}
        # DuckDB refuses a value that a statement does not name
        return self._cursor.execute(sql, {name: values[name] for name in values if f"${name}" in sql}).fetchall()
