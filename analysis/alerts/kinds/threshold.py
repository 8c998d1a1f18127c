"""A line leaks more than a rate that the rule names."""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from analysis.alerts.alarms import Alarm, Watched, percent, share, surest
from analysis.alerts.histories import History, Watch, leaks
from analysis.alerts.rules import Rule, tested
from analysis.statistics.e_values import LEAST


class Threshold(Rule):
    """Runs of a line leak more than `rate`, on the average, since some day of those that the rule watches."""

    kind: Literal["threshold"]
    rate: Annotated[float, Field(ge=LEAST, lt=1, description="The mean share of leaks of a run that is still fine.")]

    def watch(self, over: Watch) -> Watched:
        """All lines; on none is too little known, since the rule tells what is usual."""
        every = [*leaks(over, self.first_day)]
        return Watched(len(every), 0, surest([self._tested(each) for each in every]))

    def _tested(self, history: History) -> Alarm:
        found = tested(history, self.rate)
        what = f"leaks {share(found.recent)} since {found.since}, and the rule allows {percent(self.rate)}"
        return replace(found, what=what)
