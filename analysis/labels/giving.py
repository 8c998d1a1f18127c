"""A label given by a person, one that is taken back, and the resolution of a conflict."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from ingest.actions import note
from ingest.errors import Conflict, NotFound, UsageError
from ingest.identity import fields_hash
from ingest.records import Kind
from ingest.store import Cursor, Store, one

_ADD = """
INSERT INTO labels BY NAME SELECT $id AS key, $generation AS generation_id, $run AS run_id, $leak AS leak,
    $kind AS kind, $by AS by_whom, $at AS labelled_at, $at AS recorded_at, $note AS note, $nulls AS nulls,
    $resolution AS resolution, $key AS verdict_key
"""
_TAKE_BACK = """
UPDATE labels SET taken_back_at = $at WHERE key::VARCHAR = $id AND taken_back_at IS NULL
RETURNING generation_id, by_whom
"""


@dataclass(frozen=True, slots=True)
class NewLabel:
    """A label to be added; `leak` None means unsure."""

    generation_id: str
    leak: bool | None
    by: str
    run_id: str | None = None
    kind: Kind | None = None
    note: str | None = None


def add(store: Store, label: NewLabel, at: datetime) -> str:
    """Add a label given at the moment `at` (UTC); its id, for taking it back. NotFound, or UsageError if the
    generation id names several different outputs."""
    return _add(store, label, at, None)


def resolve(store: Store, label: NewLabel, at: datetime) -> str:
    """Decide what people contradict each other on, `leak` None: that it cannot be told. The id of the resolution,
    for taking it back. UsageError without a note, NotFound, Conflict where nothing is to be resolved."""
    if not (label.note or "").strip():
        raise UsageError("a resolution needs a note that says why")
    if not label.by.strip():
        raise UsageError("a resolution needs the name of whoever decides")
    return _add(store, label, at, True, _disputed)


def _add(
    store: Store,
    label: NewLabel,
    at: datetime,
    resolution: bool | None,
    check: Callable[[Cursor, NewLabel, UUID], object] = lambda *_: None,
) -> str:
    with store.brief() as cursor:
        key = _verdict_key(cursor, label)
        check(cursor, label, key)
        moment = _after_the_last(cursor, key, label.by, resolution, at.replace(tzinfo=None))
        label_id = UUID(bytes=fields_hash(label, resolution, moment))
        values = {
            "id": label_id,
            "generation": label.generation_id,
            "run": label.run_id,
            "leak": label.leak,
            "kind": label.kind,
            "by": label.by,
            "at": moment,
            "note": label.note,
            "nulls": ["leak"] if label.leak is None else None,
            "resolution": resolution,
            "key": key,
        }
        cursor.execute(_ADD, values)
        note(cursor, "resolve" if resolution else "label", f"generation {label.generation_id}, by {label.by}")
    return str(label_id)


_LAST = """
SELECT max(labelled_at) FROM labels
WHERE verdict_key = $1 AND coalesce(resolution, false) = $2 AND (by_whom = $3 OR $2) AND taken_back_at IS NULL
"""


def _after_the_last(cursor: Cursor, key: UUID, by: str, resolution: bool | None, at: datetime) -> datetime:
    """`at`, or the moment after what this label replaces: the last word counts, even if the clock was set back."""
    [last] = one(cursor, _LAST, [key, bool(resolution), by])
    return at if last is None or last < at else last + timedelta(microseconds=1)


def _verdict_key(cursor: Cursor, label: NewLabel) -> UUID:
    """The one output that a label is of."""
    found = cursor.execute(
        "SELECT DISTINCT verdict_key FROM generations WHERE generation_id = $1 AND ($2 IS NULL OR run_id = $2)",
        [label.generation_id, label.run_id],
    ).fetchall()
    if not found:
        raise NotFound(f"no generation {label.generation_id!r}")
    if len(found) > 1:
        raise UsageError(f"generation {label.generation_id!r} names {len(found)} different outputs; name its run too")
    key: UUID = found[0][0]
    return key


def _disputed(cursor: Cursor, label: NewLabel, key: UUID) -> None:
    found = cursor.execute(
        "FROM label_states WHERE verdict_key = $1 AND (state = 'conflict' OR resolved)", [key]
    ).fetchall()
    if not found:
        raise Conflict(
            f"generation {label.generation_id!r} is not in conflict: no two people contradict each other on it"
        )


def take_back(store: Store, label_id: str, at: datetime) -> None:
    """From the moment `at` (UTC) on, the label of this id counts no more; the history keeps it. NotFound."""
    with store.transaction() as cursor:
        gone = cursor.execute(_TAKE_BACK, {"id": label_id, "at": at.replace(tzinfo=None)}).fetchall()
        for generation_id, by in gone:
            note(cursor, "take back label", f"generation {generation_id}, by {by}")
    if not gone:
        raise NotFound(f"no label {label_id!r}")
