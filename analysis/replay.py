"""Two detectors on the same stored outputs: where they agree, where they differ, and who is right where labels tell."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.registry import judged
from analysis.sampling.estimates import estimates
from analysis.statistics.intervals import Rate, clustered_rate
from analysis.statistics.paired import mcnemar_exact
from ingest.store import Cursor, Store, atomic, one

Progress = Callable[[int], object]

KEPT = 50_000
"""Disagreements that a report holds: what fits into memory beside all else. The cells count every one."""

_LEFT_OUT = """
SELECT CASE
    WHEN NOT ({condition}) THEN 'filtered'
    WHEN coalesce(role, 'agent') NOT IN ('agent', 'subagent') THEN 'other_role'
    WHEN reply = 'empty' THEN 'no_output' END AS reason, count(*) AS n
FROM facts GROUP BY reason HAVING reason IS NOT NULL ORDER BY reason
"""
_COMPARED = """
WITH compared AS (
    SELECT g.generation_id, g.run_id, g.verdict_key, g.upload_id, g.line, g.position,
        coalesce(b.tier IN ('certain', 'likely'), false) AS baseline,
        coalesce(c.tier IN ('certain', 'likely'), false) AS candidate,
        b.error AS baseline_error, c.error AS candidate_error, t.leak AS truth
    FROM (FROM facts WHERE ({condition}) AND coalesce(role, 'agent') IN ('agent', 'subagent') AND reply <> 'empty') g
    LEFT JOIN verdicts b ON b.detector = $baseline AND b.verdict_key = g.verdict_key
    LEFT JOIN verdicts c ON c.detector = $candidate AND c.verdict_key = g.verdict_key
    LEFT JOIN truth t ON t.verdict_key = g.verdict_key
)
"""
"""Not a table: a store of ten million outputs is read again faster than it is written down."""
_CELLS = """
SELECT count(*), count(*) FILTER (ok AND baseline AND candidate), count(*) FILTER (ok AND baseline AND NOT candidate),
    count(*) FILTER (ok AND NOT baseline AND candidate), count(*) FILTER (ok AND NOT baseline AND NOT candidate),
    count(baseline_error), count(candidate_error)
FROM (SELECT *, baseline_error IS NULL AND candidate_error IS NULL AS ok FROM compared)
"""
_LABELLED = """
SELECT run_id, truth, baseline, candidate, count(*) AS n FROM compared
WHERE truth IS NOT NULL AND baseline_error IS NULL AND candidate_error IS NULL GROUP BY ALL
"""
_DIFFERENCES = """
SELECT d.generation_id, d.run_id, d.truth, b.*, c.* FROM compared d
LEFT JOIN (SELECT verdict_key, {columns} FROM verdicts WHERE detector = $baseline) b ON b.verdict_key = d.verdict_key
LEFT JOIN (SELECT verdict_key, {columns} FROM verdicts WHERE detector = $candidate) c ON c.verdict_key = d.verdict_key
WHERE d.baseline <> d.candidate AND d.baseline_error IS NULL AND d.candidate_error IS NULL
ORDER BY d.upload_id, d.line, d.position LIMIT {kept}
"""
_COLUMNS = ("kind", "family", "tier", "tool", "channel", "start_at", "end_at", "markup", "reason", "calls")


@dataclass(frozen=True, slots=True)
class Judged:
    """One detector against the labels."""

    tp: int
    fp: int
    fn: int
    tn: int
    precision: Rate
    recall: Rate

    def as_json(self) -> dict[str, Any]:
        """Counts, and precision and recall with their intervals."""
        return {
            "tp": self.tp,
            "fp": self.fp,
            "fn": self.fn,
            "tn": self.tn,
            "precision": self.precision.value,
            "precision_low": self.precision.low,
            "precision_high": self.precision.high,
            "recall": self.recall.value,
            "recall_low": self.recall.low,
            "recall_high": self.recall.high,
        }


@dataclass(frozen=True, slots=True)
class Labelled:
    """Both detectors on the labelled outputs; the exact McNemar p is None without labels."""

    n: int
    baseline: Judged
    candidate: Judged
    new_tp: int
    new_fp: int
    lost_tp: int
    lost_fp: int
    mcnemar_p: float | None

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON."""
        return {
            "n": self.n,
            "baseline": self.baseline.as_json(),
            "candidate": self.candidate.as_json(),
            "new_tp": self.new_tp,
            "new_fp": self.new_fp,
            "lost_tp": self.lost_tp,
            "lost_fp": self.lost_fp,
            "mcnemar_p": self.mcnemar_p,
        }


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One generation that exactly one of the two takes for a leak; `truth` is None without a label."""

    generation_id: str
    run_id: str
    truth: bool | None
    baseline: dict[str, Any] | None
    candidate: dict[str, Any] | None

    def as_json(self) -> dict[str, Any]:
        """Both verdicts, null where the detector found nothing."""
        return {
            "generation_id": self.generation_id,
            "run_id": self.run_id,
            "truth": self.truth,
            "baseline": self.baseline,
            "candidate": self.candidate,
        }


@dataclass(frozen=True, slots=True)
class Replay:
    """The report. Outputs on which a detector failed are errors and stand in none of the four cells.
    `estimates` are None where no sample was drawn for these two.

    `disagreements` are the first ones, in the order in which their outputs arrived.
    """

    baseline: str
    candidate: str
    generations: int
    left_out: dict[str, int]
    both: int
    baseline_only: int
    candidate_only: int
    neither: int
    baseline_errors: int
    candidate_errors: int
    labelled: Labelled
    disagreements: list[Disagreement]
    seconds: float
    estimates: dict[str, Any] | None = None

    @property
    def differing(self) -> int:
        """How many outputs exactly one of the two takes for a leak."""
        return self.baseline_only + self.candidate_only

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON."""
        return {
            "baseline": self.baseline,
            "candidate": self.candidate,
            "population": {"generations": self.generations, "left_out": self.left_out},
            "both": self.both,
            "baseline_only": self.baseline_only,
            "candidate_only": self.candidate_only,
            "neither": self.neither,
            "errors": {"baseline": self.baseline_errors, "candidate": self.candidate_errors},
            "labelled": self.labelled.as_json(),
            "estimates": self.estimates,
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
    `time.perf_counter()` from which `seconds` count.
    """
    started = time.perf_counter() if started is None else started
    for each in {baseline.id: baseline, candidate.id: candidate}.values():
        judged(store, each, progress, anew=recompute)
    condition, parameters = (filters or Filters()).sql()
    ids = {"baseline": baseline.id, "candidate": candidate.id}
    compared, given = _COMPARED.format(condition=condition), {**ids, **parameters}
    with store.cursor() as cursor, atomic(cursor):
        left_out = dict(cursor.execute(_LEFT_OUT.format(condition=condition), parameters).fetchall())
        cells = _cells(one(cursor, compared + _CELLS, given))
        labelled = _labelled(cursor.execute(compared + _LABELLED, given).fetchall())
        estimated = estimates(cursor, baseline.id, candidate.id, filters, cells)
        differences = _DIFFERENCES.format(columns=", ".join(_COLUMNS), kept=kept)
        disagreements = list(_disagreements(cursor.execute(compared + differences, given)))
    return Replay(
        baseline=baseline.id,
        candidate=candidate.id,
        left_out=left_out,
        **cells,
        labelled=labelled,
        estimates=estimated,
        disagreements=disagreements,
        seconds=time.perf_counter() - started,
    )


def _cells(row: tuple[int, ...]) -> dict[str, int]:
    names = (
        "generations", "both", "baseline_only", "candidate_only", "neither", "baseline_errors", "candidate_errors",
    )  # fmt: skip
    return dict(zip(names, row, strict=True))


def _labelled(rows: list[tuple[str, bool, bool, bool, int]]) -> Labelled:
    """From rows of (run, truth, baseline, candidate, n)."""

    def total(truth: bool, baseline: bool, candidate: bool) -> int:
        return sum(n for _, *cell, n in rows if cell == [truth, baseline, candidate])

    new_tp, lost_tp = total(True, False, True), total(True, True, False)
    new_fp, lost_fp = total(False, False, True), total(False, True, False)
    n = sum(row[-1] for row in rows)
    return Labelled(
        n=n,
        baseline=_judged([(run, truth, said, n) for run, truth, said, _, n in rows]),
        candidate=_judged([(run, truth, said, n) for run, truth, _, said, n in rows]),
        new_tp=new_tp,
        new_fp=new_fp,
        lost_tp=lost_tp,
        lost_fp=lost_fp,
        mcnemar_p=mcnemar_exact(lost_tp + new_fp, new_tp + lost_fp) if n else None,
    )


def _judged(rows: list[tuple[str, bool, bool, int]]) -> Judged:
    """From rows of (run, truth, said, n)."""

    def total(truth: bool, said: bool) -> int:
        return sum(n for _, *cell, n in rows if cell == [truth, said])

    return Judged(
        tp=total(True, True),
        fp=total(False, True),
        fn=total(True, False),
        tn=total(False, False),
        precision=clustered_rate(_by_run((run, truth, n) for run, truth, said, n in rows if said)),
        recall=clustered_rate(_by_run((run, said, n) for run, truth, said, n in rows if truth)),
    )


def _by_run(rows: Iterable[tuple[str, bool, int]]) -> list[tuple[int, int]]:
    """Hits and n of each run, from (run, hit, n)."""
    runs: dict[str, tuple[int, int]] = {}
    for run, hit, n in rows:
        hits, of = runs.get(run, (0, 0))
        runs[run] = (hits + n * hit, of + n)
    return list(runs.values())


def _disagreements(reading: Cursor) -> Iterator[Disagreement]:
    width = 1 + len(_COLUMNS)
    while rows := reading.fetchmany(1000):
        for generation_id, run_id, truth, *verdicts in rows:
            yield Disagreement(
                generation_id, run_id, truth, _verdict(verdicts[1:width]), _verdict(verdicts[width + 1 :])
            )


def _verdict(row: list[Any]) -> dict[str, Any] | None:
    verdict = dict(zip(_COLUMNS, row, strict=True))
    if verdict["tier"] is None:
        return None
    start, end = verdict.pop("start_at"), verdict.pop("end_at")
    calls = from_json(verdict.pop("calls"))
    return {
        "leak": verdict["tier"] in ("certain", "likely"),
        **verdict,
        "start": start,
        "end": end,
        "calls": calls,
    }
