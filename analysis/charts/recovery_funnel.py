"""What became of the rounds that began with a leak?

Three panels over one scale: which were retried; how those ended that were; how the others did. Bars are shares of the
panel's own rounds, with their 95 % intervals.
"""

from typing import Any

ROW, TITLE, FOOT = 26, 34, 30
"""Pixels of a bar's row, of a panel's title, and of the scale below the last panel."""
_WORDS = {"leaked_again": "leaked again", "passed_off": "passed off"}
Panel = tuple[str, list[tuple[str, dict[str, Any]]]]


def panels(funnel: dict[str, Any]) -> list[Panel]:
    """Title and bars of each panel; a panel without a round is left out, and so are ends that no round has."""
    retried, rounds = funnel["retried"], funnel["rounds"]
    found: list[Panel] = [(f"{rounds:,} leaked rounds", [("retried", retried)])]
    for name, ends, n in (
        ("retried", funnel["after_retry"], retried["hits"]),
        ("not retried", funnel["without_retry"], rounds - retried["hits"]),
    ):
        if n:
            bars = [(_word(each["end"], name), each) for each in ends if each["hits"]]
            found.append((f"{n:,} {name}", bars))
    return found if rounds else []


def _word(end: str, part: str) -> str:
    return "recovered" if end == "structured" and part == "retried" else _WORDS.get(end, end)


def figure(funnel: dict[str, Any]) -> dict[str, Any]:
    """The chart as Plotly JSON."""
    found = panels(funnel)
    whole = sum(TITLE + ROW * len(bars) for _, bars in found) or 1
    layout: dict[str, Any] = {
        "height": whole + FOOT, "margin": {"l": 96, "r": 16, "t": 0, "b": FOOT},
        "showlegend": False, "hovermode": "closest", "annotations": [], "shapes": [], "bargap": 0.35,
        "xaxis": {
            "range": [0, 1.02], "tickformat": "~%", "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "anchor": "free", "position": 0,
        },
    }  # fmt: skip
    top = whole
    for at, (title, bars) in enumerate(found):
        layout["annotations"].append(_title(title, top / whole))
        bottom = top - TITLE - ROW * len(bars)
        axis = {"domain": [bottom / whole, (top - TITLE) / whole], "autorange": "reversed", "type": "category"}
        layout[f"yaxis{'' if at == 0 else at + 1}"] = {**axis, "anchor": "x", "ticklen": 4}
        top = bottom
    return {"data": [_trace(bars, at) for at, (_, bars) in enumerate(found)], "layout": layout}


def _title(text: str, y: float) -> dict[str, Any]:
    return {
        "text": f"<b>{text}</b>", "xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": y, "yanchor": "top",
        "yshift": -8, "showarrow": False,
    }  # fmt: skip


def _trace(bars: list[tuple[str, dict[str, Any]]], at: int) -> dict[str, Any]:
    rates = [each for _, each in bars]
    return {
        "type": "bar",
        "orientation": "h",
        "xaxis": "x",
        "yaxis": "y" if at == 0 else f"y{at + 1}",
        "y": [name for name, _ in bars],
        "x": [each["rate"] for each in rates],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [each["high"] - each["rate"] for each in rates],
            "arrayminus": [each["rate"] - each["low"] for each in rates],
            "thickness": 1.5,
            "width": 4,
        },
        "text": [_hover(*each) for each in bars],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }


def _hover(name: str, of: dict[str, Any]) -> str:
    return f"{name}: {of['hits']:,} of {of['n']:,}<br>{of['rate']:.1%} ({of['low']:.1%} to {of['high']:.1%})"
