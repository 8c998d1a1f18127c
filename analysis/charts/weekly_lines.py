"""The leak rate of each line, week by week, and the days on which its versions changed: what charts draw.

Weeks of seven days, UTC, ending on the last day with data.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.statistics.intervals import Rate, clustered_rate_from_sums
from ingest.store import Store

LINES = 6
"""Panels: the lines with most eligible generations."""
VERSIONS = ("engine_version", "template", "tool_parser")

_WEEKS = """
WITH chosen AS (
    SELECT g.*, g.started_at::DATE AS day FROM facts g
    WHERE g.eligible AND g.tools_known AND g.started_at IS NOT NULL AND {condition}
), last_day AS (SELECT max(day) AS day FROM chosen
), per_run AS (
    SELECT model, engine, (l.day - c.day) // 7 AS weeks_ago, l.day AS last_day, run_id, count(*) AS n,
        count(*) FILTER (v.tier IN ('certain', 'likely') AND v.kind <> 'printed_call') AS leaks
    FROM chosen c CROSS JOIN last_day l
    LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = c.verdict_key
    GROUP BY ALL
)
SELECT model, engine, last_day - (weeks_ago * 7 + 6)::INTEGER AS first_day,
    last_day - (weeks_ago * 7)::INTEGER AS last_day,
    sum(n) AS n, sum(leaks) AS leaks, count(*) AS runs, sum(n * n) AS nn, sum(n * leaks) AS ny, sum(leaks * leaks) AS yy
FROM per_run GROUP BY model, engine, weeks_ago, last_day ORDER BY model, engine, first_day
"""
_CHANGES = """
WITH days AS (
    SELECT model, engine, {version} AS version, min(started_at::DATE) AS first_day FROM facts g
    WHERE eligible AND started_at IS NOT NULL AND {version} IS NOT NULL AND {condition} GROUP BY ALL
)
SELECT model, engine, version, first_day FROM days
QUALIFY row_number() OVER (PARTITION BY model, engine ORDER BY first_day, version) > 1
ORDER BY model, engine, first_day, version
"""


@dataclass(frozen=True, slots=True)
class Week:
    """The leak rate of a line in the seven days from `first_day` to `last_day`, both included."""

    first_day: date
    last_day: date
    rate: Rate
    runs: int


@dataclass(frozen=True, slots=True)
class Change:
    """The first day on which a line ran with a further version."""

    day: date
    dimension: str
    version: str


@dataclass(frozen=True, slots=True)
class Line:
    """One panel."""

    model: str | None
    engine: str | None
    weeks: list[Week]
    changes: list[Change]

    @property
    def name(self) -> str:
        """What stands over the panel."""
        return f"{self.model or 'model not given'} on {self.engine or 'engine not given'}"


def lines(store: Store, detector: Detector, filters: Filters) -> list[Line]:
    """The lines with most eligible generations, at most LINES, with their weeks and version changes."""
    condition, parameters = filters.sql()
    panels: dict[tuple[str | None, str | None], Line] = {}
    with store.cursor() as cursor:
        rows = cursor.execute(_WEEKS.format(condition=condition), {"detector": detector.id, **parameters}).fetchall()
        for model, engine, first_day, last_day, n, leaks, runs, nn, ny, yy in rows:
            rate = clustered_rate_from_sums(int(leaks), int(n), int(runs), int(nn), int(ny), int(yy))
            line = panels.setdefault((model, engine), Line(model, engine, [], []))
            line.weeks.append(Week(first_day, last_day, rate, int(runs)))
        for dimension in VERSIONS:
            sql = _CHANGES.format(version=dimension, condition=condition)
            for model, engine, version, day in cursor.execute(sql, parameters).fetchall():
                if (model, engine) in panels:
                    panels[model, engine].changes.append(Change(day, dimension, version))
    largest = sorted(panels.values(), key=lambda line: -sum(week.rate.n for week in line.weeks))
    return largest[:LINES]


def rows(found: list[Line]) -> list[dict[str, Any]]:
    """The figures behind the chart as plain JSON values."""
    return [
        {
            "model": line.model,
            "engine": line.engine,
            "weeks": [
                {
                    "from": week.first_day.isoformat(),
                    "to": week.last_day.isoformat(),
                    "eligible": week.rate.n,
                    "leaks": week.rate.hits,
                    "leak_rate": week.rate.value,
                    "leak_low": week.rate.low,
                    "leak_high": week.rate.high,
                    "runs": week.runs,
                }
                for week in line.weeks
            ],
            "changes": [
                {"day": change.day.isoformat(), "dimension": change.dimension, "to": change.version}
                for change in line.changes
            ],
        }
        for line in found
    ]
