"""What each tier of a detector would be worth as the line from which findings count, and what it would cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.detectors import TIERS, Tier
from analysis.replay.labelled import Judged, Row, judged_at, rate_by_run
from analysis.statistics.intervals import Rate, clustered_rate_from_sums
from ingest.store import Cursor, one

SIDES = ("baseline", "candidate")
_POINTS = [(side, tier) for side in SIDES for tier in TIERS]
_FLAGGED = """
WITH flags AS (
    SELECT run, count(*) FILTER (NOT ok) AS failed, {flags} FROM said GROUP BY run
), runs AS (SELECT run, sum(n)::BIGINT AS n FROM counted GROUP BY run)
SELECT sum(r.n - coalesce(f.failed, 0)), count(*) FILTER (r.n > coalesce(f.failed, 0)),
    sum((r.n - coalesce(f.failed, 0)) ** 2)::HUGEINT, {sums}
FROM runs r LEFT JOIN flags f ON f.run = r.run
"""
_FLAG = "count(*) FILTER (ok AND {side}_tier IN ({tiers})) AS {side}_{tier}"
_SUMS = "sum(f.{at}), sum((r.n - f.failed) * f.{at}), sum(f.{at} * f.{at})"


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """One detector, counting from one tier on. `flagged` of all outputs; the rest of the labelled ones.

    Under a policy that retries what is flagged, each of it is a round more, a false positive an answer thrown away
    (`alarms`: of those labelled clean), a false negative a leak passed off (`missed`: of the labelled leaks).
    """

    flagged: Rate
    judged: Judged
    alarms: Rate
    missed: Rate

    def as_json(self) -> dict[str, Any]:
        """Counts and figures against the labels, and the costs, each with its n and interval."""
        costs = {"extra_rounds": self.flagged, "thrown_away": self.alarms, "passed_off": self.missed}
        return {**self.judged.as_json(), "costs": {name: rate_json(each) for name, each in costs.items()}}


def rate_json(of: Rate) -> dict[str, Any]:
    """A rate with its hits, its n and its interval."""
    return {"hits": of.hits, "n": of.n, "rate": of.value, "low": of.low, "high": of.high}


def operating_points(cursor: Cursor, rows: Sequence[Row]) -> dict[str, dict[Tier, OperatingPoint]]:
    """By side and tier; `rows` are the labelled outputs."""
    flagged = _flagged(cursor)
    return {side: {tier: _point(flagged[side, tier], rows, side, tier) for tier in TIERS} for side in SIDES}


def _point(flagged: Rate, rows: Sequence[Row], side: str, tier: Tier) -> OperatingPoint:
    clean = [(row.run_id, row.said(side, tier), row.n) for row in rows if not row.truth]
    leaks = [(row.run_id, not row.said(side, tier), row.n) for row in rows if row.truth]
    return OperatingPoint(flagged, judged_at(rows, side, tier), rate_by_run(clean), rate_by_run(leaks))


def _flagged(cursor: Cursor) -> Mapping[tuple[str, Tier], Rate]:
    flags = (_FLAG.format(side=side, tier=tier, tiers=_and_stronger(tier)) for side, tier in _POINTS)
    sums = (_SUMS.format(at=f"{side}_{tier}") for side, tier in _POINTS)
    row = one(cursor, _FLAGGED.format(flags=", ".join(flags), sums=", ".join(sums)))
    n, runs, nn, *figures = (int(each or 0) for each in row)
    return {
        point: clustered_rate_from_sums(figures[3 * at], n, runs, nn, figures[3 * at + 1], figures[3 * at + 2])
        for at, point in enumerate(_POINTS)
    }


def _and_stronger(tier: Tier) -> str:
    return ", ".join(f"'{each}'" for each in TIERS[: TIERS.index(tier) + 1])
