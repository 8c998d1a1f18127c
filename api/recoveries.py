"""Recovery as the service keeps it: whose fault the leaks are takes as long, and is kept beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from analysis.filters import Filters
from analysis.rates import DEFAULT_BY
from analysis.recovery.policies import chosen, policies
from analysis.recovery.policy_replay import replay_policies
from analysis.recovery.round_rates import checked
from analysis.source_hash import source_hash
from api import kept_answers
from api.figures import BY_KIND
from api.kept_answers import KeptAnswers
from api.remembered import state_of
from api.work import Json, Progress


@dataclass(frozen=True, slots=True)
class Kept(kept_answers.Kept):
    """What was computed last for a question, and whose fault the leaks are."""

    faults: list[Json] | None


class Recoveries(KeptAnswers):
    """The answers to questions of recovery: policies, filters, and a time."""

    kind = "recovery"

    def kept(self, specs: Sequence[str], where: Sequence[str], since: str | None, by: Sequence[str] = BY_KIND) -> Kept:
        """The latest answer, at once; what a change has made old is computed anew meanwhile. UsageError."""
        found = self.latest(_question(specs, where, since, by))
        report = found.report
        return Kept(report, found.computed_at, found.now, report.pop("faults") if report else None)

    def up_to_date(
        self, specs: Sequence[str], where: Sequence[str], since: str | None, by: Sequence[str] = BY_KIND
    ) -> Json:
        """The answer for the store as it is, once it is computed. UsageError, Stopping, LeakdownError if it fails."""
        found = self.answer(_question(specs, where, since, by))
        return {name: value for name, value in found.items() if name != "faults"}

    def again(self, specs: Sequence[str], where: Sequence[str], since: str | None, by: Sequence[str] = BY_KIND) -> None:
        """Compute the answer anew, whatever is kept. UsageError."""
        self.anew(_question(specs, where, since, by))

    def state(self) -> str:
        """Labels too: a policy's mistakes are told by them. And the source: another leakdown computes anew what an
        earlier one has kept."""
        return repr((state_of(self.backend.store, labels=True), _source()))

    def compute(self, request: Json, told: Progress) -> Json:
        """The report of recovery, with whose fault the leaks are."""
        where, since = request["where"], request["since"]
        found = self.backend.figures.recovery(request["policies"], where, since, told, by=request["by"])
        return {**found, "faults": self.backend.figures.faults(DEFAULT_BY, where, since, told)}


def _question(specs: Sequence[str], where: Sequence[str], since: str | None, by: Sequence[str]) -> Json:
    Filters.parse(where, since)
    policies_asked = [each.id for each in chosen(specs)]
    return {"policies": policies_asked, "where": list(where), "since": since, "by": list(checked(by))}


@cache
def _source() -> str:
    """The source that decides the figures."""
    modules = (replay_policies.__module__, *(each.decide.__module__ for each in policies()))
    return repr([source_hash(each) for each in modules])
