"""From leak to outcome: of the rounds that began with a leak, which were retried, and how each part ended.

A retried round ends as its last attempt did; one that nobody retried as its leak did, by how the turn went on.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from analysis.statistics.estimates import Pool, share
from ingest.store import Cursor

ENDS = ("structured", "answered", "leaked_again", "passed_off", "errored", "cancelled", "unknown")

_ROUNDS = """
WITH rounds AS (
    SELECT r.group_no, r.run_id, bool_or(o.leak AND coalesce(o.attempt, 0) = 0) AS began,
        coalesce(bool_or(o.attempt > 0), false) AS retried,
        arg_min(
            {'leak': o.leak, 'as_follow_up': o.as_follow_up, 'outcome': o.outcome}, coalesce(o.attempt_from_last, 1)
        ) AS last
    FROM leaked_rounds r JOIN wanted w ON w.group_no = r.group_no JOIN outcomes o ON o.key = w.key GROUP BY ALL
)
SELECT run_id, retried, CASE WHEN NOT last.leak THEN last.as_follow_up
    WHEN retried AND last.outcome <> 'passed_off' THEN 'leaked_again' ELSE last.outcome END AS ended, count(*)
FROM rounds WHERE began GROUP BY ALL ORDER BY run_id, retried, ended
"""
Row = tuple[str, bool, str, int]


@dataclass(slots=True)
class Funnel:
    """Leaked rounds, by whether they were retried, and by how they ended."""

    retried: Pool[bool] = field(default_factory=Pool)
    ends: dict[bool, Pool[str]] = field(default_factory=lambda: {True: Pool(), False: Pool()})

    def add(self, cursor: Cursor) -> None:
        """The leaked rounds in the temporary tables that `stored_turns` leaves behind: those that it was asked for."""
        self.take(cursor.execute(_ROUNDS).fetchall())

    def take(self, rows: Iterable[Row]) -> None:
        """Counts of rounds that ended alike; those of a run must follow one another."""
        for run_id, retried, ended, n in rows:
            for _ in range(n):
                self.retried.add(run_id, retried)
                self.ends[retried].add(run_id, ended)

    def as_json(self) -> dict[str, Any]:
        """`retried` of the `rounds`; every end of those that were retried, and of the others, each with its n."""
        return {
            "rounds": self.retried.counts.total(),
            "retried": _counted(self.retried, True),
            "after_retry": _ends(self.ends[True]),
            "without_retry": _ends(self.ends[False]),
        }


def _ends(pool: Pool[str]) -> list[dict[str, Any]]:
    return [{**_counted(pool, end), "end": end} for end in ENDS]


def _counted(pool: Pool[Any], category: object) -> dict[str, Any]:
    counts: Counter[Any] = pool.counts
    n, hits = counts.total(), counts[category]
    if not n:
        return {"n": 0, "hits": 0, "rate": None, "low": None, "high": None}
    found = share(hits / n, {each: float(each == category) for each in counts}, pool)
    return {"n": n, "hits": hits, "rate": found.value, "low": found.low, "high": found.high}
