"""Two detectors on the same stored outputs: where they agree, where they differ, and who is right where labels tell."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from analysis.detectors import Detector, Tier
from analysis.filters import Filters
from analysis.judging import unseen
from analysis.labels.coverage import CELLS, STATES_OF_SAID, of_replay
from analysis.matching import require_match
from analysis.registry import judged
from analysis.replay.disagreements import KEPT, Disagreement, disagreements
from analysis.replay.labelled import Judged, Labelled, difference_json, labelled, labelled_rows
from analysis.replay.operating_points import OperatingPoint, operating_points
from analysis.replay.passages import passages
from analysis.replay.policy import Consequences, consequences
from analysis.replay.population import Population, declare
from analysis.replay.segments import Cells, Dimension, by_segment, whole
from analysis.replay.shapes import Folded, Folding, with_passages
from analysis.sampling.estimates import estimates
from ingest.store import Cursor, Store, atomic, one

__all__ = ["KEPT", "Disagreement", "Judged", "Labelled", "Replay", "replay"]

Progress = Callable[[int], object]
AROUND, MARKED = 160, 400
"""Code points around and inside a mark in the examples of a shape."""
_FAILED = "SELECT count(*) FILTER (baseline_failed), count(*) FILTER (candidate_failed) FROM said"


@dataclass(frozen=True, slots=True)
class Replay:
    """The report. Outputs on which a detector failed are errors and stand in none of the four cells.

    `disagreements` are the first ones, in the order in which their outputs arrived; `shapes` are of all of them.
    """

    baseline: str
    candidate: str
    population: Population
    cells: Cells
    baseline_errors: int
    candidate_errors: int
    labelled: Labelled
    coverage: dict[str, Any]
    segments: dict[str, Dimension]
    policy: Consequences
    operating_points: dict[str, dict[Tier, OperatingPoint]]
    shapes: Folded
    disagreements: list[Disagreement]
    seconds: float
    estimates: dict[str, Any] | None = None
    """None where no sample was drawn for these two."""

    @property
    def differing(self) -> int:
        """How many outputs exactly one of the two takes for a leak."""
        return self.baseline_only + self.candidate_only

    @property
    def generations(self) -> int:
        """How many outputs were compared."""
        return self.population.generations

    @property
    def left_out(self) -> dict[str, int]:
        """How many were not, by reason."""
        return self.population.left_out

    @property
    def both(self) -> int:
        """How many both take for a leak."""
        return self.cells.both

    @property
    def baseline_only(self) -> int:
        """How many the baseline alone takes for a leak."""
        return self.cells.baseline_only

    @property
    def candidate_only(self) -> int:
        """How many the candidate alone takes for a leak."""
        return self.cells.candidate_only

    @property
    def neither(self) -> int:
        """How many none of the two takes for a leak."""
        return self.cells.neither

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON."""
        return {
            "baseline": self.baseline,
            "candidate": self.candidate,
            "population": self.population.as_json(),
            "both": self.both,
            "baseline_only": self.baseline_only,
            "candidate_only": self.candidate_only,
            "neither": self.neither,
            "errors": {"baseline": self.baseline_errors, "candidate": self.candidate_errors},
            "difference": difference_json(self.cells.difference),
            "labelled": {**self.labelled.as_json(), "coverage": self.coverage},
            "estimates": self.estimates,
            "segments": {name: dimension.as_json() for name, dimension in self.segments.items()},
            "policy": self.policy.as_json(),
            "operating_points": {
                side: {tier: point.as_json() for tier, point in points.items()}
                for side, points in self.operating_points.items()
            },
            "shapes": self.shapes.as_json(),
            "disagreements": [each.as_json() for each in self.disagreements],
            "disagreements_left_out": self.differing - len(self.disagreements),
            "seconds": self.seconds,
        }


def replay(
    store: Store,
    baseline: Detector,
    candidate: Detector,
    filters: Filters | None = None,
    *,
    recompute: bool = False,
    kept: int = KEPT,
    started: float | None = None,
    progress: Progress = lambda _: None,
) -> Replay:
    """Run both detectors over the stored outputs they have not seen, and compare them.

    `recompute` judges all anew; of the disagreements the first `kept` are told. `started` is the
    `time.perf_counter()` from which `seconds` count. NotFound, before any work, for filters that match nothing.
    """
    started = time.perf_counter() if started is None else started
    require_match(store, filters or Filters())
    with _judged_by_both(store, {baseline.id: baseline, candidate.id: candidate}, recompute, progress) as cursor:
        population = declare(cursor, baseline.id, candidate.id, filters or Filters())
        baseline_errors, candidate_errors = one(cursor, _FAILED)
        rows = labelled_rows(cursor)
        differing = disagreements(cursor, baseline.id, candidate.id)
        cells = whole(cursor)
        shapes, told = _folded(differing, (*baseline.triggers, *candidate.triggers), kept)
        return Replay(
            baseline=baseline.id,
            candidate=candidate.id,
            population=population,
            cells=cells,
            baseline_errors=baseline_errors,
            candidate_errors=candidate_errors,
            labelled=labelled(rows),
            coverage=_coverage(cursor, cells),
            estimates=estimates(cursor, baseline.id, candidate.id, filters, _four(cells)),
            segments=by_segment(cursor, rows),
            policy=consequences(cursor),
            operating_points=operating_points(cursor, rows),
            shapes=_illustrated(cursor, shapes),
            disagreements=told,
            seconds=time.perf_counter() - started,
        )


@contextmanager
def _judged_by_both(store: Store, pair: dict[str, Detector], recompute: bool, progress: Progress) -> Iterator[Cursor]:
    """The store at a moment at which both have judged all of it: what came while they judged is judged too."""
    while True:
        for each in pair.values():
            judged(store, each, progress, anew=recompute)
        recompute = False
        with store.cursor() as cursor, atomic(cursor):
            if not any(unseen(cursor, each) for each in pair.values()):
                yield cursor
                return


def _coverage(cursor: Cursor, cells: Cells) -> dict[str, Any]:
    """Of how many outputs the labels tell, by cell and side."""
    return of_replay(_four(cells), cursor.execute(STATES_OF_SAID).fetchall())


def _four(cells: Cells) -> dict[str, int]:
    """The four cells by their names."""
    return {name: getattr(cells, name) for name in CELLS.values()}


def _folded(
    differing: Iterable[Disagreement], literals: tuple[str, ...], kept: int
) -> tuple[Folded, list[Disagreement]]:
    folding, told = Folding(literals), list[Disagreement]()
    for each in differing:
        folding.take(each)
        if len(told) < kept:
            told.append(each)
    return folding.folded(), told


def _illustrated(cursor: Cursor, shapes: Folded) -> Folded:
    """The examples of `shapes` with their texts."""
    examples = [each.as_json() for shape in shapes.shapes for each in shape.examples]
    return with_passages(shapes, passages(cursor, examples, around=AROUND, most=MARKED))
