"""Times as logs write them: Unix time in seconds or milliseconds, and ISO 8601."""

from datetime import UTC, datetime
from typing import Any

LAST_SECOND = 4_102_444_800
"""Unix time of 2100: a larger number is no time in seconds."""


def moment(time: Any) -> datetime | None:
    """A moment from unix time, in milliseconds if it is too large, or an ISO 8601 text; None for anything else."""
    match time:
        case str():
            return iso(time)
        case int() | float() if LAST_SECOND < time < LAST_SECOND * 1000:
            return seconds(time / 1000)
        case _:
            return seconds(time)


def seconds(time: Any) -> datetime | None:
    """A moment from unix time in seconds; None for what is none before 2100."""
    number = isinstance(time, int | float) and not isinstance(time, bool)
    return datetime.fromtimestamp(time, UTC) if number and 0 < time < LAST_SECOND else None


def iso(text: str) -> datetime | None:
    """UTC where the text names no zone; None for what is no ISO 8601 time."""
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
