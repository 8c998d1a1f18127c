"""The audit as the service keeps it: every rule over a whole history takes minutes on a large store. An acknowledgement
is put beside a finding when it is read, so that it computes nothing anew."""

import secrets
from dataclasses import dataclass
from functools import cache

from analysis.filters import Filters
from analysis.paging import limited
from analysis.recovery.audit import kept as kept_findings
from analysis.recovery.audit.findings import audit
from analysis.recovery.audit.rules import chosen, rules
from analysis.recovery.policies import policies, policy
from analysis.source_hash import source_hash
from api.audits import AuditAsked, check, no_finding
from api.kept_answers import Kept, KeptAnswers
from api.remembered import state_of
from api.work import Json, Progress

MOST = 8
"""Answers that are kept, each with all its findings."""
PATIENCE = 3.0
"""Seconds that the page waits for what it began."""


@dataclass(frozen=True, slots=True)
class PageAsked:
    """A page of an audit: after which cursor, of how many findings."""

    of: AuditAsked
    cursor: str | None
    limit: int


class KeptAudits(KeptAnswers):
    """The answers to questions of the audit: a policy, filters, and a time; always by all rules."""

    kind = "audit"

    def kept(self, asked: PageAsked) -> Kept:
        """The latest answer, at once; what a change has made old is computed anew meanwhile. UsageError."""
        found = self.latest(_question(asked.of))
        report = self._page(found.report, asked) if found.report else None
        return Kept(report, found.computed_at, found.now)

    def up_to_date(self, asked: PageAsked) -> Json:
        """The answer for the store as it is, once it is computed. UsageError, Stopping, LeakdownError if it fails."""
        return self._page(self.answer(_question(asked.of)), asked)

    def again(self, asked: AuditAsked) -> None:
        """Compute the answer anew, whatever is kept. UsageError."""
        self.anew(_question(asked))

    def acknowledge(self, finding: str, reason: str, by: str, policy: str | None = None) -> Json:
        """Acknowledge a finding, once. NotFound, Conflict, UsageError. `policy`: the one it was found under."""
        check(finding, reason, by)
        question = _question(AuditAsked(policy))
        shown = self.computed(question)
        rule = shown and self._rule(shown, finding)
        rule = rule or self._rule(self.answer(question), finding)
        if rule is None:
            raise no_finding(finding)
        return self.backend.audits.note(finding, rule, reason, by)

    def state(self) -> str:
        """Labels too, which overrule a finding; and the source of rules and policies."""
        return repr((state_of(self.backend.store, labels=True), _source()))

    def compute(self, request: Json, told: Progress) -> Json:
        """The counts, and under which name the findings are kept."""
        found = self.backend.audits.audit(AuditAsked(request["policy"], [], request["where"], request["since"]), told)
        earlier = [self._report(job)["answer"] for job in self.jobs.all() if job["state"] == "done"]
        return kept_findings.keep(self.backend.store, found, secrets.token_hex(8), earlier)

    def _page(self, report: Json, asked: PageAsked) -> Json:
        of = asked.of
        return kept_findings.page(
            self.backend.store, report, chosen(of.rules), all_=of.all_, after=asked.cursor, limit=limited(asked.limit)
        )

    def _rule(self, report: Json, finding: str) -> str | None:
        with self.backend.store.cursor() as cursor:
            return kept_findings.rule_of(cursor, report["answer"], finding)


def _question(asked: AuditAsked) -> Json:
    chosen(asked.rules)
    Filters.parse(asked.where, asked.since)
    held_to = policy(asked.policy).id if asked.policy else None
    return {"policy": held_to, "where": list(asked.where), "since": asked.since}


@cache
def _source() -> str:
    """The source that decides what is found."""
    modules = (audit.__module__, *(each.judge.__module__ for each in rules()),
               *(each.decide.__module__ for each in policies()))  # fmt: skip
    return repr([source_hash(each) for each in modules])
