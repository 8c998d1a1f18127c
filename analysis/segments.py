"""Leak rates of any two segments against each other: the cells of a heat map, each with its n and its interval.

A segment is a series field, what a request was like (the number of tools offered, the size of the prompt), or what a
leak was like (its family, kind, channel, the tool it calls). Only leaks are like something: a cell of such a segment
has the leaks of that sort, of all that is eligible beside it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.request_sizes import SIZES, STEPS, TABLE, position
from analysis.rollups import answers, up_to_date
from analysis.rollups.segments import cells
from analysis.rollups.sizes import LIKE as OF_LEAKS
from analysis.statistics.intervals import Rate, clustered_rate_from_sums
from analysis.version_order import VERSIONS, natural
from ingest.errors import UsageError
from ingest.records import SERIES
from ingest.retention.prunings import COVERED, JUDGED
from ingest.store import Store

SEGMENTS = (*SERIES, *SIZES, *OF_LEAKS)
MOST = 40
"""Values of a segment that are given, those with most eligible generations first."""

_CELLS = f"""
WITH chosen AS (
    SELECT {{row}} AS of_row, {{column}} AS of_column, g.run_id, coalesce(
        v.tier IN ('certain', 'likely') AND v.kind <> 'printed_call', false) AS leak,
        {{leak_row}} AS leak_row, {{leak_column}} AS leak_column
    FROM facts g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
    LEFT JOIN {{sizes}}
    WHERE g.eligible AND g.tools_known AND {COVERED} AND {JUDGED} AND {{condition}}
), per_run AS (
    SELECT of_row, of_column, run_id, count(*) AS n FROM chosen GROUP BY ALL
), leaking_runs AS (
    SELECT of_row, of_column, leak_row, leak_column, run_id, count(*) AS leaks FROM chosen WHERE leak GROUP BY ALL
), eligible AS (
    SELECT of_row, of_column, sum(n) AS n, count(*) AS runs, sum(n * n) AS nn FROM per_run GROUP BY ALL
), leaking AS (
    SELECT of_row, of_column, leak_row, leak_column, sum(leaks) AS leaks, sum(n * leaks) AS ny,
        sum(leaks * leaks) AS yy
    FROM leaking_runs JOIN per_run USING (of_row, of_column, run_id) GROUP BY ALL
)
SELECT nullif(of_row || coalesce(leak_row, ''), ''), nullif(of_column || coalesce(leak_column, ''), ''),
    coalesce(leaks, 0), n, runs, nn, coalesce(ny, 0), coalesce(yy, 0)
FROM eligible {{join}} JOIN leaking USING (of_row, of_column)
"""  # noqa: S608 - our own names; the condition binds its values


@dataclass(frozen=True, slots=True)
class Cell:
    """One row's value against one column's; None is "not told"."""

    row: str | None
    column: str | None
    rate: Rate
    runs: int

    def as_json(self) -> dict[str, Any]:
        """The keys of the JSON."""
        return {
            "row": self.row,
            "column": self.column,
            "leaks": self.rate.hits,
            "eligible": self.rate.n,
            "leak_rate": self.rate.value,
            "leak_low": self.rate.low,
            "leak_high": self.rate.high,
            "runs": self.runs,
        }


@dataclass(frozen=True, slots=True)
class Matrix:
    """The cells that there are, of the values in `rows` and `columns`; of the others only how many there are."""

    detector: str
    row: str
    column: str
    rows: tuple[str | None, ...]
    columns: tuple[str | None, ...]
    cells: tuple[Cell, ...]
    left_out: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        """The keys of the JSON."""
        return {
            "detector": self.detector,
            "row": self.row,
            "column": self.column,
            "rows": list(self.rows),
            "columns": list(self.columns),
            "cells": [each.as_json() for each in self.cells],
            "left_out": self.left_out,
        }


def matrix(store: Store, detector: Detector, row: str, column: str, filters: Filters | None = None) -> Matrix:
    """The leak rates of the segment `row` against `column`, of generations whose tools are known. UsageError for a
    segment that is none. `detector` must have judged the history."""
    _check(row, column)
    asked = filters or Filters()
    found = _rolled_up if answers(asked) else _counted
    all_ = [_cell(*each) for each in found(store, detector, row, column, asked)]
    rows, columns = (
        _values(row, ((each.row, each) for each in all_)),
        _values(column, ((each.column, each) for each in all_)),
    )
    kept = [each for each in all_ if each.row in rows[:MOST] and each.column in columns[:MOST]]
    left_out = {"rows": len(rows[MOST:]), "columns": len(columns[MOST:])}
    return Matrix(detector.id, row, column, rows[:MOST], columns[:MOST], tuple(kept), left_out)


def _counted(store: Store, detector: Detector, row: str, column: str, filters: Filters) -> list[tuple[Any, ...]]:
    condition, parameters = filters.sql()
    sql = _CELLS.format(
        row=_eligible(row), column=_eligible(column), leak_row=_leak(row), leak_column=_leak(column), sizes=TABLE,
        condition=condition, join="" if {row, column} & {*OF_LEAKS} else "LEFT",
    )  # fmt: skip
    with store.cursor() as cursor:
        return cursor.execute(sql, {"detector": detector.id, **parameters}).fetchall()


def _rolled_up(store: Store, detector: Detector, row: str, column: str, filters: Filters) -> list[tuple[Any, ...]]:
    asked = cells(row, column, filters)
    with up_to_date(store, detector) as cursor:
        return cursor.execute(asked.sql, asked.parameters).fetchall()


def _check(row: str, column: str) -> None:
    for name in (row, column):
        if name not in SEGMENTS:
            raise UsageError(f"no segment {name!r}; there are {', '.join(SEGMENTS)}")
    if row == column:
        raise UsageError(f"{row} against itself says nothing; name two segments")


def _eligible(name: str) -> str:
    """Of every generation; of a segment of leaks all are alike."""
    if name in OF_LEAKS:
        return "''"
    return f"coalesce({SIZES.get(name, f'g.{name}')}, '')"


def _leak(name: str) -> str:
    return f"coalesce(v.{name}, '')" if name in OF_LEAKS else "''"


def _cell(row: str | None, column: str | None, leaks: int, n: int, runs: int, *sums: int) -> Cell:
    nn, ny, yy = map(int, sums)
    return Cell(row, column, clustered_rate_from_sums(int(leaks), int(n), int(runs), nn, ny, yy), int(runs))


def _values(name: str, cells: Iterable[tuple[str | None, Cell]]) -> tuple[str | None, ...]:
    """The largest first; steps and versions in their order; what is not told last."""
    sizes: dict[str | None, int] = {}
    for value, cell in cells:
        sizes[value] = sizes.get(value, 0) + (cell.rate.hits if name in OF_LEAKS else cell.rate.n)

    def order(value: str | None) -> tuple[Any, ...]:
        if name in STEPS and value:
            return False, position(name, value)
        if name in VERSIONS:
            return natural(value)
        return value is None, -sizes[value], value or ""

    return tuple(sorted(sizes, key=order))
