"""Drift: which line got worse, with which version or since when, and is it real?

A line is a series without its versions. Along each line versions are compared (`comparisons`), and its days are
scanned for a change whether or not a version tells of one (`changes`).
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from analysis.detectors import Detector
from analysis.drift.cells import LINE, collect, left_out
from analysis.drift.changes import ChangePoint, change_points
from analysis.drift.comparisons import Comparison, comparisons
from analysis.filters import Filters
from analysis.rollups import reading
from ingest.store import Store

__all__ = ["LINE", "Drift", "drift"]


@dataclass(frozen=True, slots=True)
class Drift:
    """What moved, by one detector. `left_out`: eligible generations that could not be placed in time, by reason."""

    detector: str
    lines: int
    comparisons: tuple[Comparison, ...]
    change_points: tuple[ChangePoint, ...]
    left_out: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON; `counts` are what a gate can ask for."""
        verdicts = Counter(each.verdict for each in self.comparisons)
        return {
            "detector": self.detector,
            "counts": {
                "lines": self.lines,
                "comparisons": len(self.comparisons),
                **{name: verdicts[name] for name in ("worse", "better", "no_change", "too_few")},
                "worse_for_sure": sum(each.worse_for_sure for each in self.comparisons),
                "change_points": len(self.change_points),
                "rises": sum(each.moved > 0 for each in self.change_points),
            },
            "left_out": self.left_out,
            "comparisons": [each.as_json() for each in self.comparisons],
            "change_points": [each.as_json() for each in self.change_points],
        }


def drift(
    store: Store,
    detector: Detector,
    today: date,
    filters: Filters | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> Drift:
    """By the verdicts of `detector`, which must have judged the whole history. Generations later than the day after
    `today` are left out: a clock that is wrong. `progress` is told how many lines were scanned."""
    asked = filters or Filters()
    with reading(store, detector, asked) as cursor:
        lines = collect(cursor, detector.id, asked, today)
        return Drift(
            detector=detector.id,
            lines=lines,
            comparisons=comparisons(cursor),
            change_points=change_points(cursor, progress),
            left_out=left_out(cursor, detector.id, asked, today),
        )
