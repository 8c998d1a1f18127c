"""A replay on the terminal: the four cells, the labelled figures, the first disagreements."""

from typing import Any

from api.cli import show

SHOWN = 5
"""Disagreements listed."""
FAULT = 160
"""Characters of a failure."""
MARKUP = 60
"""Characters of their markup."""


def show_report(report: dict[str, Any]) -> None:
    """Print the report, given as the command line's JSON, as tables."""
    population, baseline, candidate = report["population"], report["baseline"], report["candidate"]
    print(f"{population['generations']:,} generations, {baseline} (baseline) against {candidate} (candidate)")
    for reason, n in population["left_out"].items():
        print(f"  left out: {n:,} {reason.replace('_', ' ')}")
    for side, failed in report["errors"].items():
        if failed:
            print(f"  the {side} failed on {failed:,}, which stand in none of the cells")
        for each in report["failures"][side][:SHOWN]:
            print(
                f"    {each['n']:,}: {show.brief(each['error'], FAULT)} ({show.brief(each['generation_id'], MARKUP)})"
            )
    show.table(
        ("", "candidate: leak", "candidate: no leak"),
        [
            ("baseline: leak", report["both"], report["baseline_only"]),
            ("baseline: no leak", report["candidate_only"], report["neither"]),
        ],
    )
    print()
    _labelled(report["labelled"])
    print()
    _disagreements(report)


def _labelled(labelled: dict[str, Any]) -> None:
    if not labelled["n"]:
        print("None of them is labelled, so nothing is said of which detector is right.")
        return
    print(f"{labelled['n']:,} of them labelled")
    show.table(
        ("", "true pos.", "false pos.", "false neg.", "true neg.", "precision (95 %)", "recall (95 %)"),
        [_row(side, labelled[side]) for side in ("baseline", "candidate")],
    )
    p = labelled["mcnemar_p"]
    print(
        f"candidate: {labelled['new_tp']:,} new true and {labelled['new_fp']:,} new false positives, "
        f"{labelled['lost_tp']:,} true and {labelled['lost_fp']:,} false positives lost; "
        f"McNemar p {'–' if p is None else format(p, '.3g')}"
    )


def _row(side: str, judged: dict[str, Any]) -> tuple[object, ...]:
    counts = (judged[name] for name in ("tp", "fp", "fn", "tn"))
    return side, *counts, show.interval(judged, "precision"), show.interval(judged, "recall")


def _disagreements(report: dict[str, Any]) -> None:
    differing = report["baseline_only"] + report["candidate_only"]
    if not differing:
        print("They agree on every output.")
        return
    print(f"{differing:,} disagreements{f'; the first {SHOWN} (all with --json F):' if differing > SHOWN else ':'}")
    shown = [_disagreement(each) for each in report["disagreements"][:SHOWN]]
    show.table(("generation", "says leak", "label", "markup"), shown)


def _disagreement(each: dict[str, Any]) -> tuple[object, ...]:
    baseline, candidate = each["baseline"], each["candidate"]
    by_baseline = baseline is not None and baseline["leak"]
    verdict = baseline if by_baseline else candidate
    label = {True: "leak", False: "not a leak", None: None}[each["truth"]]
    markup = show.brief(verdict["markup"], MARKUP) if verdict else None
    return each["generation_id"], "baseline" if by_baseline else "candidate", label, markup
