"""Two detectors against the labels: what each finds and misses, and by how much they differ on the same outputs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from analysis.detectors import TIERS, Tier
from analysis.statistics.intervals import Rate, clustered_rate
from analysis.statistics.paired import Difference, mcnemar_exact, paired_difference
from ingest.store import Cursor

COUNTED: Tier = "likely"
"""The tier from which on a finding is a leak."""
_ROWS = """
SELECT run_id, truth, baseline_tier, candidate_tier, model, engine, template, family, kind, tier, count(*)
FROM said WHERE ok AND truth IS NOT NULL GROUP BY ALL
"""


class Row(NamedTuple):
    """`n` labelled outputs of one run that are alike: the truth, both tiers (None: no finding), the segments."""

    run_id: str
    truth: bool
    baseline_tier: Tier | None
    candidate_tier: Tier | None
    model: str | None
    engine: str | None
    template: str | None
    family: str | None
    kind: str | None
    tier: Tier | None
    n: int

    def said(self, side: str, tier: Tier = COUNTED) -> bool:
        """Whether `side` finds it at `tier` or stronger."""
        found = self.baseline_tier if side == "baseline" else self.candidate_tier
        return found is not None and TIERS.index(found) <= TIERS.index(tier)


def labelled_rows(cursor: Cursor) -> list[Row]:
    """The labelled outputs of `said`."""
    return [Row(*row) for row in cursor.execute(_ROWS).fetchall()]


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
    """Both detectors on the labelled outputs; the exact McNemar p is None without labels.

    The differences are the candidate's share less the baseline's, of the same outputs: `recall` of the labelled
    leaks, `false_alarms` of those labelled clean. Precision has none: its two denominators are other outputs.
    """

    n: int
    baseline: Judged
    candidate: Judged
    new_tp: int
    new_fp: int
    lost_tp: int
    lost_fp: int
    mcnemar_p: float | None
    recall: Difference
    false_alarms: Difference

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
            "differences": {
                "recall": difference_json(self.recall),
                "false_alarms": difference_json(self.false_alarms),
            },
        }


def difference_json(of: Difference) -> dict[str, Any]:
    """A difference of the candidate's share and the baseline's, with what it is made of."""
    return {
        "n": of.n,
        "baseline_only": of.only_first,
        "candidate_only": of.only_second,
        "value": of.value,
        "low": of.low,
        "high": of.high,
    }


def labelled(rows: Sequence[Row]) -> Labelled:
    """Both detectors on `rows`."""
    n = sum(row.n for row in rows)
    recall = _difference(row for row in rows if row.truth)
    alarms = _difference(row for row in rows if not row.truth)
    for_baseline, for_candidate = recall.only_first + alarms.only_second, recall.only_second + alarms.only_first
    return Labelled(
        n=n,
        baseline=judged_at(rows, "baseline"),
        candidate=judged_at(rows, "candidate"),
        new_tp=recall.only_second,
        new_fp=alarms.only_second,
        lost_tp=recall.only_first,
        lost_fp=alarms.only_first,
        mcnemar_p=mcnemar_exact(for_baseline, for_candidate) if n else None,
        recall=recall,
        false_alarms=alarms,
    )


def judged_at(rows: Sequence[Row], side: str, tier: Tier = COUNTED) -> Judged:
    """One detector on `rows`, if its findings count from `tier` on."""

    def total(truth: bool, said: bool) -> int:
        return sum(row.n for row in rows if row.truth == truth and row.said(side, tier) == said)

    return Judged(
        tp=total(True, True),
        fp=total(False, True),
        fn=total(True, False),
        tn=total(False, False),
        precision=rate_by_run((row.run_id, row.truth, row.n) for row in rows if row.said(side, tier)),
        recall=rate_by_run((row.run_id, row.said(side, tier), row.n) for row in rows if row.truth),
    )


def rate_by_run(rows: Iterable[tuple[str, bool, int]]) -> Rate:
    """The share of hits, from (run, hit, n)."""
    runs: dict[str, tuple[int, int]] = {}
    for run, hit, n in rows:
        hits, of = runs.get(run, (0, 0))
        runs[run] = (hits + n * hit, of + n)
    return clustered_rate(runs.values())


def _difference(rows: Iterable[Row]) -> Difference:
    runs: dict[str, tuple[int, int, int]] = {}
    for row in rows:
        baseline, candidate = row.said("baseline"), row.said("candidate")
        first, second, n = runs.get(row.run_id, (0, 0, 0))
        runs[row.run_id] = (
            first + row.n * (baseline and not candidate),
            second + row.n * (candidate and not baseline),
            n + row.n,
        )
    return paired_difference(runs.values())
