"""Detectors from outside on the command line: those that a call names, and what is noticed of them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from api.cli import show

if TYPE_CHECKING:
    from analysis.candidates.isolation import Wanted
    from analysis.candidates.limits import Limits
    from analysis.detectors import Detector

MARKUP = 60
"""Characters of a markup or a fault in a line."""


def resolved(specs: Iterable[str], limits: "Limits", wanted: "Wanted") -> dict[str, "Detector"]:
    """The detectors from outside among those that a call names, by what names them. UsageError, before anything is
    opened, for one that does not load or contradicts its examples."""
    from analysis.candidates import is_brought

    return {spec: resolved_one(spec, limits, wanted) for spec in dict.fromkeys(specs) if is_brought(spec)}


def resolved_one(spec: str, limits: "Limits", wanted: "Wanted") -> "Detector":
    """The detector that a call names; stderr says so if it is code that runs without isolation. UsageError."""
    from analysis.candidates import resolve

    found = resolve(spec, limits, wanted)
    isolation = found.brought.isolation if found.brought else None
    if isolation and isolation.by == "none":
        show.talk(f"leakdown: warning: {spec} runs without isolation ({isolation.why}); its crashes and its time are "
                  "contained, nothing else is")  # fmt: skip
    return found


def warn(report: dict[str, Any]) -> None:
    """Say on stderr what was noticed of code: answers that change, and triggers that leave findings out."""
    for side, checks in report["checks"].items():
        name = report[side]
        if checks and checks["changed"]:
            show.talk(f"leakdown: warning: {name} {_changed(checks)}")
        if checks and checks["unsound"]:
            show.talk(f"leakdown: warning: {name} {_unsound(checks)}")


def _changed(checks: dict[str, Any]) -> str:
    first = checks["changed_examples"][0]
    return (
        f"changed its answer on {checks['changed']:,} of {checks['asked_twice']:,} outputs that it was asked twice: "
        f"{first['generation_id']}, first {show.brief(first['first'], MARKUP)}, then "
        f"{show.brief(first['second'], MARKUP)}; no figure of it can be relied on"
    )


def _unsound(checks: dict[str, Any]) -> str:
    first = checks["unsound_examples"][0]
    return (
        f"finds something in {checks['unsound']:,} of {checks['silent']:,} outputs without any of its triggers: "
        f"{first['generation_id']}, {show.brief(first['markup'], MARKUP)}; such outputs were not shown to it, so "
        "declare that trigger too, or none"
    )
