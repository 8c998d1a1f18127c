"""What the page of recovery shows beside the report's own values: shares to draw, and policies side by side."""

from dataclasses import dataclass
from typing import Any

from analysis.recovery.policies import Configured, policy
from api.pages import recovery_words
from api.pages.figures import Share

Json = dict[str, Any]
_ALWAYS = ("extra_rounds", "recovered", "answered", "errored", "passed_off")
"""Figures that are shown though all policies have none."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A number of rounds that was estimated, with its 95 % interval; None where nothing is."""

    value: float | None
    low: float | None
    high: float | None


def share(of: Json) -> Share:
    """A counted share as the JSON has it, to draw."""
    return Share(of["hits"], of["n"], of["rate"], of["low"], of["high"])


def figures(report: Json) -> Json:
    """The context of the page's templates."""
    funnel, strict = report["funnel"], report["strict"]
    return {
        "retried": share(funnel["retried"]),
        "parted": [
            ("retried", _ends(funnel["after_retry"], recovery_words.AFTER_RETRY)),
            ("not retried", _ends(funnel["without_retry"], recovery_words.WITHOUT_RETRY)),
        ],
        "rounds_by": [(row, [_of_rounds(row, name) for name in recovery_words.ROUND_RATES]) for row in report["rates"]],
        "sides": [_figure(name, report["policies"]) for name in recovery_words.FIGURES if _is_shown(name, report)],
        "explained": [_explained(each) for each in report["policies"]],
        "checked": {name: share({"hits": strict[name]["refused"], **strict[name]}) for name in ("calls", "envelopes")},
    }


def _of_rounds(row: Json, name: str) -> tuple[Share, str]:
    """A rate of leaked rounds, and what is missing where it is none."""
    of, why = recovery_words.OF.get(name, ("leaked_rounds", "no leaked round"))
    return Share(row[name], row[of], *(row[f"{name}_{bound}"] for bound in ("rate", "low", "high"))), why


def _ends(ends: list[Json], meanings: dict[str, str]) -> list[tuple[str, str, Share]]:
    return [(each["end"], meanings[each["end"]], share(each)) for each in ends if each["n"]]


def _is_shown(name: str, report: Json) -> bool:
    return name in _ALWAYS or any(
        each["observed"][name] or each["estimated"].get(name) for each in report["policies"]
    )  # what no policy has would be a row of zeros


def _figure(name: str, rows: list[Json]) -> Json:
    title, meaning = recovery_words.FIGURES[name]
    return {"name": name, "title": title, "meaning": meaning, "cells": [_cell(name, each) for each in rows]}


def _cell(name: str, of: Json) -> tuple[Share | int, Expected]:
    """What was observed, and what was estimated."""
    seen, unseen = of["observed"], of["estimated"]
    rate = "recovery" if name == "recovered" else name
    observed: Share | int = seen[name]
    if name != "extra_rounds":
        bounds = (seen[f"{rate}_{bound}"] for bound in ("rate", "low", "high"))
        observed = Share(seen[name], seen["n"], *bounds)
    return observed, expected(unseen, name)


def expected(unseen: Json, name: str) -> Expected:
    """An estimated figure with its interval."""
    return Expected(*(unseen.get(key) for key in (name, f"{name}_low", f"{name}_high")))


def _explained(of: Json) -> Json:
    """A policy in words: its line, its parameters with their values, and how often it decided what and why."""
    configured: Configured = policy(of["policy"])
    meanings = {(each.action, each.code): each.meaning for each in configured.policy.reasons}
    decisions = sorted(of["decisions"], key=lambda each: -each["n"])
    return {
        "id": of["policy"],
        "policy": configured.policy,
        "most_retries": configured.most_retries,
        "parameters": [(each, configured.values[each.name]) for each in configured.policy.parameters],
        "decisions": [{**each, "meaning": meanings[each["action"], each["reason"]]} for each in decisions],
    }
