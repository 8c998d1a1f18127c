"""A replay as one HTML file that needs nothing else: its style inside, no script, all text of models escaped."""

from typing import Any

from api.pages.rendering import render
from api.pages.replay_figures import figures

LISTED = 1_000
"""Disagreements listed; the JSON has more."""


def html(report: dict[str, Any]) -> bytes:
    """The report, given as the command line's JSON, as UTF-8."""
    listed = report["disagreements"][:LISTED]
    unlisted = report["baseline_only"] + report["candidate_only"] - len(listed)
    return render("replay_file.html", {**figures(report), "listed": listed, "unlisted": unlisted})
