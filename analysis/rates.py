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

SHARES = ("structured", "printed", "leaks", "plain")
"""What an eligible generation came out as, each beside its rate: a valid structured call, a printed call, a leak, a
clean answer in words. What is none of them is `other`: an invalid call, an empty reply, an error, a failure of the
detector."""

_RATES = """
WITH came AS (
    SELECT {keys}, g.tools_known, g.run_id, v.error, f.key AS leaked_round, f.retried, f.recovered, f.answered,
        f.passed_off, CASE
        WHEN v.tier IN ('certain', 'likely') THEN CASE v.kind WHEN 'printed_call' THEN 'printed' ELSE 'leak' END
        WHEN v.error IS NOT NULL OR coalesce(g.status, 'ok') IN ('error', 'failed', 'cancelled') THEN 'other'
        WHEN g.reply = 'structured' THEN 'structured'
        WHEN g.reply = 'words' AND coalesce(g.status, 'ok') = 'ok' THEN 'plain' ELSE 'other' END AS came
    FROM facts g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
    LEFT JOIN fates f ON f.key = g.key
    WHERE g.eligible AND {condition}
), per_run AS (
    SELECT {names}, tools_known, run_id, count(*) AS n,
        count(*) FILTER (came = 'structured') AS structured, count(*) FILTER (came = 'printed') AS printed,
        count(*) FILTER (came = 'leak') AS leaks, count(*) FILTER (came = 'plain') AS plain,
        count(error) AS errors,
        count(leaked_round) FILTER (came = 'leak') AS rounds,
        count(*) FILTER (retried AND came = 'leak') AS retried,
        count(*) FILTER (recovered AND came = 'leak') AS recovered,
        count(*) FILTER (answered AND came = 'leak') AS answered,
        count(*) FILTER (passed_off AND came = 'leak') AS passed_off
    FROM came GROUP BY ALL
)
SELECT {names}, tools_known, sum(n) AS eligible, sum(errors) AS errors, count(*) AS runs, sum(n * n) AS nn,
    {shares},
    sum(rounds) AS rounds, count(*) FILTER (rounds > 0) AS leaked_runs, sum(rounds * rounds) AS rr,
    sum(rounds * recovered) AS rc, sum(recovered * recovered) AS cc,
    sum(retried) AS retried, sum(recovered) AS recovered, sum(answered) AS answered, sum(passed_off) AS passed_off
FROM per_run GROUP BY {names}, tools_known ORDER BY eligible DESC, {names}, tools_known DESC
"""
_SUMS = "sum({0}) AS {0}, sum(n * {0}) AS n_{0}, sum({0} * {0}) AS {0}_2"


@dataclass(frozen=True, slots=True)
class SeriesRate:
    """One row of the rates: a series (or part of one), for one detector version, tools known or not."""

    series: dict[str, str | None]
    detector: str
    tools_known: bool
    leak: Rate
    recovery: Rate
    structured: Rate
    printed: Rate
    plain: Rate
    errors: int
    runs: int
    retried: int
    answered: int
    passed_off: int

    @property
    def other(self) -> int:
        """Eligible generations that came out as none of `SHARES`."""
        return self.leak.n - sum(each.hits for each in (self.structured, self.printed, self.leak, self.plain))

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON. `leaked_rounds` is the n of the recovery rate: leaks of rounds
        whose attempts the record tells, by numbers or a history; `errors` are outputs on which the detector failed."""
        return {
            **self.series,
            "detector": self.detector,
            "tools_known": self.tools_known,
            "eligible": self.leak.n,
            "leaks": self.leak.hits,
            "leak_rate": self.leak.value,
            "leak_low": self.leak.low,
            "leak_high": self.leak.high,
            "printed": self.printed.hits,
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
            "structured": self.structured.hits,
            **_bounds("structured", self.structured),
            **_bounds("printed", self.printed),
            "plain": self.plain.hits,
            **_bounds("plain", self.plain),
            "other": self.other,
        }


def rates(
    store: Store, detector: Detector, by: Sequence[str] = DEFAULT_BY, filters: Filters | None = None
) -> list[SeriesRate]:
    """Rates by the series keys `by`, largest series first. `detector` must have judged the whole history."""
    names = ", ".join(checked(by))
    condition, parameters = (filters or Filters()).sql()
    shares = ", ".join(map(_SUMS.format, SHARES))
    keys = ", ".join(f"g.{name}" for name in by)
    sql = _RATES.format(keys=keys, names=names, shares=shares, condition=condition)
    with store.cursor() as cursor, atomic(cursor):
        follow(cursor, detector.id)
        rows = cursor.execute(sql, {"detector": detector.id, **parameters}).fetchall()
    return [_series_rate(detector, by, row) for row in rows]


def checked(by: Sequence[str]) -> Sequence[str]:
    """`by`, if it is series keys; UsageError."""
    if not by or len(set(by)) < len(by) or not set(by) <= set(SERIES):
        raise UsageError(f"--by {','.join(by)}: name one or more of {', '.join(SERIES)}, each once")
    return by


def _series_rate(detector: Detector, by: Sequence[str], row: tuple[Any, ...]) -> SeriesRate:
    series, figures = row[: len(by)], row[len(by) :]
    tools_known, *numbers = figures
    eligible, errors, runs, nn, *sums = map(int, numbers)
    triples = zip(sums[:12:3], sums[1:12:3], sums[2:12:3], strict=True)
    structured, printed, leak, plain = (
        clustered_rate_from_sums(hits, eligible, runs, nn, ny, yy) for hits, ny, yy in triples
    )
    rounds, leaked_runs, rr, rc, cc, retried, recovered, answered, passed_off = sums[12:]
    return SeriesRate(
        series=dict(zip(by, series, strict=True)),
        detector=detector.id,
        tools_known=tools_known,
        leak=leak,
        recovery=clustered_rate_from_sums(recovered, rounds, leaked_runs, rr, rc, cc),
        structured=structured,
        printed=printed,
        plain=plain,
        errors=errors,
        runs=runs,
        retried=retried,
        answered=answered,
        passed_off=passed_off,
    )


def _bounds(name: str, of: Rate) -> dict[str, float | None]:
    return {f"{name}_rate": of.value, f"{name}_low": of.low, f"{name}_high": of.high}
