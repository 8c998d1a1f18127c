"""What a replay's page and its HTML file show beside the report's own values: figures to draw, tables cut to size."""

from typing import Any

from analysis.replay import wording
from analysis.sampling import markdown as sampled
from analysis.sampling.cells import FOUND
from api.pages.figures import Change, Share, percent, percent_points, step

SEGMENTS = 12
"""Segments shown of a dimension; the JSON has more."""

Json = dict[str, Any]


def figures(report: Json) -> Json:
    """The context of the templates that a replay's page and its file share."""
    labelled = report["labelled"]
    return {
        "report": report,
        "not_isolated": wording.not_isolated(report),
        "declared": wording.population(report["population"]),
        "difference": change(report["difference"]),
        "judged": {side: judged(labelled[side]) for side in ("baseline", "candidate")},
        "changes": {name: change(each) for name, each in labelled["differences"].items()},
        "policy": wording.policy(report["policy"]),
        "points": [_point(*each) for each in wording.points_of_detector(report)],
        "dimensions": [_dimension(name, each) for name, each in report["segments"].items()],
        "gist": wording.gist,
        "estimated": estimated(report.get("estimates")),
    }


def estimated(estimates: Json | None) -> Json | None:
    """What a drawn sample says of all outputs, in words; None without one."""
    if estimates is None:
        return None
    return {
        "title": sampled.title(estimates),
        "sides": [(side, sampled.figures(estimates[side])) for side in FOUND],
        "strata": [sampled.stratum_cells(row) for row in estimates["strata"] if row["generations"]],
        "remarks": list(sampled.remarks(estimates)),
    }


def change(of: Json, full: float = 1.0) -> Change:
    """A difference as the JSON has it, to draw."""
    words = percent_points(of["value"])
    return Change(of["n"], of["value"], of["low"], of["high"], words, full)


def judged(figures: Json) -> dict[str, Share]:
    """Precision and recall, each with what it counts."""

    def share(name: str, missed: str) -> Share:
        n = figures["tp"] + figures[missed]
        return Share(figures["tp"], n, figures[name], figures[f"{name}_low"], figures[f"{name}_high"])

    return {"precision": share("precision", "fp"), "recall": share("recall", "fn")}


def _point(detector: str, tier: str, point: Json) -> Json:
    costs = {
        name: Share(each["hits"], each["n"], each["rate"], each["low"], each["high"])
        for name, each in point["costs"].items()
    }
    return {"detector": detector, "tier": tier, **judged(point), **costs}


def _dimension(name: str, dimension: Json) -> Json:
    rows = dimension["rows"][:SEGMENTS]
    widest = max((abs(row["difference"][end] or 0.0) for row in rows for end in ("low", "high")), default=0.0)
    full = step(widest)
    return {
        "name": wording.DIMENSIONS[name],
        "full": percent(full),
        "of_findings": name in ("family", "kind", "tier"),
        "rows": [
            {**row, "change": change(row["difference"], full), "judged": judged(row["labelled"]["candidate"])}
            for row in rows
        ],
        "left_out": dimension["left_out"] + len(dimension["rows"]) - len(rows),
    }
