"""What a rule looks at: each line's runs in time, from the first day that it watches.

Made from the temporary tables `run_cells` (`analysis.drift.cells`) and `fates` (`analysis.recovery.outcomes`). A run
counts on its first day; one without a time on none.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from operator import mul
from typing import Any

import numpy as np

from analysis.drift.cells import GROUP, LINE, Part
from analysis.filters import Filters
from analysis.statistics.run_shares import upper_share
from ingest.store import Cursor

Line = tuple[Any, ...]
"""The values of `LINE`, and whether the tools are known."""
Row = tuple[date, int, int, int]
"""A day, outputs of a run, hits among them, and how many runs of the day are like that."""
OF_LINE = len(LINE) + 1

_RUNS = f"""
CREATE OR REPLACE TEMP TABLE watched_runs AS
SELECT {GROUP}, run_id, any_value(day) AS day, sum(n)::BIGINT AS n, sum(leaks)::BIGINT AS hits
FROM run_cells WHERE day IS NOT NULL AND day >= coalesce($since::DATE, day) GROUP BY {GROUP}, run_id
"""  # noqa: S608 - the names are ours
_ROUNDS = f"""
CREATE OR REPLACE TEMP TABLE watched_rounds AS
WITH rounds AS (
    SELECT {", ".join(f"g.{name}" for name in LINE)}, g.tools_known, g.run_id, count(*) AS n,
        count(*) FILTER (f.recovered IS NOT TRUE) AS hits
    FROM facts g JOIN fates f ON f.key = g.key
    JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key AND v.kind <> 'printed_call'
    WHERE g.eligible AND {{condition}} GROUP BY ALL
)
SELECT rounds.*, w.day FROM rounds JOIN watched_runs w ON {{same}}
"""  # noqa: S608 - the names are ours
_DAYS = "SELECT {line}, day, n, hits, count(*) FROM {table} GROUP BY ALL ORDER BY {order}, day, n, hits"
_ORDER = ", ".join(f"{name} NULLS FIRST" for name in (*LINE, "tools_known"))
_FIRSTS = f"SELECT {GROUP}, min(day) FROM watched_runs GROUP BY {GROUP}"  # noqa: S608 - the names are ours


@dataclass(frozen=True, slots=True)
class Watch:
    """What a rule is evaluated on: `run_cells` made for `filters`, and `fates`, by the verdicts of `detector_id`."""

    cursor: Cursor
    detector_id: str
    filters: Filters


@dataclass(frozen=True, slots=True)
class History:
    """A line since its first watched day, whether or not that has a row: `rows` in order of their days."""

    line: Line
    first: date
    rows: tuple[Row, ...]

    def before(self, days: int) -> "History":
        """The first `days` days."""
        end = self.first + timedelta(days)
        return History(self.line, self.first, tuple(row for row in self.rows if row[0] < end))

    def since(self, day: date) -> "History":
        """What stands on this day and later."""
        return History(self.line, day, tuple(row for row in self.rows if row[0] >= day))

    def after(self, days: int) -> "History":
        """All but the first `days` days."""
        return self.since(self.first + timedelta(days))

    @property
    def runs(self) -> int:
        """Their number."""
        return sum(times for *_, times in self.rows)

    @property
    def part(self) -> Part:
        """The rate of all outputs, with its interval."""
        ends = (self.rows[0][0], self.rows[-1][0]) if self.rows else (None, None)
        return Part.of((*self._sums(), *ends))

    def _sums(self) -> tuple[int, ...]:
        """Hits, outputs, runs, and the sums of n*n, n*hits and hits*hits."""
        each = [(hits, n, 1, n * n, n * hits, hits * hits) for _, n, hits, _ in self.rows]
        times = [times for *_, times in self.rows]
        return tuple(sum(map(mul, column, times)) for column in zip(*each, strict=True)) or (0,) * 6

    @property
    def usual(self) -> float:
        """The most that the mean share of its runs is, at 99.5 %."""
        n, hits, times = (np.array(column, np.int64) for column in list(zip(*self.rows, strict=True))[1:])
        return upper_share(n, hits, times)

    def shares(self) -> Iterator[tuple[date, "np.ndarray[Any, np.dtype[np.float64]]"]]:
        """Each day with the shares of its runs."""
        for day, rows in groupby(self.rows, lambda row: row[0]):
            n, hits, times = (np.array(column, np.int64) for column in list(zip(*rows, strict=True))[1:])
            yield day, np.repeat(hits / n, times)


def leaks(watch: Watch, since: date | None) -> Iterator[History]:
    """Of every line, its runs with their outputs and leaks. Makes the temporary table `watched_runs`: the line, the
    run, its day, n and hits."""
    watch.cursor.execute(_RUNS, {"since": since})
    return _histories(watch.cursor, "watched_runs")


def unrecovered(watch: Watch, since: date | None) -> Iterator[History]:
    """Of every line, its runs that leaked, with their leaked rounds and those that were not recovered."""
    watch.cursor.execute(_RUNS, {"since": since})
    condition, parameters = watch.filters.sql()
    sql = _ROUNDS.format(condition=condition, same=same("rounds", "w"))
    watch.cursor.execute(sql, {"detector": watch.detector_id, **parameters})
    return _histories(watch.cursor, "watched_rounds")


def _histories(cursor: Cursor, table: str) -> Iterator[History]:
    """Of every line of `watched_runs`, what `table` has of it."""
    firsts = {row[:OF_LINE]: row[OF_LINE] for row in cursor.execute(_FIRSTS).fetchall()}
    days = cursor.execute(_DAYS.format(line=GROUP, table=table, order=_ORDER)).fetchall()
    rows = {line: [*found] for line, found in groupby(days, lambda row: row[:OF_LINE])}
    for line in sorted(firsts, key=in_order):
        yield History(line, firsts[line], tuple(row[OF_LINE:] for row in rows.get(line, ())))


def same(left: str, right: str) -> str:
    """SQL that is true where two tables speak of one run on one line."""
    return " AND ".join(
        f"{left}.{name} IS NOT DISTINCT FROM {right}.{name}" for name in (*LINE, "tools_known", "run_id")
    )


def in_order(values: Iterable[object]) -> list[tuple[bool, str]]:
    """A key that sorts values of which some are None."""
    return [(value is None, str(value)) for value in values]
