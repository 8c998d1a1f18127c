"""Findings of the audit that a person has looked at and leaves as they are: each once, with a reason."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ingest.actions import note
from ingest.errors import Conflict, UsageError
from ingest.store import Store

_ALL = "SELECT finding, reason, by_whom, acknowledged_at FROM acknowledgements"
_ONE = f"{_ALL} WHERE finding = $1"
_ADD = "INSERT INTO acknowledgements VALUES ($finding, $rule, $reason, $by, $at)"


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Who acknowledged a finding, why, and when (UTC)."""

    reason: str
    by: str
    at: datetime

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values; the time in ISO 8601, UTC."""
        return {"by": self.by, "reason": self.reason, "at": f"{self.at.isoformat()}Z"}


def acknowledged(store: Store) -> dict[str, Acknowledgement]:
    """All acknowledgements, by the id of the finding."""
    with store.cursor() as cursor:
        return {finding: Acknowledgement(*rest) for finding, *rest in cursor.execute(_ALL).fetchall()}


def check(reason: str, by: str) -> None:
    """UsageError without a reason or a name."""
    for what, given in (("a reason", reason), ("the name of whoever acknowledges it", by)):
        if not given.strip():
            raise UsageError(f"an acknowledgement needs {what}")


def acknowledge(store: Store, finding: str, rule: str, given: Acknowledgement) -> None:
    """Note it, once. UsageError without a reason or a name, Conflict if somebody did before, with who and when."""
    check(given.reason, given.by)
    with store.brief() as cursor:
        for _, reason, by, at in cursor.execute(_ONE, [finding]).fetchall():
            raise Conflict(f"finding {finding} was acknowledged by {by} on {at:%Y-%m-%d %H:%M} UTC: {reason}")
        cursor.execute(_ADD, {"finding": finding, "rule": rule, "reason": given.reason, "by": given.by, "at": given.at})
        note(cursor, "acknowledge finding", f"{finding} ({rule}), by {given.by}")
