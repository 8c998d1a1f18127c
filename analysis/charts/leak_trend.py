"""How does the leak rate of each line move over time, and where did its versions change?

Weeks of seven days, UTC, ending on the last day with data; one panel a line; 95 % intervals as error bars.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any
from unicodedata import category

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


PANEL, TITLE, FOOT = 142, 28, 20
"""Pixels of a panel's height, and what of it stands above and below the drawing."""
FILLED = 0.8
"""Share of a drawing's height that the intervals fill; the names of versions stand in the rest."""
LATE = 0.7
"""Share of the days after which a version's name stands left of its mark, to end inside the chart."""
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_WORD = {"engine_version": "", "template": "template ", "tool_parser": "parser "}


def figure(found: list[Line]) -> dict[str, Any]:
    """The chart as Plotly JSON: one panel a line, all over the same days."""
    layout: dict[str, Any] = {
        "height": PANEL * len(found) + 48, "margin": {"l": 48, "r": 16, "t": 4, "b": 44},
        "showlegend": False, "hovermode": "closest", "annotations": [], "shapes": [],
    }  # fmt: skip
    for at, line in enumerate(found):
        _add_panel(layout, line, at, len(found))
        layout["annotations"] += [_version(day, text, at, _late(found, day)) for day, text in _versions(line)]
        layout["shapes"] += [_mark(day, at) for day, _ in _versions(line)]
    return {"data": [_trace(line, at) for at, line in enumerate(found)], "layout": layout}


def _late(found: list[Line], day: date) -> bool:
    weeks = [week for line in found for week in line.weeks]
    first, last = min(week.first_day for week in weeks), max(week.last_day for week in weeks)
    return day > first + LATE * (last - first)


def _axis(letter: str, at: int) -> str:
    return letter if at == 0 else f"{letter}{at + 1}"


def _trace(line: Line, at: int) -> dict[str, Any]:
    weeks, rates = line.weeks, [week.rate for week in line.weeks]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": line.name,
        "xaxis": _axis("x", at),
        "yaxis": _axis("y", at),
        "cliponaxis": False,
        "x": [week.last_day.isoformat() for week in weeks],
        "y": [rate.value for rate in rates],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [(rate.high or 0) - (rate.value or 0) for rate in rates],
            "arrayminus": [(rate.value or 0) - (rate.low or 0) for rate in rates],
            "thickness": 1,
            "width": 3,
        },
        "text": [_hover(week) for week in weeks],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _hover(week: Week) -> str:
    rate = week.rate
    return (
        f"{week.first_day} to {week.last_day} (UTC)<br>{rate.hits} leaks of {rate.n} in {week.runs} runs<br>"
        f"{rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%})"
    )


def _add_panel(layout: dict[str, Any], line: Line, at: int, panels: int) -> None:
    """Axes of the panel, and its title above them."""
    whole, number, top = PANEL * panels, "" if at == 0 else at + 1, 1 - at / panels
    layout[f"yaxis{number}"] = {
        "domain": [top - (PANEL - FOOT) / whole, top - TITLE / whole],
        "anchor": _axis("x", at),
        **_scale(max((week.rate.high or 0.0 for week in line.weeks), default=0.0)),
    }
    layout[f"xaxis{number}"] = {
        "anchor": _axis("y", at), "type": "date",
        "matches": "x" if at else None, "showticklabels": at == panels - 1,
    }  # fmt: skip
    layout["annotations"].append(_title(line, top))


def _scale(highest: float) -> dict[str, Any]:
    """From zero to above the `highest` interval's end, with ticks below that alone: no rate is over 100 %."""
    highest = max(highest, _STEPS[0])
    step = next((step for step in _STEPS if highest / step <= 4), _STEPS[-1])
    ticks = [step * at for at in range(int(highest / step) + 1)]
    return {"range": [0, highest / FILLED], "tickmode": "array", "tickvals": ticks, "tickformat": "~%"}


def _title(line: Line, y: float) -> dict[str, Any]:
    return {
        "text": f"<b>{_plain(line.name)}</b>",
        "xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": y, "yanchor": "top", "showarrow": False,
    }  # fmt: skip


def _versions(line: Line) -> list[tuple[date, str]]:
    """Each day on which versions were first seen, with their names."""
    named: dict[date, list[str]] = {}
    for change in line.changes:
        named.setdefault(change.day, []).append(f"{_WORD[change.dimension]}{_plain(change.version)}")
    return [(day, ", ".join(names)) for day, names in sorted(named.items())]


def _mark(day: date, at: int) -> dict[str, Any]:
    return {
        "type": "line", "xref": _axis("x", at), "x0": day.isoformat(), "x1": day.isoformat(),
        "yref": f"{_axis('y', at)} domain", "y0": 0, "y1": 1, "line": {"dash": "dot", "width": 1},
    }  # fmt: skip


def _version(day: date, text: str, at: int, late: bool) -> dict[str, Any]:
    """The name of a version, on the upper edge of its panel, beside its mark."""
    return {
        "text": text, "xref": _axis("x", at), "x": day.isoformat(), "xanchor": "right" if late else "left",
        "yref": f"{_axis('y', at)} domain", "y": 1, "yanchor": "top", "showarrow": False,
        "xshift": -3 if late else 3, "font": {"size": 11},
    }  # fmt: skip


_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Unicode categories of controls, directions and separators, which would turn the text around it."""


def _plain(text: str, most: int = 60) -> str:
    """`text` without what Plotly would read as markup, and with U+FFFD for each character that cannot be seen."""
    seen = "".join("\ufffd" if category(char) in _UNSEEN else char for char in text[:most])
    return seen.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
