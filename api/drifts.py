"""Drift as the service keeps it: the simulated thresholds and what else moved take minutes on a large store."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache

from analysis.alerts.watching import watch
from analysis.drift import drift
from analysis.filters import Filters
from analysis.source_hash import source_hash
from api.kept_answers import Kept, KeptAnswers
from api.remembered import state_of
from api.work import Json, Progress
from ingest.store import one

PATIENCE = 3.0
"""Seconds that the page waits for what it began: time enough for a few dozen lines."""


class Drifts(KeptAnswers):
    """The answers to questions of drift: filters, and a time."""

    kind = "drift"

    def kept(self, where: Sequence[str], since: str | None) -> Kept:
        """The latest answer, at once; what a change has made old is computed anew meanwhile. UsageError."""
        return self.latest(_question(where, since))

    def up_to_date(self, where: Sequence[str], since: str | None) -> Json:
        """The answer for the store as it is, once it is computed. UsageError, Stopping, LeakdownError if it fails."""
        return self.answer(_question(where, since))

    def again(self, where: Sequence[str], since: str | None) -> None:
        """Compute the answer anew, whatever is kept. UsageError."""
        self.anew(_question(where, since))

    def state(self) -> str:
        """The day too: what is dated later is left out, and a mute ends. And the rules of alerts, and what people said
        of them."""
        store, rules = self.backend.store, self.backend.alerts.rules
        with store.cursor() as cursor:
            words = one(cursor, "SELECT count(*) FROM alert_words")
        return repr((state_of(store), datetime.now(UTC).date(), rules, words, _source()))

    def compute(self, request: Json, told: Progress) -> Json:
        """The report of drift, with the alerts."""
        return self.backend.figures.drift(request["where"], request["since"], told)


def _question(where: Sequence[str], since: str | None) -> Json:
    Filters.parse(where, since)
    return {"where": list(where), "since": since}


@cache
def _source() -> str:
    """The source that decides the figures: another leakdown computes anew what an earlier one has kept."""
    return repr([source_hash(each.__module__) for each in (drift, watch)])
