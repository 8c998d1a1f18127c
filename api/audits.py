"""What can be done with the audit, in one place: on an open store, or through the service that owns it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from ingest.errors import NotFound

if TYPE_CHECKING:
    from analysis.recovery.audit.findings import Audit
    from api.asking import Service
    from ingest.store import Store

Json = dict[str, Any]
Progress = Callable[[int], object]
MOST = 500
"""Findings that a service gives at a time."""


@dataclass(frozen=True, slots=True)
class AuditAsked:
    """What is asked of an audit: one policy that all runs are held to (None: each to that of its client), rules (all
    without any), filters, and whether acknowledged findings are listed too."""

    policy: str | None = None
    rules: list[str] = field(default_factory=list)
    where: list[str] = field(default_factory=list)
    since: str | None = None
    all_: bool = False


class Audits(Protocol):
    """The operations on the audit. Answers are plain JSON values."""

    def findings(self, asked: AuditAsked, progress: Progress = lambda _: None) -> Json:
        """All findings under `items`, and what each rule could not check under `rules`."""
        ...

    def acknowledge(self, finding: str, reason: str, by: str, policy: str | None = None) -> Json:
        """Acknowledge a finding, once. NotFound, Conflict, UsageError. `policy`: the one it was found under."""
        ...


class LocalAudits:
    """The audit of an open store, by its current detector."""

    def __init__(self, store: "Store") -> None:
        self.store = store

    def findings(self, asked: AuditAsked, progress: Progress = lambda _: None) -> Json:
        """All findings under `items`, and what each rule could not check under `rules`."""
        found = self.audit(asked, progress)
        answer = found.page(all_=asked.all_, limit=max(len(found.findings), 1))
        return {name: value for name, value in answer.items() if name != "next"}

    def acknowledge(self, finding: str, reason: str, by: str, policy: str | None = None) -> Json:
        """Acknowledge a finding, once. NotFound, Conflict, UsageError. `policy`: the one it was found under."""
        check(finding, reason, by)
        known = {each.id: each.rule for each in self.audit(AuditAsked(policy)).findings}
        if finding not in known:
            raise no_finding(finding)
        return self.note(finding, known[finding], reason, by)

    def note(self, finding: str, rule: str, reason: str, by: str) -> Json:
        """Note that a finding of `rule` is acknowledged, once. Conflict, UsageError."""
        from analysis.recovery.audit.acknowledgements import Acknowledgement, acknowledge

        given = Acknowledgement(reason, by, datetime.now(UTC).replace(tzinfo=None))
        acknowledge(self.store, finding, rule, given)
        return {"id": finding, "rule": rule, **given.as_json()}

    def audit(self, asked: AuditAsked, progress: Progress = lambda _: None) -> "Audit":
        """The findings themselves. UsageError."""
        from analysis.filters import Filters
        from analysis.recovery.audit.findings import audit
        from analysis.recovery.audit.rules import Asked, chosen
        from analysis.recovery.policies import policy
        from analysis.registry import current, judged

        rules, filters = chosen(asked.rules), Filters.parse(asked.where, asked.since)
        held_to = policy(asked.policy) if asked.policy else None
        detector = judged(self.store, current(self.store))
        return audit(self.store, Asked(detector.id, filters, held_to), rules, progress)


class RemoteAudits:
    """The audit through a service: `ask` sends a request."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def findings(
        self,
        asked: AuditAsked,
        progress: Progress = lambda _: None,  # noqa: ARG002 - the service tells none
    ) -> Json:
        """All findings under `items`, and what each rule could not check under `rules`."""
        parameters: list[tuple[str, str | int]] = [("rule", each) for each in asked.rules]
        parameters += [("where", each) for each in asked.where]
        parameters += [(name, given) for name in ("policy", "since") if (given := getattr(asked, name))]
        parameters += [("limit", MOST), *([("all", "true")] if asked.all_ else [])]
        found: Json = self._service.ask("GET", "/v1/audit", params=parameters).json()
        following = found.pop("next")
        while following:
            more = self._service.ask("GET", "/v1/audit", params=[*parameters, ("cursor", following)]).json()
            found["items"] += more["items"]
            following = more["next"]
        return found

    def acknowledge(self, finding: str, reason: str, by: str, policy: str | None = None) -> Json:
        """Acknowledge a finding, once. NotFound, Conflict, UsageError. `policy`: the one it was found under."""
        check(finding, reason, by)
        given = {"reason": reason, "by": by, "policy": policy}
        found: Json = self._service.ask("POST", f"/v1/audit/{finding}/acknowledgement", json=given).json()
        return found


def check(finding: str, reason: str, by: str) -> None:
    """UsageError without a reason or a name, NotFound for what no finding is called: no address need hold it."""
    from analysis.recovery.audit.acknowledgements import check

    check(reason, by)
    if not re.fullmatch("[0-9a-f]{16}", finding):
        raise no_finding(finding)


def no_finding(finding: str) -> NotFound:
    """The error for a finding that is not there."""
    return NotFound(f"no finding {finding!r}; `leakdown audit` lists them")
