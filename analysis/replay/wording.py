"""A report in words, for a terminal, a comment and a page alike: from its JSON, as plain text without markup."""

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]
UNDEFINED = "undefined (n = 0)"
LEFT_OUT = {
    "filtered": "outside the filters",
    "out_of_period": "outside the period",
    "no_time": "without a time, so in no period",
    "other_role": "not of an agent (title, summary, judge …)",
    "no_output": "without any output",
    "pruned": "whose text was pruned",
}
DIMENSIONS = {
    "model": "model",
    "engine": "engine",
    "template": "template",
    "family": "family found",
    "kind": "kind found",
    "tier": "tier found",
}


def not_isolated(report: Json) -> list[str]:
    """A line for each side whose code could do what its user can: what is contained, and why no more is."""
    told = report.get("isolation") or {}
    return [
        f"the {side} ran without isolation: its crashes and its time are contained, nothing else is ({each['why']})"
        for side in ("baseline", "candidate")
        if (each := told.get(side)) and each["by"] == "none"
    ]


def percent(share: float) -> str:
    """A share in percent, with a second digit where one would say nothing."""
    return f"{share:.2%}" if 0 < share < 0.01 else f"{share:.1%}"


def rate(of: Json) -> str:
    """A rate with its interval and n."""
    if of["rate"] is None:
        return UNDEFINED
    return f"{percent(of['rate'])} ({percent(of['low'])}–{percent(of['high'])})"


def points(of: Json) -> str:
    """A difference of shares in percentage points, with its interval."""
    if of["value"] is None:
        return UNDEFINED
    digits = 1 if max(abs(of["low"]), abs(of["high"])) >= 0.01 else 3
    value, low, high = (f"{100 * of[name]:+.{digits}f}" for name in ("value", "low", "high"))
    return f"{value} points ({low} to {high})"


def number(n: int, word: str, several: str | None = None) -> str:
    """`n` things."""
    return f"{n:,} {word if n == 1 else several or word + 's'}"


def population(of: Json) -> list[str]:
    """What was compared: the filters and the period, then what was left out and why."""
    asked = [f"only where {' and '.join(of['where'])}"] if of["where"] else []
    asked += [f"since {of['since']}"] if of["since"] else []
    asked += [f"before {of['until']}"] if of["until"] else []
    left_out = [f"left out: {n:,} {LEFT_OUT.get(reason, reason)}" for reason, n in of["left_out"].items()]
    return ([", ".join(asked)] if asked else []) + left_out


def policy(of: Json) -> list[list[str]]:
    """What the disagreements would have meant under a retry policy: for either way how many rounds, then what is known
    of them by labels and what is not."""
    candidate, baseline = of["candidate_only"], of["baseline_only"]
    thrown, passed = candidate["thrown_away"], baseline["passed_off"]
    return [
        [
            f"{number(candidate['extra_rounds'], 'more round')}, where only the candidate finds a leak",
            *_known(
                candidate,
                f"{number(thrown['hits'], 'good answer')} thrown away, {rate(thrown)}, "
                f"and {number(candidate['leaks_caught'], 'leak')} caught",
            ),
        ],
        [
            f"{number(baseline['rounds_saved'], 'fewer round')}, where only the baseline does",
            *_known(
                baseline,
                f"{number(passed['hits'], 'leak')} passed off, {rate(passed)}, "
                f"and {number(baseline['answers_kept'], 'good answer')} kept",
            ),
        ],
    ]


def _known(of: Json, what: str) -> list[str]:
    if not of["labelled"]:
        return ["none of them labelled"] if of["unlabelled"] else []
    rest = [f"nothing is known of the other {of['unlabelled']:,}"] if of["unlabelled"] else []
    return [f"{of['labelled']:,} of them labelled: {what}", *rest]


def labels(of: Json) -> str:
    """What people say of the disagreements of a shape."""
    return f"{of['leaks']:,} of {of['n']:,} labelled" if of["n"] else "none labelled"


def gist(of: Json | None) -> str:
    """What one side says of all outputs of a shape."""
    if of is None:
        return "no finding"
    return f"{of['kind'].replace('_', ' ')}{' of ' + of['family'] if of['family'] else ''}"


def points_of_detector(report: Json) -> list[tuple[str, str, dict[str, Any]]]:
    """The operating points in order: detector, tier, figures; once where both detectors are the same."""
    sides = ("baseline",) if report["baseline"] == report["candidate"] else ("baseline", "candidate")
    return [(report[side], tier, point) for side in sides for tier, point in report["operating_points"][side].items()]


def differing_segments(report: Json, most: int) -> list[tuple[str, Json]]:
    """The segments in which the two differ, by dimension, at most `most` of each; none of one that nobody told."""
    told = {
        name: dimension
        for name, dimension in report["segments"].items()
        if any(row["value"] is not None for row in dimension["rows"])
    }
    return [
        (DIMENSIONS[name], row)
        for name, dimension in told.items()
        for row in [row for row in dimension["rows"] if row["baseline_only"] + row["candidate_only"]][:most]
    ]
