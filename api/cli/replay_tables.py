"""A replay on the terminal: what was compared, the cells, the labelled figures, what it would have cost, the shapes."""

from typing import Any

from analysis.replay import wording
from api.cli import show

SHAPES = 5
"""Shapes listed."""
SEGMENTS = 2
"""Segments listed of a dimension."""
FAULT = 160
"""Characters of a failure."""
MARKUP = 60
"""Characters of their markup."""

Json = dict[str, Any]


def show_report(report: Json) -> None:
    """Print the report, given as the command line's JSON, as tables."""
    _population(report)
    _labelled(report["labelled"])
    if report.get("estimates"):
        from api.cli.estimates_tables import show_estimates

        print()
        show_estimates(report["estimates"])
    _policy(report)
    _points(report)
    _segments(report)
    _shapes(report)


def _population(report: Json) -> None:
    population, baseline, candidate = report["population"], report["baseline"], report["candidate"]
    print(f"{population['generations']:,} generations, {baseline} (baseline) against {candidate} (candidate)")
    for line in (*wording.not_isolated(report), *wording.population(population)):
        print(f"  {show.safe(line)}")
    for side, failed in report["errors"].items():
        if failed:
            print(f"  the {side} failed on {failed:,}, which stand in none of the cells")
        for each in report["failures"][side][:SHAPES]:
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
    print(f"called a leak: {wording.points(report['difference'])} by the candidate (95 % intervals everywhere)")
    print()


def _labelled(labelled: Json) -> None:
    if not labelled["n"]:
        print("None of them is labelled, so nothing is said of which detector is right.\n")
        return
    print(f"{labelled['n']:,} of them labelled")
    show.table(
        ("", "true pos.", "false pos.", "false neg.", "true neg.", "precision (95 %)", "recall (95 %)"),
        [_row(side, labelled[side]) for side in ("baseline", "candidate")],
    )
    p, differences = labelled["mcnemar_p"], labelled["differences"]
    print(
        f"candidate: {labelled['new_tp']:,} new true and {labelled['new_fp']:,} new false positives, "
        f"{labelled['lost_tp']:,} true and {labelled['lost_fp']:,} false positives lost; "
        f"McNemar p {'–' if p is None else format(p, '.3g')}"
    )
    for name, what in (("recall", "recall"), ("false_alarms", "false alarms")):
        print(f"{what}: {wording.points(differences[name])}, n = {differences[name]['n']:,}")
    print()


def _row(side: str, judged: Json) -> tuple[object, ...]:
    counts = (judged[name] for name in ("tp", "fp", "fn", "tn"))
    return side, *counts, show.interval(judged, "precision"), show.interval(judged, "recall")


def _policy(report: Json) -> None:
    if not (report["baseline_only"] + report["candidate_only"]):
        return
    print(f"If {report['policy']['assumes']}:")
    for first, *known in wording.policy(report["policy"]):
        print(f"  {first}")
        for line in known:
            print(f"    {line}")
    print()


def _points(report: Json) -> None:
    print("If findings counted from another tier on:")
    show.table(
        ("detector", "tier", "extra rounds", "of", "precision (95 %)", "recall (95 %)", "thrown away", "passed off"),
        [
            (
                detector, tier, point["costs"]["extra_rounds"]["hits"], point["costs"]["extra_rounds"]["n"],
                show.interval(point, "precision"), show.interval(point, "recall"),
                _of(point["costs"]["thrown_away"]), _of(point["costs"]["passed_off"]),
            )
            for detector, tier, point in wording.points_of_detector(report)
        ],
    )  # fmt: skip
    print()


def _of(rate: Json) -> str:
    return f"{rate['hits']:,}/{rate['n']:,}"


def _segments(report: Json) -> None:
    found = wording.differing_segments(report, SEGMENTS)
    if not found:
        return
    print("Where they differ most (all with --json F)")
    show.table(
        ("by", "value", "n", "both", "baseline only", "candidate only", "difference (95 %)"),
        [
            (
                dimension, row["value"], row["n"], row["both"], row["baseline_only"], row["candidate_only"],
                wording.points(row["difference"]),
            )
            for dimension, row in found
        ],
    )  # fmt: skip
    print()


def _shapes(report: Json) -> None:
    differing = report["baseline_only"] + report["candidate_only"]
    if not differing:
        print("They agree on every output.")
        return
    shapes = report["shapes"]
    of = len(shapes["rows"]) + shapes["left_out"]["shapes"]
    more = f"; the first {SHAPES} (all with --json F):" if of > SHAPES else ":"
    print(f"{wording.number(differing, 'disagreement')} of {wording.number(of, 'shape')}{more}")
    columns = ("n", "says leak", "kind", "leaks, by people", "markup", "such as")
    show.table(columns, [_shape(each) for each in shapes["rows"][:SHAPES]])


def _shape(shape: Json) -> tuple[object, ...]:
    side, labelled = shape["says_leak"], shape["labelled"]
    people = f"{labelled['leaks']:,}/{labelled['n']:,}" if labelled["n"] else None
    markup, example = show.brief(shape["skeleton"], MARKUP), shape["examples"][0]["generation_id"]
    return shape["n"], side, wording.gist(shape[side]), people, markup, example
