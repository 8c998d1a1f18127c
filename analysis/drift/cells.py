"""What drift is looked for in: how many outputs and leaks each run has, on a line and with its versions.

A run is counted on its first day. Lines whose tools are unknown are lines of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from analysis.filters import Filters
from analysis.statistics.intervals import Rate, clustered_rate_from_sums
from analysis.version_order import VERSIONS
from ingest.store import Cursor, one

LINE = ("model", "provider", "engine", "client")
"""What makes a line, together with whether its tools are known."""
GROUP = ", ".join((*LINE, "tools_known"))

_CELLS = f"""
CREATE OR REPLACE TEMP TABLE run_cells AS
WITH chosen AS (
    SELECT g.model, g.provider, g.engine, g.client, g.tools_known, {", ".join(f"g.{name}" for name in VERSIONS)},
        g.run_id, g.started_at::DATE AS day,
        coalesce(v.tier IN ('certain', 'likely') AND v.kind <> 'printed_call', false) AS leak
    FROM facts g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
    WHERE g.eligible AND coalesce(g.started_at::DATE <= $latest, true) AND {{condition}}
)
SELECT * EXCLUDE (day), min(day) OVER (PARTITION BY {GROUP}, run_id) AS day FROM (
    SELECT * EXCLUDE (day, leak), min(day) AS day, count(*) AS n, count(*) FILTER (leak) AS leaks
    FROM chosen GROUP BY ALL
)
"""  # noqa: S608 - the names are ours
_LEFT_OUT = """
SELECT count(*) FILTER (g.started_at IS NULL), count(*) FILTER (g.started_at::DATE > $latest)
FROM facts g WHERE g.eligible AND {condition}
"""


def collect(cursor: Cursor, detector_id: str, filters: Filters, today: date) -> int:
    """Make the temporary table `run_cells`: line, versions, run, its first day on the line, outputs `n`, `leaks`.
    Returns the number of lines."""
    condition, parameters = filters.sql()
    given = {"detector": detector_id, "latest": _latest(today), **parameters}
    cursor.execute(_CELLS.format(condition=condition), given)
    [lines] = one(cursor, f"SELECT count(*) FROM (SELECT DISTINCT {GROUP} FROM run_cells)")  # noqa: S608
    return int(lines)


def left_out(cursor: Cursor, filters: Filters, today: date) -> dict[str, int]:
    """Eligible generations without a time, which no day can count, and those of a day that has not been."""
    condition, parameters = filters.sql()
    found = cursor.execute(_LEFT_OUT.format(condition=condition), {"latest": _latest(today), **parameters}).fetchone()
    no_time, future = found or (0, 0)
    return {"no_time": int(no_time), "in_the_future": int(future)}


def _latest(today: date) -> date:
    """A day is granted to clocks of other zones."""
    return today + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a line: its rate, in how many runs, from when to when (None where no run tells a time)."""

    rate: Rate
    runs: int
    first_day: date | None
    last_day: date | None

    @classmethod
    def of(cls, row: Sequence[Any]) -> "Part":
        """From leaks, outputs, runs, the sums of n*n, n*leaks and leaks*leaks, and two days."""
        *sums, first_day, last_day = row
        counts = [int(each) for each in sums]
        return cls(clustered_rate_from_sums(*counts), counts[2], first_day, last_day)

    def as_json(self) -> dict[str, Any]:
        """`n`, `leaks`, and what belongs to them."""
        return {
            "n": self.rate.n,
            "leaks": self.rate.hits,
            "rate": self.rate.value,
            "low": self.rate.low,
            "high": self.rate.high,
            "runs": self.runs,
            "first_day": self.first_day and self.first_day.isoformat(),
            "last_day": self.last_day and self.last_day.isoformat(),
        }


SUMS = "sum(leaks), sum(n), count(*), sum(n * n), sum(n * leaks), sum(leaks * leaks), min(day), max(day)"
"""What `Part.of` is made of, over rows of runs."""
