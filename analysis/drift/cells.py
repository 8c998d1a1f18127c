"""What drift is looked for in: how many outputs and leaks each run has, on a line and with its versions.

A run is counted on its first day. Lines whose tools are unknown are lines of their own. The cursor is one of
`analysis.rollups.reading` under the same filters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from analysis.filters import Filters
from analysis.rollups import answers, condition
from analysis.statistics.intervals import Rate, clustered_rate_from_sums
from analysis.version_order import VERSIONS
from ingest.retention.prunings import COVERED, JUDGED
from ingest.store import Cursor, one

LINE = ("model", "provider", "engine", "client")
"""What makes a line, together with whether its tools are known."""
GROUP = ", ".join((*LINE, "tools_known"))

_COLUMNS = f"{GROUP}, {', '.join(VERSIONS)}, run_id"
_RAW = f"""
SELECT {_COLUMNS}, min(day) AS day, count(*) AS n, count(*) FILTER (leak) AS leaks FROM (
    SELECT g.*, g.started_at::DATE AS day, v.tier IN ('certain', 'likely') AND v.kind <> 'printed_call' AS leak
    FROM facts g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
    WHERE g.eligible AND {COVERED} AND {JUDGED} AND {{condition}}
) WHERE coalesce(day <= $latest, true) GROUP BY ALL
"""  # noqa: S608 - the names are ours
_ROLLED = f"""
SELECT {_COLUMNS}, min(day) AS day, sum(n)::BIGINT AS n, sum(leaks)::BIGINT AS leaks
FROM run_rates JOIN rollup_series USING (series_id)
WHERE n > 0 AND coalesce(day <= $latest, true) AND {{condition}} GROUP BY ALL
"""  # noqa: S608 - the names are ours
_CELLS = f"""
CREATE OR REPLACE TEMP TABLE run_cells AS
SELECT * EXCLUDE (day), min(day) OVER (PARTITION BY {GROUP}, run_id) AS day FROM ({{counted}})
"""  # noqa: S608 - the names are ours
_RAW_LEFT_OUT = f"""
SELECT count(*) FILTER (judged AND started_at IS NULL), count(*) FILTER (judged AND started_at::DATE > $latest),
    count(*) FILTER (NOT judged)
FROM (SELECT started_at, {JUDGED} AS judged FROM facts g WHERE g.eligible AND {COVERED} AND {{condition}})
"""  # noqa: S608 - our own names
_LEFT_OUT = """
SELECT coalesce(sum(n) FILTER (day IS NULL), 0), coalesce(sum(n) FILTER (day > $latest), 0),
    coalesce(sum(unjudged), 0)
FROM run_rates JOIN rollup_series USING (series_id) WHERE {condition}
"""


def collect(cursor: Cursor, detector_id: str, filters: Filters, today: date) -> int:
    """Make the temporary table `run_cells`: line, versions, run, its first day on the line, outputs `n`, `leaks`.
    Returns the number of lines."""
    given: dict[str, object] = {"latest": _latest(today)}
    if answers(filters):
        of = condition(filters)
        counted = _ROLLED.format(condition=of.sql)
        given |= of.parameters
    else:
        held, parameters = filters.sql()
        counted = _RAW.format(condition=held)
        given |= {"detector": detector_id, **parameters}
    cursor.execute(_CELLS.format(counted=counted), given)
    [lines] = one(cursor, f"SELECT count(*) FROM (SELECT DISTINCT {GROUP} FROM run_cells)")  # noqa: S608
    return int(lines)


def left_out(cursor: Cursor, detector_id: str, filters: Filters, today: date) -> dict[str, int]:
    """Eligible generations without a time, which no day can count, those of a day that has not been, and those that
    were pruned before the detector could judge them."""
    if answers(filters):
        of = condition(filters)
        sql, parameters = _LEFT_OUT.format(condition=of.sql), of.parameters
    else:
        held, given = filters.sql()
        parameters = {"detector": detector_id, **given}
        sql = _RAW_LEFT_OUT.format(condition=held)
    no_time, future, pruned = one(cursor, sql, {"latest": _latest(today), **parameters})
    return {"no_time": int(no_time), "in_the_future": int(future), "pruned": int(pruned)}


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
