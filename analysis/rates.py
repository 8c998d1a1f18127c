"""Leak and recovery rates per series, each with its n and its interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.recovery.outcomes import follow
from analysis.statistics.intervals import Rate, clustered_rate_from_sums
from ingest.errors import UsageError
from ingest.records import SERIES
from ingest.store import Store, atomic

DEFAULT_BY = ("model", "engine", "template")

_RATES = """
WITH per_run AS (
    SELECT {keys}, g.tools_known, g.run_id, count(*) AS n,
        count(*) FILTER (v.tier IN ('certain', 'likely') AND v.kind <> 'printed_call') AS leaks,
        count(*) FILTER (v.tier IN ('certain', 'likely') AND v.kind = 'printed_call') AS printed,
        count(v.error) AS errors,
        count(f.key) FILTER (v.kind <> 'printed_call') AS rounds,
        count(*) FILTER (f.retried AND v.kind <> 'printed_call') AS retried,
        count(*) FILTER (f.recovered AND v.kind <> 'printed_call') AS recovered,
        count(*) FILTER (f.answered AND v.kind <> 'printed_call') AS answered,
        count(*) FILTER (f.passed_off AND v.kind <> 'printed_call') AS passed_off
    FROM facts g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
    LEFT JOIN fates f ON f.key = g.key
    WHERE g.eligible AND {condition}
    GROUP BY ALL
)
SELECT {names}, tools_known, sum(n) AS eligible, sum(leaks) AS leaks, sum(printed) AS printed,
    sum(errors) AS errors, count(*) AS runs, sum(n * n) AS nn, sum(n * leaks) AS ny, sum(leaks * leaks) AS yy,
    sum(rounds) AS rounds, count(*) FILTER (rounds > 0) AS leaked_runs, sum(rounds * rounds) AS rr,
    sum(rounds * recovered) AS rc, sum(recovered * recovered) AS cc,
    sum(retried) AS retried, sum(recovered) AS recovered, sum(answered) AS answered, sum(passed_off) AS passed_off
FROM per_run GROUP BY {names}, tools_known ORDER BY eligible DESC, {names}, tools_known DESC
"""


@dataclass(frozen=True, slots=True)
class SeriesRate:
    """One row of the rates: a series (or part of one), for one detector version, tools known or not."""

    series: dict[str, str | None]
    detector: str
    tools_known: bool
    leak: Rate
    recovery: Rate
    printed: int
    errors: int
    runs: int
    retried: int
    answered: int
    passed_off: int

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON. `leaked_rounds` is the n of the recovery rate: leaks whose record
        tells round and attempt; `errors` are outputs on which the detector failed."""
        return {
            **self.series,
            "detector": self.detector,
            "tools_known": self.tools_known,
            "eligible": self.leak.n,
            "leaks": self.leak.hits,
            "leak_rate": self.leak.value,
            "leak_low": self.leak.low,
            "leak_high": self.leak.high,
            "printed": self.printed,
            "errors": self.errors,
            "runs": self.runs,
            "leaked_rounds": self.recovery.n,
            "retried": self.retried,
            "recovered": self.recovery.hits,
            "recovery_rate": self.recovery.value,
            "recovery_low": self.recovery.low,
            "recovery_high": self.recovery.high,
            "answered": self.answered,
            "passed_off": self.passed_off,
        }


def rates(
    store: Store, detector: Detector, by: Sequence[str] = DEFAULT_BY, filters: Filters | None = None
) -> list[SeriesRate]:
    """Rates by the series keys `by`, largest series first. `detector` must have judged the whole history."""
    if not by or len(set(by)) < len(by) or not set(by) <= set(SERIES):
        raise UsageError(f"--by {','.join(by)}: name one or more of {', '.join(SERIES)}, each once")
    condition, parameters = (filters or Filters()).sql()
    names = ", ".join(by)
    sql = _RATES.format(keys=", ".join(f"g.{name}" for name in by), names=names, condition=condition)
    with store.cursor() as cursor, atomic(cursor):
        follow(cursor, detector.id)
        rows = cursor.execute(sql, {"detector": detector.id, **parameters}).fetchall()
    return [_series_rate(detector, by, row) for row in rows]


def _series_rate(detector: Detector, by: Sequence[str], row: tuple[Any, ...]) -> SeriesRate:
    series, figures = row[: len(by)], row[len(by) :]
    tools_known, *numbers = figures
    eligible, leaks, printed, errors, runs, nn, ny, yy, rounds, leaked_runs, rr, rc, cc, *fates = map(int, numbers)
    retried, recovered, answered, passed_off = fates
    return SeriesRate(
        series=dict(zip(by, series, strict=True)),
        detector=detector.id,
        tools_known=tools_known,
        leak=clustered_rate_from_sums(leaks, eligible, runs, nn, ny, yy),
        recovery=clustered_rate_from_sums(recovered, rounds, leaked_runs, rr, rc, cc),
        printed=printed,
        errors=errors,
        runs=runs,
        retried=retried,
        answered=answered,
        passed_off=passed_off,
    )
