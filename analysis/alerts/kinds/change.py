"""A line leaks more than in its first days."""

from datetime import date
from typing import Literal

from analysis.alerts.alarms import Watched, share
from analysis.alerts.histories import Watch, leaks
from analysis.alerts.rules import ComparingRule
from analysis.drift.cells import Part


class Change(ComparingRule):
    """Runs of a line leak more than in its baseline, on the average, since some day after it."""

    kind: Literal["change"]

    def watch(self, over: Watch) -> Watched:
        """All lines; too little is known of those with under ten runs in the baseline."""
        return self.against_baselines(leaks(over, self.first_day))

    def words(self, baseline: Part, recent: Part, since: date) -> str:
        """One line about it."""
        return f"leaks {share(recent)} since {since}, and {share(baseline)} in its first {self.baseline_days} days"
