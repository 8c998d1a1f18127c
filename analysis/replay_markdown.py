"""A replay as Markdown, short enough for a pull-request comment."""

import re
import unicodedata
from typing import Any

from analysis.candidates.markdown import told

Json = dict[str, Any]

SHOWN = 20
"""Disagreements shown; the JSON has more."""
CELL = 240
"""Code points shown of a text: an id or a tool's name may be of any length, a comment on GitHub may not."""

_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_BACKTICKS = re.compile(r"`+")


def markdown(report: Json) -> str:
    """The population, the confusion, the labelled figures, and the first disagreements of a report as JSON."""
    parts = [
        f"## Replay: `{report['baseline']}` (baseline) × `{report['candidate']}` (candidate)",
        _population(report),
        _confusion(report),
        *told(report, code),
        _labelled(report["labelled"]),
        _disagreements(report),
    ]
    return "\n\n".join(parts) + "\n"


def _population(report: Json) -> str:
    population = report["population"]
    left_out = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in population["left_out"].items())
    text = f"{population['generations']:,} generations" + (f"; left out: {left_out}" if left_out else "")
    failed = [f"{n:,} outputs on which the {side} failed" for side, n in report["errors"].items() if n]
    return "; ".join([text, *failed]) + "."


def _confusion(report: Json) -> str:
    return "\n".join(
        (
            "| | candidate: leak | candidate: no leak |",
            "|---|--:|--:|",
            f"| **baseline: leak** | {report['both']:,} | {report['baseline_only']:,} |",
            f"| **baseline: no leak** | {report['candidate_only']:,} | {report['neither']:,} |",
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
            f"exact McNemar p = {labelled['mcnemar_p']:.3g}.",
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


def _disagreements(report: Json) -> str:
    differing = report["baseline_only"] + report["candidate_only"]
    if not differing:
        return "The two agree on every output."
    rows = [_disagreement(each) for each in report["disagreements"][:SHOWN]]
    title = f"{differing:,} disagreements" + (f", the first {SHOWN}:" if differing > SHOWN else ":")
    return "\n".join(
        (title, "", "| generation | says leak | label | markup | reason |", "|---|---|---|---|---|", *rows)
    )


def _disagreement(each: Json) -> str:
    by_baseline = each["baseline"] is not None and each["baseline"]["leak"]
    side = "baseline" if by_baseline else "candidate"
    label = {True: "leak", False: "not a leak", None: "–"}[each["truth"]]
    markup, reason = code(each[side]["markup"]), code(each[side]["reason"])
    return f"| {code(each['generation_id'])} | {side} | {label} | {markup} | {reason} |"


def code(text: str) -> str:
    """The head of `text` as a code span that fits a table cell: no line ends, no cell borders, no way out of it."""
    shown = text if len(text) <= CELL else text[: CELL - 1] + "…"
    line = "".join(" " if unicodedata.category(char) in _UNSEEN else char for char in shown)
    # within a table cell a pipe ends the cell even in code, and escaping it is GitHub's own rule
    line = line.replace("|", "\\|")
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(line)), default=0) + 1)
    return f"{fence} {line} {fence}"
