"""Which generations are asked for: filters by glob and by time, as SQL over the `facts` view."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from ingest.errors import UsageError
from ingest.records import SERIES

KEYS = (*SERIES, "run_id", "generation_id", "role", "status", "finish_reason", "mode")
"""What `--where` can name."""
_ABSENT = {"role": "agent", "status": "ok"}
"""What a record means that does not tell."""


@dataclass(frozen=True, slots=True)
class Filters:
    """All must hold. A glob is matched against the value, or against nothing ("") where it is missing: but a missing
    role is agent and a missing status ok. What has no time is not since any time."""

    where: tuple[tuple[str, str], ...] = ()
    since: datetime | None = None

    @classmethod
    def parse(cls, where: Iterable[str], since: str | None = None) -> Self:
        """From `key=glob` and an ISO date or time (UTC unless it says otherwise); UsageError."""
        return cls(tuple(_pair(text) for text in where), _moment(since) if since else None)

    def sql(self) -> tuple[str, dict[str, object]]:
        """A condition over `facts`, true or false of every row, and its parameters."""
        # names come from KEYS alone; values are bound
        conditions = [
            f"coalesce({key}, '{_ABSENT.get(key, '')}') GLOB $where_{at}" for at, (key, _) in enumerate(self.where)
        ]
        parameters: dict[str, object] = {f"where_{at}": glob for at, (_, glob) in enumerate(self.where)}
        if self.since:
            conditions.append("coalesce(started_at >= $since, false)")
            parameters["since"] = self.since.astimezone(UTC).replace(tzinfo=None)
        return " AND ".join(conditions) or "true", parameters


def _pair(text: str) -> tuple[str, str]:
    key, equals, glob = text.partition("=")
    if not equals or key not in KEYS:
        raise UsageError(f"--where {text}: write key=glob with one of {', '.join(KEYS)}")
    return key, glob


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"--since {text}: write a date or time such as 2026-11-01 or 2026-11-01T12:00Z") from None
