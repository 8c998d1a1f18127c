"""The audit log: who did what to the store, noted in the transaction of what was done, so that neither is without the
other.

Who acts is known at the edge and asked for deep below: it is a variable of the context, which the threads that
serve a request inherit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

from ingest.store import Cursor, Store

Action = Literal[
    "promote", "label", "resolve", "take back label", "import labels", "acknowledge finding",
    "acknowledge alert", "mute alert", "unmute alert", "correct upload", "delete upload", "create key", "revoke key",
    "backup", "restore", "prune", "forget run",
]  # fmt: skip
LOCAL = "local"
"""Who acts without a key: whoever works on the store itself, on its machine."""
KEPT = 100_000
"""Entries that are kept, the latest. By number, not by age: a clock that jumps takes none away."""
LONGEST = 300
"""Characters of an entry's object."""

_who: ContextVar[str] = ContextVar("who", default=LOCAL)
_NOTE = """
INSERT INTO actions BY NAME
SELECT make_timestamp(epoch_us(now())) AS done_at, $who AS by_key, $action AS action, $object AS object
"""
_LATEST = "SELECT done_at, by_key, action, object FROM actions ORDER BY number DESC LIMIT $1"
_PRUNE = "DELETE FROM actions WHERE number <= (SELECT max(number) FROM actions) - $1"


@contextmanager
def acting(name: str) -> Iterator[None]:
    """While it lasts, what this context does is done by the key called `name`."""
    before = _who.set(name)
    try:
        yield
    finally:
        _who.reset(before)


def note(cursor: Cursor, action: Action, what: str) -> None:
    """Note that who acts here does `action` to `what`, within the transaction of `cursor`."""
    cursor.execute(_NOTE, {"who": _who.get(), "action": action, "object": what[:LONGEST]})


def actions(store: Store, limit: int) -> list[dict[str, Any]]:
    """The latest `limit` entries, latest first: at (ISO 8601, UTC), by, action, object."""
    with store.cursor() as cursor:
        rows = cursor.execute(_LATEST, [limit]).fetchall()
    return [{"at": f"{at.isoformat()}Z", "by": by, "action": action, "object": what} for at, by, action, what in rows]


def prune(store: Store, kept: int = KEPT) -> None:
    """Take away all but the latest `kept` entries."""
    with store.brief() as cursor:
        cursor.execute(_PRUNE, [kept])
