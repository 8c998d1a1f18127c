"""Drift as the service keeps it: the simulated thresholds and what else moved take minutes on a large store."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from analysis.alerts.files import DEFAULT
from analysis.alerts.watching import watch
from analysis.drift import drift
from analysis.filters import Filters
from analysis.source_hash import source_hash
from api.alerts import Said
from api.kept_answers import Kept, KeptAnswers
from api.remembered import state_of
from api.work import Json, Progress

PATIENCE = 3.0
"""Seconds that the page waits for what it began: time enough for a few dozen lines."""


class Drifts(KeptAnswers):
    """The answers to questions of drift: filters, and a time."""

    kind = "drift"

    def kept(self, where: Sequence[str], since: str | None) -> Kept:
        """The latest answer, at once; what a change has made old is computed anew meanwhile. UsageError."""
        found = self.latest(_question(where, since))
        return replace(found, report=found.report and self.backend.figures.spoken(found.report))

    def up_to_date(self, where: Sequence[str], since: str | None) -> Json:
        """The answer for the store as it is, once it is computed. UsageError, Stopping, LeakdownError if it fails."""
        return self.backend.figures.spoken(self.answer(_question(where, since)))

    def again(self, where: Sequence[str], since: str | None) -> None:
        """Compute the answer anew, whatever is kept. UsageError."""
        self.anew(_question(where, since))

    def state(self) -> str:
        """The day too: what is dated later is left out. And the rules of alerts; but what people said of them is put
        beside them when they are read."""
        return repr((state_of(self.backend.store), datetime.now(UTC).date(), self.backend.alerts.rules, _source()))

    def say(self, alert: str, said: Said) -> Json:
        """Acknowledge, mute or open an alert; how it is then. Nothing is computed for one that the page shows.
        NotFound, Conflict, UsageError."""
        return self.backend.alerts.say(alert, said, self._rule(alert))

    def _rule(self, alert: str) -> str | None:
        """The rule of an alert that was found last, if it is one of those in force."""
        shown = self.computed(_question((), None))
        names = {each.name for each in self.backend.alerts.rules or DEFAULT}
        items = shown["alerts"]["items"] if shown else ()
        return next((each["rule"] for each in items if each["id"] == alert and each["rule"] in names), None)

    def compute(self, request: Json, told: Progress) -> Json:
        """The report of drift, with the alerts."""
        return self.backend.figures.unspoken_drift(request["where"], request["since"], told)


def _question(where: Sequence[str], since: str | None) -> Json:
    Filters.parse(where, since)
    return {"where": list(where), "since": since}


@cache
def _source() -> str:
    """The source that decides the figures: another leakdown computes anew what an earlier one has kept."""
    return repr([source_hash(each.__module__) for each in (drift, watch)])
