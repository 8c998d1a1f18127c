"""The leak rate of each line, week by week, and the days on which its versions changed: what charts draw.

Weeks of seven days, UTC, ending on the last day with data.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.rollups import LEAK_SUMS, days, leaks, reading
from analysis.statistics.intervals import Rate, clustered_rate_from_sums
from ingest.store import Cursor, Store, one

LINES = 6
"""Panels: the lines with most eligible generations."""
VERSIONS = ("engine_version", "template", "tool_parser")

_LAST_DAY = "SELECT max(day) FROM ({days}) WHERE tools_known"
_WEEK = {"model": "model", "engine": "engine", "weeks_ago": "($last_day - day) // 7"}
FIRST_DAY = "DATE '0001-01-01'"
"""The first that Python knows: a clock that is badly wrong may log it."""
_WEEKS = f"""
SELECT model, engine, greatest($last_day - (weeks_ago * 7 + 6)::INTEGER, {FIRST_DAY}) AS first_day,
    $last_day - (weeks_ago * 7)::INTEGER AS last_day, {", ".join(f"sum({name})" for name in LEAK_SUMS)}
FROM ({{parts}}) GROUP BY model, engine, weeks_ago ORDER BY model, engine, first_day
"""  # noqa: S608 - the names are ours
_CHANGES = """
WITH firsts AS (
    SELECT model, engine, {version} AS version, min(day) AS first_day FROM ({days})
    WHERE day IS NOT NULL AND {version} IS NOT NULL GROUP BY ALL
)
SELECT model, engine, version, first_day FROM firsts
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
    panels: dict[tuple[str | None, str | None], Line] = {}
    with reading(store, detector, filters) as cursor:
        for model, engine, first_day, last_day, *sums in _weeks(cursor, detector, filters):
            hits, n, runs, *squares = map(int, sums)
            line = panels.setdefault((model, engine), Line(model, engine, [], []))
            line.weeks.append(Week(first_day, last_day, clustered_rate_from_sums(hits, n, runs, *squares), runs))
        for dimension in VERSIONS:
            of = days(detector, filters)
            found = cursor.execute(_CHANGES.format(version=dimension, days=of.sql), of.parameters).fetchall()
            for model, engine, version, day in found:
                if (model, engine) in panels:
                    panels[model, engine].changes.append(Change(day, dimension, version))
    largest = sorted(panels.values(), key=lambda line: -sum(week.rate.n for week in line.weeks))
    return largest[:LINES]


def _weeks(cursor: Cursor, detector: Detector, filters: Filters) -> list[tuple[Any, ...]]:
    of = days(detector, filters)
    [last_day] = one(cursor, _LAST_DAY.format(days=of.sql), of.parameters)
    parts = leaks(_WEEK, detector, filters, "tools_known AND day IS NOT NULL")
    given = {**parts.parameters, "last_day": last_day}
    return cursor.execute(_WEEKS.format(parts=parts.sql), given).fetchall() if last_day else []


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
