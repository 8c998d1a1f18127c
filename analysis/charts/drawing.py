"""What charts of weeks draw alike: rates with their intervals, marks of versions, scales, and names made harmless."""

from datetime import date, timedelta
from typing import Any
from unicodedata import category

from analysis.charts.weekly_lines import Line, Week

FILLED = 0.8
"""Share of a drawing's height that the intervals fill; the names of versions stand in the rest."""
LATE = 0.7
"""Share of the days after which a version's name stands left of its mark, to end inside the chart."""
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_WORD = {"engine_version": "", "template": "template ", "tool_parser": "parser "}


def late(found: list[Line], day: date) -> bool:
    """Whether `day` is so late in the chart that a name beside it must stand on its left."""
    weeks = [week for line in found for week in line.weeks]
    first, last = min(week.first_day for week in weeks), max(week.last_day for week in weeks)
    return day > first + LATE * (last - first)


def axis(letter: str, at: int) -> str:
    """The axis of panel `at`: x, x2, x3, …"""
    return letter if at == 0 else f"{letter}{at + 1}"


def trace(line: Line, at: int) -> dict[str, Any]:
    """The rate of each week with its interval, in panel `at`; no line is drawn over weeks without data."""
    weeks = _with_gaps(line.weeks)
    rates = [week and week.rate for week in weeks]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": line.name,
        "xaxis": axis("x", at),
        "yaxis": axis("y", at),
        "cliponaxis": False,
        "connectgaps": False,
        "x": [week and week.last_day.isoformat() for week in weeks],
        "y": [rate and rate.value for rate in rates],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [rate and (rate.high or 0) - (rate.value or 0) for rate in rates],
            "arrayminus": [rate and (rate.value or 0) - (rate.low or 0) for rate in rates],
            "thickness": 1,
            "width": 3,
        },
        "text": [week and hover(week) for week in weeks],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _with_gaps(weeks: list[Week]) -> list[Week | None]:
    """None where weeks without data lie between two."""
    found: list[Week | None] = []
    for week in weeks:
        last = found[-1] if found else None
        if last and week.first_day > last.last_day + timedelta(days=1):
            found.append(None)
        found.append(week)
    return found


def hover(week: Week) -> str:
    """What is told of a week where the pointer rests."""
    rate = week.rate
    return (
        f"{week.first_day} to {week.last_day} (UTC)<br>{rate.hits} leaks of {rate.n} in {week.runs} runs<br>"
        f"{rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%})"
    )


def scale(highest: float) -> dict[str, Any]:
    """From zero to above the `highest` interval's end, with ticks below that alone: no rate is over 100 %."""
    highest = max(highest, _STEPS[0])
    step = next((step for step in _STEPS if highest / step <= 4), _STEPS[-1])
    ticks = [step * at for at in range(int(highest / step) + 1)]
    return {"range": [0, highest / FILLED], "tickmode": "array", "tickvals": ticks, "tickformat": "~%"}


def versions(line: Line) -> list[tuple[date, str]]:
    """Each day on which versions were first seen, with their names."""
    named: dict[date, list[str]] = {}
    for change in line.changes:
        named.setdefault(change.day, []).append(f"{_WORD[change.dimension]}{plain(change.version)}")
    return [(day, ", ".join(names)) for day, names in sorted(named.items())]


def mark(day: date, at: int) -> dict[str, Any]:
    """A dotted line at `day`, in panel `at`."""
    return {
        "type": "line", "xref": axis("x", at), "x0": day.isoformat(), "x1": day.isoformat(),
        "yref": f"{axis('y', at)} domain", "y0": 0, "y1": 1, "line": {"dash": "dot", "width": 1},
    }  # fmt: skip


def version(day: date, text: str, at: int, late: bool) -> dict[str, Any]:
    """The name of a version, on the upper edge of its panel, beside its mark."""
    return {
        "text": text, "xref": axis("x", at), "x": day.isoformat(), "xanchor": "right" if late else "left",
        "yref": f"{axis('y', at)} domain", "y": 1, "yanchor": "top", "showarrow": False,
        "xshift": -3 if late else 3, "font": {"size": 11},
    }  # fmt: skip


_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Unicode categories of controls, directions and separators, which would turn the text around it."""


def plain(text: str, most: int = 60) -> str:
    """`text` without what Plotly would read as markup, and with U+FFFD for each character that cannot be seen."""
    seen = "".join("\ufffd" if category(char) in _UNSEEN else char for char in text[:most])
    return seen.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
