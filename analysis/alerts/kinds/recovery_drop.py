"""Leaks of a line are recovered less often than in its first days."""

from datetime import date
from typing import Literal

from analysis.alerts.alarms import Watched, share
from analysis.alerts.histories import Watch, unrecovered
from analysis.alerts.rules import ComparingRule
from analysis.drift.cells import Part


class RecoveryDrop(ComparingRule):
    """Of a run's leaked rounds a larger share is not recovered than in the baseline, since some day after it."""

    kind: Literal["recovery_drop"]

    def watch(self, over: Watch) -> Watched:
        """All lines; too little is known of those with under ten runs that leaked in the baseline."""
        return self.against_baselines(unrecovered(over, self.first_day))

    def words(self, baseline: Part, recent: Part, since: date) -> str:
        """One line about it."""
        return (
            f"{share(recent)} of leaked rounds are not recovered since {since}, "
            f"and {share(baseline)} in its first {self.baseline_days} days"
        )
