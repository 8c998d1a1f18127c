"""Small logs written to files and ingested, and everything that a store then holds."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ingest.batch import Batch
from ingest.files.containers import Source
from ingest.pipeline import UploadResult, ingest
from ingest.store import Store
from ingest.verdict_rows import Judge, StoredVerdict

Row = dict[str, Any]
MARK = "<tool_call>"


def generation(**fields: Any) -> Row:
    """A native generation of run `r`, with `fields`."""
    return {"type": "generation", "run_id": "r", "content": "x", **fields}


def event(**fields: Any) -> Row:
    """A native event with MARK as its markup."""
    return {"type": "leaked_tool_call", "markup": MARK, "leak": 1, "retried": False, **fields}


def label(generation_id: str = "g", **fields: Any) -> Row:
    """A label by ana: a leak."""
    return {"type": "label", "generation_id": generation_id, "leak": True, "by": "ana", **fields}


def run(**fields: Any) -> Row:
    """A record of run `r`."""
    return {"type": "run", "run_id": "r", **fields}


def _verdicts(batch: Batch) -> Iterator[StoredVerdict]:
    for each in batch.generations:
        content = batch.texts[each.entry.content] if each.entry.content else ""
        if MARK in content:
            at = content.index(MARK)
            yield StoredVerdict(each.verdict_key, kind="leaked_call", markup=MARK, start=at, end=at + len(MARK))


MARK_JUDGE = Judge("mark@1", _verdicts)
"""Finds MARK in the content."""


def written(path: Path, rows: Iterable[Row | str]) -> Source:
    """A file of one line a row, a text as it is."""
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return Source(path, path.name)


def load(
    store: Store,
    *rows: Row | str,
    name: str = "log.jsonl",
    judge: Judge = MARK_JUDGE,
    format_name: str = "native",
    settings: Mapping[str, str] | None = None,
) -> UploadResult:
    """What became of a native file of `rows`."""
    source = written(store.path.parent / name, rows)
    return ingest(store, source, judge, format_name=format_name, settings=settings)


def rows(store: Store, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """The rows that `sql` gives."""
    with store.cursor() as cursor:
        return cursor.execute(sql, list(parameters)).fetchall()


def everything(store: Store) -> dict[str, list[str]]:
    """Every row of every table, sorted, so that two states of a store can be compared; but for the notes
    on what is to be counted anew, which a change leaves until somebody counts, and the audit log, which only grows."""
    tables = rows(
        store,
        "SELECT table_name FROM duckdb_tables() "
        "WHERE NOT temporary AND table_name NOT LIKE 'stale%' AND table_name <> 'actions' ORDER BY ALL",
    )
    return {table: sorted(map(repr, rows(store, f'FROM "{table}"'))) for (table,) in tables}
