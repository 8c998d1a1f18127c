"""What the routes of the audit answer: the keys that stay."""

from analysis.recovery.audit.rules import Unit
from api.routes.answers.base import Answer, Count, Moment, like


class Acknowledged(Answer):
    """Who acknowledged a finding, why, and when."""

    by: str
    reason: str
    at: Moment


class AuditItem(Answer):
    """A broken rule; `acknowledged` null while nobody has acknowledged it."""

    rule: str
    id: str
    run_id: str | None
    generation_id: str | None
    evidence: str
    detector: str
    acknowledged: Acknowledged | None


class RuleRow(Answer):
    """A rule, and what became of it: `checked` and `not_checkable` are all `unit` that it looks at; `why` by code,
    `meanings` of the codes."""

    rule: str
    summary: str
    source: str
    unit: Unit
    needs: str
    meanings: dict[str, str]
    findings: Count
    acknowledged: Count
    checked: Count
    not_checkable: Count
    why: dict[str, Count]


class AuditPage(Answer):
    """A page of findings in order by rule and run, and the counts of all rules that were asked for."""

    model_config = like(detector="leakdown@1", policy=None, rules=[], items=[], next=None)

    detector: str
    policy: str | None
    rules: list[RuleRow]
    items: list[AuditItem]
    next: str | None


class AcknowledgedFinding(Acknowledged):
    """An acknowledgement as it was stored."""

    model_config = like(
        id="9f0c2f6a4be81d37", rule="leak_completed_turn", by="ana", reason="known", at="2026-11-01T12:00:00Z"
    )

    id: str
    rule: str
