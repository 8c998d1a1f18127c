"""Leak and recovery rates per series, each with its n and its interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.recovery.outcomes import follow
from analysis.rollups import answers, rolled, up_to_date
from analysis.rollups.counts import PER_RUN, SUMS, summed
from analysis.rollups.counts import SHARES as SHARES
from analysis.statistics.intervals import Rate, clustered_rate_from_sums
from ingest.errors import UsageError
from ingest.records import SERIES
from ingest.store import Store, atomic

DEFAULT_BY = ("model", "engine", "template")
Row = tuple[Any, ...]

_RAW = f"""
SELECT {{names}}, tools_known, {summed(SUMS)} FROM ({PER_RUN})
GROUP BY {{names}}, tools_known ORDER BY eligible DESC, {{names}}, tools_known DESC
"""  # noqa: S608 - the names are ours
_ROLLED = f"""
SELECT {{names}}, tools_known, {", ".join(f"sum({name}) AS {name}" for name in SUMS)} FROM ({{parts}})
GROUP BY {{names}}, tools_known ORDER BY eligible DESC, {{names}}, tools_known DESC
"""  # noqa: S608 - the names are ours


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
    unjudged: int

    @property
    def other(self) -> int:
        """Eligible generations that came out as none of `SHARES`."""
        return self.leak.n - sum(each.hits for each in (self.structured, self.printed, self.leak, self.plain))

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON. `leaked_rounds` is the n of the recovery rate: leaks of rounds
        whose attempts the record tells, by numbers or a history; `errors` are outputs on which the detector failed.
        `pruned`, of which nothing here speaks: eligible ones whose text went before this detector could judge them."""
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
            "pruned": self.unjudged,
        }


def rates(
    store: Store, detector: Detector, by: Sequence[str] = DEFAULT_BY, filters: Filters | None = None
) -> list[SeriesRate]:
    """Rates by the series keys `by`, largest series first, from the rollups where they can answer. `detector` must have
    judged the whole history."""
    asked = filters or Filters()
    found = _rolled_up if answers(asked) else counted_raw
    return [_series_rate(detector, by, row) for row in found(store, detector, checked(by), asked)]


def counted_raw(store: Store, detector: Detector, by: Sequence[str], filters: Filters) -> list[Row]:
    """The keys and sums of each series, counted over the generations themselves."""
    condition, parameters = filters.sql()
    keys = ", ".join(f"g.{name}" for name in by)
    sql = _RAW.format(keys=keys, names=", ".join(by), condition=condition)
    with store.cursor() as cursor, atomic(cursor):
        follow(cursor, detector.id)
        return cursor.execute(sql, {"detector": detector.id, **parameters}).fetchall()


def _rolled_up(store: Store, detector: Detector, by: Sequence[str], filters: Filters) -> list[Row]:
    parts = rolled({name: name for name in (*by, "tools_known")}, filters)
    with up_to_date(store, detector) as cursor:
        return cursor.execute(_ROLLED.format(names=", ".join(by), parts=parts.sql), parts.parameters).fetchall()


def checked(by: Sequence[str]) -> Sequence[str]:
    """`by`, if it is series keys; UsageError."""
    if not by or len(set(by)) < len(by) or not set(by) <= set(SERIES):
        raise UsageError(f"--by {','.join(by)}: name one or more of {', '.join(SERIES)}, each once")
    return by


def _series_rate(detector: Detector, by: Sequence[str], row: Row) -> SeriesRate:
    series, figures = row[: len(by)], row[len(by) :]
    tools_known, *numbers = figures
    eligible, errors, runs, nn, *sums = map(int, numbers)
    triples = zip(sums[:12:3], sums[1:12:3], sums[2:12:3], strict=True)
    structured, printed, leak, plain = (
        clustered_rate_from_sums(hits, eligible, runs, nn, ny, yy) for hits, ny, yy in triples
    )
    rounds, leaked_runs, rr, rc, cc, retried, recovered, answered, passed_off, unjudged = sums[12:]
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
        unjudged=unjudged,
    )


def _bounds(name: str, of: Rate) -> dict[str, float | None]:
    return {f"{name}_rate": of.value, f"{name}_low": of.low, f"{name}_high": of.high}
