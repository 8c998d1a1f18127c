"""Uploads: listed, corrected, deleted."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from pydantic_core import from_json, to_json

from ingest.actions import note
from ingest.errors import NotFound, UsageError
from ingest.records import SERIES
from ingest.settling import RECORDS
from ingest.stale import runs_changed
from ingest.store import Cursor, Store, one
from ingest.sweeping import sweep


@dataclass(frozen=True, slots=True)
class Upload:
    """One file that was ingested. `origins` tells of each setting whether it was given with the upload, read from a
    sidecar (leakdown.toml) or corrected later."""

    upload_id: int
    path: str
    format: str
    created_at: datetime
    settings: dict[str, str]
    origins: dict[str, str]
    lines: int
    mapped: int
    skipped: int
    duplicate: int
    quarantined: int
    generations: int
    new_generations: int
    events: int

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values; the time in ISO 8601, UTC."""
        return {**asdict(self), "created_at": f"{self.created_at.isoformat()}Z"}


_LIST = """
SELECT upload_id, path, format, created_at, settings, origins, lines, mapped, skipped, duplicate, quarantined,
    generations, new_generations, events
FROM uploads WHERE state = 'done' ORDER BY upload_id
"""

_STATE = """
SELECT (SELECT (count(*), max(upload_id), bit_xor(hash(u))) FROM uploads u
    WHERE state = 'done' AND coalesce(upload_id <= $last, true))::VARCHAR
    || (SELECT (count(*), max(pruned_at)) FROM prunings)::VARCHAR
"""


def state_of(cursor: Cursor, last: int | None = None) -> str:
    """What tells whether uploads came, went or were corrected, or something was taken out of them, as text; of those up
    to the id `last` if it is given."""
    [state] = one(cursor, _STATE, {"last": last})
    return str(state)


def check_settings(settings: Mapping[str, str]) -> None:
    """UsageError for a name that is no series field."""
    unknown = sorted(set(settings) - set(SERIES))
    if unknown:
        raise UsageError(f"cannot set {', '.join(unknown)}; what can be set: {', '.join(SERIES)}")


def uploads(store: Store) -> list[Upload]:
    """All uploads, oldest first."""
    with store.cursor() as cursor:
        rows = cursor.execute(_LIST).fetchall()
    return [_upload(row) for row in rows]


def is_done(store: Store, upload_id: int | None) -> bool:
    """Whether an upload is there, whole."""
    with store.cursor() as cursor:
        [found] = one(cursor, "SELECT count(*) FROM uploads WHERE upload_id = $1 AND state = 'done'", [upload_id])
    return bool(found)


def _upload(row: tuple[Any, ...]) -> Upload:
    named = dict(zip((field.name for field in fields(Upload)), row, strict=True))
    return Upload(**{**named, **{name: from_json(named[name]) for name in ("settings", "origins")}})


def correct(store: Store, upload_id: int, settings: Mapping[str, str]) -> None:
    """Set series fields of all generations of an upload, over what the file said. NotFound if there is none."""
    check_settings(settings)
    with store.transaction() as cursor:
        earlier, origins = _settings(cursor, upload_id)
        runs_changed(cursor, [upload_id])
        for name, value in settings.items():
            # the name was checked against a fixed list above
            cursor.execute(f'UPDATE generations SET "{name}" = $1 WHERE upload_id = $2', [value, upload_id])  # noqa: S608
        merged = [{**earlier, **settings}, {**origins, **dict.fromkeys(settings, "corrected")}]
        cursor.execute(
            "UPDATE uploads SET settings = $1, origins = $2 WHERE upload_id = $3",
            [*(to_json(each).decode() for each in merged), upload_id],
        )
        note(cursor, "correct upload", f"{upload_id}: {', '.join(f'{key}={value}' for key, value in settings.items())}")


_SETTINGS = "SELECT settings, origins FROM uploads WHERE upload_id = $1 AND state = 'done'"


def _settings(cursor: Cursor, upload_id: int) -> tuple[dict[str, str], dict[str, str]]:
    found = cursor.execute(_SETTINGS, [upload_id]).fetchall()
    if not found:
        raise NotFound(f"no upload {upload_id}; `leakdown uploads list` shows them")
    return from_json(found[0][0]), from_json(found[0][1])


_HEIRS = """
SELECT min(s.upload_id) FROM sightings s JOIN generations g ON g.key = s.key
WHERE g.upload_id = $upload AND s.upload_id <> $upload GROUP BY s.key
"""
_UNCOVER = (
    """DELETE FROM coverage WHERE upload_id IN ({heirs})
    AND NOT EXISTS (FROM coverage c WHERE c.detector = coverage.detector AND c.upload_id = $upload)""",
    """DELETE FROM searched_for_names WHERE upload_id IN ({heirs})
    AND NOT EXISTS (FROM searched_for_names s WHERE s.upload_id = $upload)""",
)
"""Who never saw what is inherited has not seen all of the heir any more."""


def quarantine(store: Store, upload_id: int, limit: int = 1_000) -> list[dict[str, Any]]:
    """The first `limit` quarantined lines of an upload: line, reason, excerpt."""
    with store.cursor() as cursor:
        rows = cursor.execute(_QUARANTINE, [upload_id, limit]).fetchall()
    return [{"line": line, "reason": reason, "excerpt": excerpt} for line, reason, excerpt in rows]


_QUARANTINE = "SELECT line, reason, excerpt FROM quarantine WHERE upload_id = $1 ORDER BY line LIMIT $2"
_INHERIT = """
UPDATE {table} SET upload_id = heir.upload_id, line = heir.line FROM (
    SELECT key, min(upload_id) AS upload_id, arg_min(line, upload_id) AS line
    FROM sightings WHERE upload_id <> $upload GROUP BY key
) heir WHERE {table}.key = heir.key AND {table}.upload_id = $upload
"""
_INHERITED = """
DELETE FROM sightings USING {table} t WHERE sightings.key = t.key AND sightings.upload_id = t.upload_id
"""
_DELETE = (
    "DELETE FROM sightings WHERE upload_id = $upload",
    """UPDATE events SET generation = NULL FROM generations g
    WHERE events.generation = g.key AND g.upload_id = $upload""",
    "DELETE FROM generations WHERE upload_id = $upload",
    "DELETE FROM events WHERE upload_id = $upload",
    "DELETE FROM runs WHERE upload_id = $upload",
    "DELETE FROM labels WHERE upload_id = $upload",
    "DELETE FROM quarantine WHERE upload_id = $upload",
    "DELETE FROM skipped WHERE upload_id = $upload",
    "DELETE FROM coverage WHERE upload_id = $upload",
    "DELETE FROM searched_for_names WHERE upload_id = $upload",
    "DELETE FROM otlp_messages WHERE upload_id = $upload",
    "DELETE FROM uploads WHERE upload_id = $upload",
)


def delete(store: Store, upload_id: int) -> None:
    """Delete an upload and what only it brought; a later upload that held the same inherits it. NotFound if none."""
    with store.transaction() as cursor:
        _settings(cursor, upload_id)
        runs_changed(cursor, [upload_id])
        me = {"upload": upload_id}
        [path] = one(cursor, "SELECT path FROM uploads WHERE upload_id = $upload", me)
        note(cursor, "delete upload", f"{upload_id}: {path}")
        for sql in _UNCOVER:
            cursor.execute(sql.format(heirs=_HEIRS), me)
        for table in RECORDS:
            cursor.execute(_INHERIT.format(table=table), me)
            cursor.execute(_INHERITED.format(table=table))
        for sql in _DELETE:
            cursor.execute(sql, me)
        sweep(cursor)
