"""The days on which a line's leak rate changed, whatever its version labels say."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from analysis.drift.cells import GROUP, LINE, Part
from analysis.drift.mix import Shift, shifts
from analysis.statistics.change_points import Change, changes
from analysis.statistics.intervals import clustered_rate
from analysis.statistics.run_orders import Series
from ingest.store import Cursor

_DAYS = f"""
WITH per_run AS (
    SELECT {GROUP}, run_id, any_value(day) AS day, sum(n)::BIGINT AS n, sum(leaks)::BIGINT AS leaks
    FROM run_cells WHERE day IS NOT NULL GROUP BY {GROUP}, run_id
)
SELECT {GROUP}, day, n, leaks, count(*) FROM per_run
GROUP BY ALL ORDER BY {", ".join(f"{name} NULLS LAST" for name in LINE)}, tools_known, day, n, leaks
"""  # noqa: S608 - the names are ours
_OF_LINE = len(LINE) + 1
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """The first day of a new rate, between `earliest` and `latest`; the parts of the line before and after it, up to
    the next change. `also`: what else changed then."""

    line: dict[str, str | None]
    tools_known: bool
    at: date
    earliest: date
    latest: date
    before: Part
    after: Part
    p: float
    also: tuple[Shift, ...]

    @property
    def moved(self) -> float:
        """The rate after less the rate before."""
        return (self.after.rate.value or 0.0) - (self.before.rate.value or 0.0)

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON."""
        return {
            **self.line,
            "tools_known": self.tools_known,
            "at": self.at.isoformat(),
            "earliest": self.earliest.isoformat(),
            "latest": self.latest.isoformat(),
            "before": self.before.as_json(),
            "after": self.after.as_json(),
            "p": self.p,
            "also": [each.as_json() for each in self.also],
        }


def change_points(cursor: Cursor, progress: Callable[[int], object] = lambda _: None) -> tuple[ChangePoint, ...]:
    """Those of all lines of `run_cells`, the clearest first. `progress` is told of each line."""
    found: list[ChangePoint] = []
    rows = cursor.execute(_DAYS).fetchall()
    for done, (line, days) in enumerate(groupby(rows, lambda row: row[:_OF_LINE]), 1):
        found += _of_line(cursor, line, [*days])
        progress(done)
    return tuple(sorted(found, key=lambda each: (each.p, -abs(each.moved))))


def _of_line(cursor: Cursor, line: Row, rows: list[Row]) -> Iterator[ChangePoint]:
    days, n, hits, runs = zip(*(row[_OF_LINE:] for row in rows), strict=True)
    ordinals = np.array([day.toordinal() for day in days], np.int64)
    series = Series(ordinals, *(np.array(each, np.int64) for each in (n, hits, runs)))
    found = changes(series)
    edges = [0, *(each.row for each in found), len(rows)]
    parts = [_part(rows[first:last]) for first, last in pairwise(edges)]
    for change, (before, after) in zip(found, pairwise(parts), strict=True):
        yield _change_point(cursor, line, change, before, after)


def _part(rows: list[Row]) -> Part:
    runs = [(hits, n) for *_, n, hits, times in rows for _ in range(times)]
    return Part(clustered_rate(runs), len(runs), rows[0][_OF_LINE], rows[-1][_OF_LINE])


def _change_point(cursor: Cursor, line: Row, change: Change, before: Part, after: Part) -> ChangePoint:
    at, earliest, latest = (date.fromordinal(day) for day in (change.day, change.earliest, change.latest))
    return ChangePoint(
        line=dict(zip(LINE, line[:-1], strict=True)),
        tools_known=line[-1],
        at=at,
        earliest=earliest,
        latest=latest,
        before=before,
        after=after,
        p=change.p,
        also=shifts(cursor, line, before, after),
    )
