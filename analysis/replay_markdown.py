"""A replay as Markdown, short enough for a pull-request comment."""

import re
import unicodedata

from analysis.replay import Disagreement, Judged, Replay
from analysis.statistics.intervals import Rate

SHOWN = 20
"""Disagreements shown; all of them stand in the JSON."""

_BACKTICKS = re.compile(r"`+")


def markdown(report: Replay) -> str:
    """The population, the confusion, the labelled figures, and the first disagreements."""
    parts = [
        f"## Replay: `{report.baseline}` (baseline) × `{report.candidate}` (candidate)",
        _population(report),
        _confusion(report),
        _labelled(report),
        _disagreements(report),
    ]
    return "\n\n".join(parts) + "\n"


def _population(report: Replay) -> str:
    left_out = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in report.left_out.items())
    text = f"{report.generations:,} generations" + (f"; left out: {left_out}" if left_out else "")
    failed = [
        f"{n:,} outputs on which the {side} failed"
        for side, n in (("baseline", report.baseline_errors), ("candidate", report.candidate_errors))
        if n
    ]
    return "; ".join([text, *failed]) + "."


def _confusion(report: Replay) -> str:
    return "\n".join(
        (
            "| | candidate: leak | candidate: no leak |",
            "|---|--:|--:|",
            f"| **baseline: leak** | {report.both:,} | {report.baseline_only:,} |",
            f"| **baseline: no leak** | {report.candidate_only:,} | {report.neither:,} |",
        )
    )


def _labelled(report: Replay) -> str:
    labelled = report.labelled
    if not labelled.n:
        return "No output is labelled, so nothing is said of false positives and negatives."
    p = labelled.mcnemar_p
    return "\n".join(
        (
            f"{labelled.n:,} labelled (95 % intervals in brackets):",
            "",
            "| | TP | FP | FN | TN | precision | recall |",
            "|---|--:|--:|--:|--:|---|---|",
            _row("baseline", labelled.baseline),
            _row("candidate", labelled.candidate),
            "",
            f"The candidate adds {labelled.new_tp:,} true and {labelled.new_fp:,} false positives and loses "
            f"{labelled.lost_tp:,} true and {labelled.lost_fp:,} false ones; exact McNemar p = {p:.3g}.",
        )
    )


def _row(name: str, judged: Judged) -> str:
    figures = f"{judged.tp:,} | {judged.fp:,} | {judged.fn:,} | {judged.tn:,}"
    return f"| {name} | {figures} | {_rate(judged.precision)} | {_rate(judged.recall)} |"


def _rate(rate: Rate) -> str:
    if rate.value is None:
        return "undefined (n = 0)"
    return f"{rate.value:.1%} [{rate.low:.1%}, {rate.high:.1%}] (n = {rate.n:,})"


def _disagreements(report: Replay) -> str:
    if not report.disagreements:
        return "The two agree on every output."
    rows = [_disagreement(each) for each in report.disagreements[:SHOWN]]
    title = f"{len(report.disagreements):,} disagreements" + (
        f", the first {SHOWN}:" if len(report.disagreements) > SHOWN else ":"
    )
    return "\n".join(
        (title, "", "| generation | says leak | label | markup | reason |", "|---|---|---|---|---|", *rows)
    )


def _disagreement(each: Disagreement) -> str:
    side, verdict = _who_says_leak(each)
    label = {True: "leak", False: "not a leak", None: "–"}[each.truth]
    return f"| {code(each.generation_id)} | {side} | {label} | {code(verdict['markup'])} | {code(verdict['reason'])} |"


def _who_says_leak(each: Disagreement) -> tuple[str, dict[str, str]]:
    if each.baseline and each.baseline["leak"]:
        return "baseline", each.baseline
    assert each.candidate is not None  # noqa: S101 - one of the two found a leak, or they would agree
    return "candidate", each.candidate


def code(text: str) -> str:
    """`text` as a code span that fits a table cell: no line ends, no cell borders, no way out of the span."""
    line = "".join(" " if unicodedata.category(char) in ("Cc", "Cf", "Cs") else char for char in text)
    # within a table cell a pipe ends the cell even in code, and escaping it is GitHub's own rule
    line = line.replace("|", "\\|")
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(line)), default=0) + 1)
    return f"{fence} {line} {fence}"
