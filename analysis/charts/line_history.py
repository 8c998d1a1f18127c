"""Did the leak rate of this line change, when, and on how many generations does that stand?

Weeks of seven days, UTC: the rate with its 95 % interval above, the number of generations below. Dotted lines are
versions, shaded days are where a change point lies.
"""

from datetime import date
from typing import Any

from analysis.charts.drawing import hover, late, mark, scale, trace, version, versions
from analysis.charts.weekly_lines import Line, Week

HEIGHT = 260
RATES, NUMBERS = (0.36, 1.0), (0.0, 0.24)
"""Where the two panels stand, of the height."""
Range = tuple[date, date]


def figure(line: Line, detector: str, changed: list[Range]) -> dict[str, Any]:
    """The chart as Plotly JSON; `changed`: the first and the last day on which a change can have been."""
    weeks = line.weeks
    highest = max((week.rate.high or 0.0 for week in weeks), default=0.0)
    layout: dict[str, Any] = {
        "height": HEIGHT, "margin": {"l": 48, "r": 16, "t": 8, "b": 44}, "showlegend": False, "hovermode": "closest",
        "xaxis": {"type": "date", "anchor": "y", "showticklabels": False},
        "xaxis2": {"type": "date", "anchor": "y2", "matches": "x", "title": {"text": f"days in UTC, by {detector}"}},
        "yaxis": {"domain": RATES, "anchor": "x", **scale(highest)},
        "yaxis2": {"domain": NUMBERS, "anchor": "x2", "nticks": 3, "rangemode": "tozero", "title": {"text": "n"}},
        "annotations": [version(day, text, 0, late([line], day)) for day, text in versions(line)],
        "shapes": [*(_range(*each) for each in changed), *(mark(day, 0) for day, _ in versions(line))],
    }  # fmt: skip
    return {"data": [trace(line, 0), _numbers(weeks)], "layout": layout}


def _numbers(weeks: list[Week]) -> dict[str, Any]:
    return {
        "type": "bar",
        "xaxis": "x2",
        "yaxis": "y2",
        "x": [week.last_day.isoformat() for week in weeks],
        "y": [week.rate.n for week in weeks],
        "text": [hover(week) for week in weeks],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }


def _range(first: date, last: date) -> dict[str, Any]:
    return {
        "type": "rect", "xref": "x", "x0": first.isoformat(), "x1": last.isoformat(),
        "yref": "y domain", "y0": 0, "y1": 1, "layer": "below", "line": {"width": 0},
    }  # fmt: skip
