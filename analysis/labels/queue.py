"""Which output a reviewer looks at next, and who looks at which, so that no two look at the same one unasked.

An output is held for whom it is shown to, for HELD. Asked for double labels, two people look at each.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from analysis.labels import blind
from analysis.labels.turns import HELD, Reviewer, Turns
from ingest.errors import NotFound
from ingest.store import Cursor, Store, one

_LABELLED = "SELECT count(*) FROM last_words WHERE by_whom = $1 AND NOT resolution"
_SHOWN = "SELECT verdict_key::VARCHAR FROM assignments WHERE by_whom = $1 ORDER BY assigned_at, verdict_key"
_SKIP = """
UPDATE assignments SET skipped = true, assigned_at = $now WHERE by_whom = $by AND verdict_key::VARCHAR = $key
RETURNING verdict_key
"""
_HOLD = """
UPDATE assignments SET skipped = false, assigned_at = CASE WHEN skipped OR assigned_at <= $live THEN $now
    ELSE assigned_at END
WHERE verdict_key = $key AND by_whom = $by RETURNING verdict_key
"""


def following(store: Store, who: Reviewer, now: datetime, at: str | None = None) -> dict[str, Any]:
    """What `who` should look at next, without any verdict or other person's label on it, and how far they are.

    The output is None at the end. It is held for them from `now` (UTC) on. `at`, a verdict key that was shown to them
    before, asks for that one again. NotFound for another one, and for an unknown sample.
    """
    moment = now.replace(tzinfo=None)
    with store.brief() as cursor:
        turns = Turns(store, cursor, who, moment)
        shown = [key for (key,) in cursor.execute(_SHOWN, [who.by]).fetchall()]
        key = _again(at, shown, who.by) if at else turns.next()
        if key and not at:
            _hold(cursor, key, who.by, moment)
        [labelled] = one(cursor, _LABELLED, [who.by])
        return {
            "output": blind.output(cursor, key, who.by) if key else None,
            **turns.counts(),
            "labelled": labelled,
            **_around(str(key) if key else None, shown),
        }


def _again(at: str, shown: list[str], by: str) -> UUID:
    if at not in shown:
        raise NotFound(f"no output {at!r} among those shown to {by!r}")
    return UUID(at)


def _around(key: str | None, shown: list[str]) -> dict[str, str | None]:
    """The verdict keys shown to a reviewer before and after `key`; before a new one and before the end, the last."""
    at = shown.index(key) if key in shown else len(shown)
    return {"previous": shown[at - 1] if at else None, "later": shown[at + 1] if at + 1 < len(shown) else None}


def _hold(cursor: Cursor, key: UUID, by: str, now: datetime) -> None:
    """Hold `key` for `by`: from now on, unless it is held already."""
    if not cursor.execute(_HOLD, {"key": key, "by": by, "now": now, "live": now - HELD}).fetchall():
        cursor.execute("INSERT INTO assignments VALUES ($1, $2, $3, false)", [key, by, now])


def skip(store: Store, by: str, verdict_key: str, now: datetime) -> None:
    """Leave an output that was shown to `by` for later: others may take it meanwhile. NotFound."""
    with store.brief() as cursor:
        values = {"by": by, "key": verdict_key, "now": now.replace(tzinfo=None)}
        if not cursor.execute(_SKIP, values).fetchall():
            raise NotFound(f"no output {verdict_key!r} among those shown to {by!r}")
