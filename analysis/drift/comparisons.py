"""Versions along a line, one against the next: what each change of version did to the leak rate.

Versions stand in the order in which they were first seen, and each is compared as a whole with the one before it. What
tells no version is no version: it is compared with none. All comparisons are asked at once, so each has a q.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby, pairwise
from typing import Any, Literal

from analysis.drift.cells import GROUP, LINE, SUMS, Part
from analysis.statistics.differences import Difference, difference
from analysis.statistics.intervals import FEWEST_RUNS
from analysis.statistics.multiplicity import benjamini_hochberg, holm
from analysis.version_order import VERSIONS, natural
from ingest.store import Cursor

Verdict = Literal["worse", "better", "no_change", "too_few"]
SIGNIFICANT = 0.05
"""Of what is called worse or better, the share that is by chance alone (q); for `worse_for_sure`, of all (Holm)."""
WIDE = 0.10
"""An interval of the difference over more than ten points says too little to speak of no change."""

_PARTS = """
WITH per_run AS (
    SELECT {group}, {dimension} AS version, run_id, min(day) AS day, sum(n) AS n, sum(leaks) AS leaks, {of_run}
    FROM run_cells WHERE {dimension} IS NOT NULL GROUP BY {group}, {dimension}, run_id
)
SELECT {group}, version, {sums}, [{of_version}] FROM per_run GROUP BY {group}, version
"""
Row = tuple[Any, ...]
_OF_LINE = len(LINE) + 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """A version of a line against the one before it. `also`: other dimensions that changed with it, so that it cannot
    be told which of them did it. `overlap`: days on which both were seen."""

    line: dict[str, str | None]
    tools_known: bool
    dimension: str
    before_version: str
    after_version: str
    before: Part
    after: Part
    also: tuple[str, ...]
    overlap: bool
    difference: Difference
    q: float | None = None
    p_holm: float | None = None

    @property
    def comparable(self) -> bool:
        """Fewer runs than this do not tell how much runs differ by themselves."""
        return min(self.before.runs, self.after.runs) >= FEWEST_RUNS

    @property
    def verdict(self) -> Verdict:
        """What can be said of it."""
        found = self.difference
        if self.q is None or found.value is None or found.low is None or found.high is None:
            return "too_few"
        if self.q <= SIGNIFICANT:
            return "worse" if found.value > 0 else "better"
        return "too_few" if found.high - found.low > WIDE else "no_change"

    @property
    def worse_for_sure(self) -> bool:
        """Worse, and with 95 % none of those called so is by chance."""
        return self.verdict == "worse" and self.p_holm is not None and self.p_holm <= SIGNIFICANT

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON."""
        return {
            **self.line,
            "tools_known": self.tools_known,
            "dimension": self.dimension,
            "from": self.before_version,
            "to": self.after_version,
            "before": self.before.as_json(),
            "after": self.after.as_json(),
            "difference": self.difference.value,
            "low": self.difference.low,
            "high": self.difference.high,
            "p": self.difference.p,
            "q": self.q,
            "p_holm": self.p_holm,
            "verdict": self.verdict,
            "also": list(self.also),
            "overlap": self.overlap,
        }


def comparisons(cursor: Cursor) -> tuple[Comparison, ...]:
    """All of `run_cells`, those with the strongest evidence first and those that say too little last."""
    found = [each for dimension in VERSIONS for each in _along(cursor, dimension)]
    judged = [*_adjusted(found)]
    return tuple(sorted(judged, key=lambda each: (each.q is None, each.q or 0.0, each.difference.p or 1.0)))


def _along(cursor: Cursor, dimension: str) -> Iterator[Comparison]:
    others = [name for name in VERSIONS if name != dimension]
    sql = _PARTS.format(
        group=GROUP,
        dimension=dimension,
        sums=SUMS,
        of_run=", ".join(f"list(DISTINCT coalesce({name}, '')) AS {name}" for name in others),
        of_version=", ".join(f"list_sort(list_distinct(flatten(list({name}))))" for name in others),
    )
    rows = sorted(cursor.execute(sql).fetchall(), key=_in_order)
    for line, versions in groupby(rows, lambda row: row[:_OF_LINE]):
        for before, after in pairwise(versions):
            yield _comparison(line, dimension, others, before, after)


def _in_order(row: Row) -> tuple[Any, ...]:
    """By line, and along it by the first day, then by number: 0.9 before 0.10."""
    line, version, first_day = row[:_OF_LINE], row[_OF_LINE], row[-3]
    return *((each is None, each or "") for each in line[:-1]), line[-1], first_day or date.max, natural(version)


def _comparison(line: Row, dimension: str, others: list[str], before: Row, after: Row) -> Comparison:
    earlier, later = (Part.of(row[_OF_LINE + 1 : -1]) for row in (before, after))
    changed = tuple(name for name, old, new in zip(others, before[-1], after[-1], strict=True) if old != new)
    known = earlier.last_day and later.first_day
    return Comparison(
        line=dict(zip(LINE, line[:-1], strict=True)),
        tools_known=line[-1],
        dimension=dimension,
        before_version=before[_OF_LINE],
        after_version=after[_OF_LINE],
        before=earlier,
        after=later,
        also=changed,
        overlap=bool(known and later.first_day and earlier.last_day and later.first_day <= earlier.last_day),
        difference=difference(earlier.rate, later.rate),
    )


def _adjusted(found: Iterable[Comparison]) -> Iterator[Comparison]:
    """With q and Holm's p over all that can be compared."""
    every = [*found]
    asked = [each for each in every if each.comparable]
    p_values = [each.difference.p or 0.0 for each in asked]
    for each, q, p in zip(asked, benjamini_hochberg(p_values), holm(p_values), strict=True):
        yield replace(each, q=q, p_holm=p)
    yield from (each for each in every if not each.comparable)
