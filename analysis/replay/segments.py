"""Where two detectors agree and differ, over all outputs and by segment; each row with its n and its interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.replay.labelled import Labelled, Row, difference_json, labelled
from analysis.statistics.paired import Difference, paired_difference_from_sums
from ingest.store import Cursor

OF_OUTPUTS = ("model", "engine", "template")
OF_FINDINGS = ("family", "kind", "tier")
"""By what the candidate's finding says, else the baseline's: n is what either takes for a leak."""
KEPT = 100
"""Segments of one dimension in a report: those with the most differing outputs, then the largest."""

_OUTPUTS = """
SELECT run, {value} AS value, n, 0 AS agreed, 0 AS first, 0 AS second FROM counted UNION ALL
SELECT run, {value}, -1, 0, 0, 0 FROM said WHERE NOT ok UNION ALL
SELECT run, {value}, 0, (baseline AND candidate)::INTEGER, (baseline AND NOT candidate)::INTEGER,
    (candidate AND NOT baseline)::INTEGER FROM said WHERE ok AND (baseline OR candidate)
"""
_FINDINGS = """
SELECT run, {value} AS value, 1 AS n, (baseline AND candidate)::INTEGER AS agreed,
    (baseline AND NOT candidate)::INTEGER AS first, (candidate AND NOT baseline)::INTEGER AS second
FROM said WHERE ok AND (baseline OR candidate)
"""
_SUMMED = """
WITH rows AS ({rows}), runs AS (
    SELECT value, sum(n)::BIGINT AS n, sum(agreed)::BIGINT AS agreed, sum(first)::BIGINT AS first,
        sum(second)::BIGINT AS second, (sum(second) - sum(first))::BIGINT AS more
    FROM rows GROUP BY value, run
)
SELECT value, sum(n), sum(agreed), sum(first), sum(second), count(*) FILTER (n > 0), sum(n * n), sum(n * more),
    sum(more * more), count(*) OVER ()
FROM runs GROUP BY value ORDER BY sum(first + second) DESC, sum(n) DESC, value LIMIT {kept}
"""


@dataclass(frozen=True, slots=True)
class Cells:
    """Outputs by what both say; `difference` is the share that the candidate calls a leak less the baseline's."""

    n: int
    both: int
    baseline_only: int
    candidate_only: int
    difference: Difference

    @property
    def neither(self) -> int:
        """Outputs that none of the two takes for a leak."""
        return self.n - self.both - self.baseline_only - self.candidate_only


@dataclass(frozen=True, slots=True)
class Segment:
    """The outputs with one value of a dimension, and those of them that are labelled."""

    value: str | None
    cells: Cells
    labelled: Labelled

    def as_json(self) -> dict[str, Any]:
        """The cells, the difference and the labelled figures; `value` null where it is not known."""
        cells = self.cells
        return {
            "value": self.value,
            "n": cells.n,
            "both": cells.both,
            "baseline_only": cells.baseline_only,
            "candidate_only": cells.candidate_only,
            "neither": cells.neither,
            "difference": difference_json(cells.difference),
            "labelled": self.labelled.as_json(),
        }


@dataclass(frozen=True, slots=True)
class Dimension:
    """The segments of one dimension; `left_out` more are not kept."""

    segments: list[Segment]
    left_out: int

    def as_json(self) -> dict[str, Any]:
        """The rows, and how many are left out."""
        return {"rows": [each.as_json() for each in self.segments], "left_out": self.left_out}


def whole(cursor: Cursor) -> Cells:
    """All outputs on which no detector failed."""
    found = _cells(cursor, _OUTPUTS.format(value="''"))
    return found[0][1] if found else Cells(0, 0, 0, 0, paired_difference_from_sums(0, 0, 0, 0, 0, 0, 0))


def by_segment(cursor: Cursor, rows: Sequence[Row]) -> dict[str, Dimension]:
    """The segments of each dimension; `rows` are the labelled outputs."""
    asked = dict.fromkeys(OF_OUTPUTS, _OUTPUTS) | dict.fromkeys(OF_FINDINGS, _FINDINGS)
    return {name: _dimension(cursor, name, sql, rows) for name, sql in asked.items()}


def _dimension(cursor: Cursor, name: str, sql: str, rows: Sequence[Row]) -> Dimension:
    if name in OF_FINDINGS:
        rows = [row for row in rows if row.said("baseline") or row.said("candidate")]
    by_value: dict[str | None, list[Row]] = {}
    for row in rows:
        by_value.setdefault(getattr(row, name), []).append(row)
    found = _cells(cursor, sql.format(value=name))
    segments = [Segment(value, cells, labelled(by_value.get(value, []))) for value, cells, _ in found]
    return Dimension(segments, found[0][2] - len(found) if found else 0)


def _cells(cursor: Cursor, rows: str) -> list[tuple[str | None, Cells, int]]:
    """The cells of each value, and how many values there are."""
    found = cursor.execute(_SUMMED.format(rows=rows, kept=KEPT)).fetchall()
    return [(value, _of_sums(*map(int, figures)), all_of) for value, *figures, all_of in found]


def _of_sums(n: int, both: int, first: int, second: int, runs: int, nn: int, nd: int, dd: int) -> Cells:
    return Cells(n, both, first, second, paired_difference_from_sums(first, second, n, runs, nn, nd, dd))
