"""The store's records as files: native JSON Lines, or Parquet."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import from_json, to_json

from ingest.records import Generation, Label, LeakedToolCall, Native, Run
from ingest.store import Cursor, Store

ROWS = 4_096

_GENERATIONS = """
SELECT g.* REPLACE (c.text AS content, r.text AS reasoning, k.text AS tool_calls, l.tools AS tools, w.text AS raw_text)
FROM generations g
LEFT JOIN texts c ON c.hash = g.content LEFT JOIN texts r ON r.hash = g.reasoning
LEFT JOIN texts k ON k.hash = g.tool_calls LEFT JOIN texts w ON w.hash = g.raw_text
LEFT JOIN tool_lists l ON l.hash = g.tools
"""
_LABELS = """
SELECT *, labelled_at AS at, by_whom AS "by" FROM labels WHERE taken_back_at IS NULL
ORDER BY upload_id, line, labelled_at, recorded_at, key
"""
_RECORDS: tuple[tuple[str, type[Native], str], ...] = (
    ("run", Run, "FROM runs ORDER BY upload_id, line"),
    ("generation", Generation, f"{_GENERATIONS} WHERE g.pruning IS NULL ORDER BY g.upload_id, g.line, g.position"),
    (
        "leaked_tool_call",
        LeakedToolCall,
        "SELECT *, reported_at AS at FROM events WHERE pruning IS NULL ORDER BY upload_id, line",
    ),
    ("label", Label, _LABELS),
)
_AS_JSON = ("tools", "tool_calls", "tool_choice", "usage", "tags")
_PARQUET = {
    "generations": _GENERATIONS,
    "events": "FROM events",
    "runs": "FROM runs",
    "labels": "FROM labels",
    "verdicts": "FROM verdicts",
    "uploads": "FROM uploads WHERE state = 'done'",
    "quarantine": "FROM quarantine",
}
TABLES = tuple(_PARQUET)
"""The Parquet files of an export."""


def to_jsonl(store: Store, out: BinaryIO) -> int:
    """Write all records as native JSON Lines to `out`; their number."""
    written = 0
    for record in records(store):
        out.write(to_json(record, inf_nan_mode="null") + b"\n")
        written += 1
    return written


def records(store: Store, only: str | None = None) -> Iterator[dict[str, Any]]:
    """Every stored record as it would stand in a native file: runs, generations, events, labels; or one type `only`."""
    with store.cursor() as cursor:
        for kind, model, sql in _RECORDS:
            if only in (None, kind):
                for row in rows(cursor, sql):
                    yield {"type": kind, **as_record(model, row)}


def rows(cursor: Cursor, sql: str) -> Iterator[dict[str, Any]]:
    """What `sql` gives, each row by the names of its columns."""
    reading = cursor.execute(sql)
    names = [column[0] for column in reading.description or ()]
    while some := reading.fetchmany(ROWS):
        yield from (dict(zip(names, row, strict=True)) for row in some)


def as_record(model: type[Native], row: Mapping[str, Any]) -> dict[str, Any]:
    """What the source said, null where it said null, absent where it said nothing; unknown fields last."""
    nulls = row["nulls"] or ()
    said = {
        name: _value(name, row.get(name)) for name in _declared(model) if row.get(name) is not None or name in nulls
    }
    return {**said, **(from_json(row["extra"]) if row["extra"] else {})}


def _declared(model: type[Native]) -> Iterable[str]:
    return (name for name in model.model_fields if name != "type")


def _value(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return f"{value.isoformat()}Z"
    return from_json(value) if name in _AS_JSON and value is not None else value


def to_parquet(store: Store, folder: Path) -> int:
    """Write one Parquet file for each table into `folder`; their number. OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in TABLES:
        write_parquet(store, table, folder / f"{table}.parquet")
    return len(TABLES)


def write_parquet(store: Store, table: str, target: Path) -> None:
    """Write one of TABLES as a Parquet file. OSError."""
    target.touch()  # a path that cannot be written fails here, with the reason the system gives
    quoted = str(target).replace("'", "''")
    with store.cursor() as cursor:
        cursor.execute(f"COPY ({_PARQUET[table]}) TO '{quoted}' (FORMAT parquet, COMPRESSION zstd)")
