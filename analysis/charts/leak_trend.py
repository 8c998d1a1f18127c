"""How does the leak rate of each line move over time, and where did its versions change?

Weeks of seven days, UTC, ending on the last day with data; one panel a line; 95 % intervals as error bars.
"""

from typing import Any

from analysis.charts.drawing import axis, late, mark, plain, scale, trace, version, versions
from analysis.charts.weekly_lines import Line

PANEL, TITLE, FOOT = 142, 28, 20
"""Pixels of a panel's height, and what of it stands above and below the drawing."""


def figure(found: list[Line]) -> dict[str, Any]:
    """The chart as Plotly JSON: one panel a line, all over the same days."""
    layout: dict[str, Any] = {
        "height": PANEL * len(found) + 48, "margin": {"l": 48, "r": 16, "t": 4, "b": 44},
        "showlegend": False, "hovermode": "closest", "annotations": [], "shapes": [],
    }  # fmt: skip
    for at, line in enumerate(found):
        _add_panel(layout, line, at, len(found))
        layout["annotations"] += [version(day, text, at, late(found, day)) for day, text in versions(line)]
        layout["shapes"] += [mark(day, at) for day, _ in versions(line)]
    return {"data": [trace(line, at) for at, line in enumerate(found)], "layout": layout}


def _add_panel(layout: dict[str, Any], line: Line, at: int, panels: int) -> None:
    """Axes of the panel, and its title above them."""
    whole, number, top = PANEL * panels, "" if at == 0 else at + 1, 1 - at / panels
    layout[f"yaxis{number}"] = {
        "domain": [top - (PANEL - FOOT) / whole, top - TITLE / whole],
        "anchor": axis("x", at),
        **scale(max((week.rate.high or 0.0 for week in line.weeks), default=0.0)),
    }
    layout[f"xaxis{number}"] = {
        "anchor": axis("y", at), "type": "date",
        "matches": "x" if at else None, "showticklabels": at == panels - 1,
    }  # fmt: skip
    layout["annotations"].append(_title(line, top))


def _title(line: Line, y: float) -> dict[str, Any]:
    return {
        "text": f"<b>{plain(line.name)}</b>",
        "xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": y, "yanchor": "top", "showarrow": False,
    }  # fmt: skip
