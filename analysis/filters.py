"""Which generations are asked for: filters by glob and by time, as SQL over the `facts` view."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Self

from ingest.errors import UsageError
from ingest.records import SERIES

KEYS = (*SERIES, "run_id", "generation_id", "role", "status", "finish_reason", "mode")
"""What `--where` can name."""
MOST = 50
"""Globs of one question."""
_ABSENT = {"role": "agent", "status": "ok"}
"""What a record means that does not tell."""


@dataclass(frozen=True, slots=True)
class Filters:
    """All must hold. A glob is matched against the value, or against nothing ("") where it is missing: but a missing
    role is agent and a missing status ok. What has no time is not since any time, and not before any."""

    where: tuple[tuple[str, str], ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    """The first moment that is outside."""

    @classmethod
    def parse(cls, where: Iterable[str], since: str | None = None, until: str | None = None) -> Self:
        """From `key=glob` and ISO dates or times (UTC unless they say otherwise); `until` a date means to the end of
        that day. UsageError."""
        globs = tuple(_pair(text) for text in where)
        if len(globs) > MOST:
            raise UsageError(f"{len(globs)} filters; give at most {MOST}")
        first = _moment("--since", since) if since else None
        end = _end(until) if until else None
        if first and end and end <= first:
            raise UsageError(f"--until {until}: not after --since {since}, so nothing can match; swap them")
        return cls(globs, first, end)

    def sql(self) -> tuple[str, dict[str, object]]:
        """A condition over `facts`, true or false of every row, and its parameters."""
        where, period = self.where_sql(), self.period_sql()
        held = [condition for condition, _ in (where, period) if condition != "true"]
        return " AND ".join(held) or "true", {**where[1], **period[1]}

    def where_sql(self) -> tuple[str, dict[str, object]]:
        """The part of `sql` that is of the globs."""
        # names come from KEYS alone; values are bound
        conditions = [
            f"coalesce({key}, '{_ABSENT.get(key, '')}') GLOB $where_{at}" for at, (key, _) in enumerate(self.where)
        ]
        return " AND ".join(conditions) or "true", {f"where_{at}": glob for at, (_, glob) in enumerate(self.where)}

    def period_sql(self) -> tuple[str, dict[str, object]]:
        """The part of `sql` that is of the time."""
        ends = {name: at for name, at in (("since", self.since), ("until", self.until)) if at}
        signs = {"since": ">=", "until": "<"}
        conditions = [f"coalesce(started_at {signs[name]} ${name}, false)" for name in ends]
        parameters: dict[str, object] = {name: at.astimezone(UTC).replace(tzinfo=None) for name, at in ends.items()}
        return " AND ".join(conditions) or "true", parameters


def _pair(text: str) -> tuple[str, str]:
    key, equals, glob = text.partition("=")
    if text.encode("utf-8", "replace").decode() != text:
        raise UsageError(f"--where {text}: holds half of a surrogate pair, which no store does; write it whole")
    if not equals or key not in KEYS:
        raise UsageError(f"--where {text}: write key=glob with one of {', '.join(KEYS)}")
    return key, glob


def _moment(option: str, text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"{option} {text}: write a date or time such as 2026-11-01 or 2026-11-01T12:00Z") from None


def _end(text: str) -> datetime:
    moment = _moment("--until", text)
    try:
        date.fromisoformat(text)
    except ValueError:
        return moment
    try:
        return moment + timedelta(days=1)
    except OverflowError:
        raise UsageError(f"--until {text}: there is no day after that; leave it out") from None
