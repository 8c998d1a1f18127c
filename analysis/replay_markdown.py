"""A replay as Markdown, short enough for a pull-request comment."""

import re
import unicodedata
from typing import Any

from analysis.candidates.markdown import told
from analysis.replay import wording
from analysis.sampling.markdown import section

Json = dict[str, Any]

SHOWN = 15
"""Shapes shown; the JSON has more."""
SEGMENTS = 3
"""Segments shown of a dimension."""
CELL = 240
"""Code points shown of a text: an id or a tool's name may be of any length, a comment on GitHub may not."""

_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_BACKTICKS = re.compile(r"`+")


def markdown(report: Json) -> str:
    """The population, the confusion, the labelled figures, what it would have cost, the operating points, the segments
    and shapes that matter most, of a report as JSON."""
    parts = [
        f"## Replay: `{report['baseline']}` (baseline) × `{report['candidate']}` (candidate)",
        *(f"**Warning:** {code(line)}" for line in wording.not_isolated(report)),
        _population(report),
        _confusion(report),
        *told(report, code),
        _labelled(report["labelled"]),
        section(report["estimates"]) if report.get("estimates") else "",
        _policy(report),
        _points(report),
        _segments(report),
        _shapes(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _population(report: Json) -> str:
    population = report["population"]
    asked = [f"only where {' and '.join(map(code, population['where']))}"] if population["where"] else []
    told = wording.population({**population, "where": []})
    failed = [f"{wording.number(n, 'output')} on which the {side} failed" for side, n in report["errors"].items() if n]
    return "; ".join([f"{population['generations']:,} generations", *asked, *told, *failed]) + "."


def _confusion(report: Json) -> str:
    return "\n".join(
        (
            "| | candidate: leak | candidate: no leak |",
            "|---|--:|--:|",
            f"| **baseline: leak** | {report['both']:,} | {report['baseline_only']:,} |",
            f"| **baseline: no leak** | {report['candidate_only']:,} | {report['neither']:,} |",
            "",
            f"Called a leak: {wording.points(report['difference'])} by the candidate.",
        )
    )


def _labelled(labelled: Json) -> str:
    if not labelled["n"]:
        return "No output is labelled, so nothing is said of false positives and negatives."
    return "\n".join(
        (
            f"{labelled['n']:,} labelled (95 % intervals in brackets):",
            "",
            "| | TP | FP | FN | TN | precision | recall |",
            "|---|--:|--:|--:|--:|---|---|",
            _row("baseline", labelled["baseline"]),
            _row("candidate", labelled["candidate"]),
            "",
            f"The candidate adds {labelled['new_tp']:,} true and {labelled['new_fp']:,} false positives and loses "
            f"{labelled['lost_tp']:,} true and {labelled['lost_fp']:,} false ones; "
            f"exact McNemar p = {labelled['mcnemar_p']:.3g}. Candidate less baseline: "
            f"recall {_change(labelled['differences']['recall'], 'leaks')}, "
            f"false alarms {_change(labelled['differences']['false_alarms'], 'clean')}.",
        )
    )


def _row(name: str, judged: Json) -> str:
    figures = " | ".join(f"{judged[cell]:,}" for cell in ("tp", "fp", "fn", "tn"))
    precision = _rate(judged, "precision", judged["tp"] + judged["fp"])
    return f"| {name} | {figures} | {precision} | {_rate(judged, 'recall', judged['tp'] + judged['fn'])} |"


def _rate(judged: Json, name: str, n: int) -> str:
    if judged[name] is None:
        return "undefined (n = 0)"
    return f"{judged[name]:.1%} [{judged[f'{name}_low']:.1%}, {judged[f'{name}_high']:.1%}] (n = {n:,})"


def _change(difference: Json, what: str) -> str:
    return f"{wording.points(difference)} of {difference['n']:,} {what}"


def _policy(report: Json) -> str:
    if not (report["baseline_only"] + report["candidate_only"]):
        return ""
    lines = ("; ".join(each) for each in wording.policy(report["policy"]))
    return "\n".join((f"If {report['policy']['assumes']}:", "", *(f"- {line}" for line in lines)))


def _points(report: Json) -> str:
    rows = [_point(*each) for each in wording.points_of_detector(report)]
    return _folded(
        "If findings counted from another tier on",
        "| detector | tier | extra rounds | precision | recall | thrown away | passed off |",
        "|---|---|---|---|---|---|---|",
        *rows,
    )


def _point(detector: str, tier: str, point: Json) -> str:
    costs, tp = point["costs"], point["tp"]
    precision, recall = _rate(point, "precision", tp + point["fp"]), _rate(point, "recall", tp + point["fn"])
    cells = (_of(costs["extra_rounds"]), precision, recall, _of(costs["thrown_away"]), _of(costs["passed_off"]))
    return f"| `{detector}` | {tier} | {' | '.join(cells)} |"


def _of(rate: Json) -> str:
    return f"{rate['hits']:,} of {rate['n']:,}"


def _segments(report: Json) -> str:
    rows = [
        f"| {dimension} | {code(row['value']) if row['value'] else '–'} | {row['n']:,} | {row['both']:,} "
        f"| {row['baseline_only']:,} | {row['candidate_only']:,} | {wording.points(row['difference'])} |"
        for dimension, row in wording.differing_segments(report, SEGMENTS)
    ]
    if not rows:
        return ""
    return _folded(
        "Where they differ most",
        "| by | value | n | both | baseline only | candidate only | difference |",
        "|---|---|--:|--:|--:|--:|---|",
        *rows,
    )


def _folded(title: str, *table: str) -> str:
    """A table that a comment on GitHub shows on demand; the blank lines let Markdown stand inside HTML."""
    return "\n".join((f"<details><summary>{title}</summary>", "", *table, "", "</details>"))


def _shapes(report: Json) -> str:
    differing = report["baseline_only"] + report["candidate_only"]
    if not differing:
        return "The two agree on every output."
    shapes = report["shapes"]
    of = len(shapes["rows"]) + shapes["left_out"]["shapes"]
    title = f"{wording.number(differing, 'disagreement')} of {wording.number(of, 'shape')}"
    title += f", the {SHOWN} most frequent:" if of > SHOWN else ":"
    rows = [_shape(each) for each in shapes["rows"][:SHOWN]]
    head = ("| n | says leak | label | markup | reason | such as |", "|--:|---|---|---|---|---|")
    return "\n".join((title, "", *head, *rows))


def _shape(each: Json) -> str:
    side, example = each["says_leak"], each["examples"][0]
    label = f"{each['labelled']['leaks']:,} of {each['labelled']['n']:,} leaks" if each["labelled"]["n"] else "–"
    markup, reason = code(each["skeleton"]), code(each[side]["reason"])
    return f"| {each['n']:,} | {side} | {label} | {markup} | {reason} | {code(example['generation_id'])} |"


def code(text: str) -> str:
    """The head of `text` as a code span that fits a table cell: no line ends, no cell borders, no way out of it."""
    shown = text if len(text) <= CELL else text[: CELL - 1] + "…"
    line = "".join(" " if unicodedata.category(char) in _UNSEEN else char for char in shown)
    # within a table cell a pipe ends the cell even in code, and escaping it is GitHub's own rule
    line = line.replace("|", "\\|")
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(line)), default=0) + 1)
    return f"{fence} {line} {fence}"
