"""The room that deleted rows took, given back.

DuckDB keeps a deleted row in its block until the whole row group is gone. So the tables of texts are written anew,
within one transaction; their old blocks are free once a checkpoint has noted it, and what is ingested next takes them.
The file itself gets smaller only where it is written anew as a whole, which needs it alone.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from ingest.backups import copy
from ingest.errors import StoreError
from ingest.store import Cursor, Store, one

TABLES = ("texts", "tool_lists", "candidate_outputs", "verdicts", "trigger_hits")
"""What holds texts, or an entry for each of them."""
PATIENCE = 3.0
"""Seconds that a checkpoint waits for readers to end."""
_PAUSE = 0.1


def free_blocks(store: Store) -> bool:
    """Write the tables of texts anew, beside readers; whether a checkpoint has freed their old blocks already. If not,
    the next one does."""
    with store.alone() as cursor:
        for table in TABLES:
            _anew(cursor, table)
    deadline = time.monotonic() + PATIENCE
    while not (done := store.checkpoint()) and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    return done


def write_file_anew(store: Store) -> None:
    """Write the whole file anew, without free blocks, and put it in the place of the old one. Nobody else may use the
    store meanwhile. StoreError if that cannot be done: then all is as it was."""
    folder = store.path.absolute().parent
    try:
        with TemporaryDirectory(prefix=f".{store.path.name}.anew-", dir=folder) as scratch:
            anew = Path(scratch, store.path.name)
            with store.cursor() as cursor:
                copy(cursor, anew)
            store.take(anew)
    except OSError as fault:
        raise StoreError(f"{store.path}: cannot be written anew ({(fault.strerror or str(fault)).lower()})") from None


def _anew(cursor: Cursor, table: str) -> None:
    [made_by] = one(cursor, "SELECT sql FROM duckdb_tables() WHERE NOT temporary AND table_name = $1", [table])
    cursor.execute(made_by.replace(f"CREATE TABLE {table}(", f"CREATE TABLE {table}_anew(", 1))
    # the names are ours, and the order is that in which long texts are kept apart
    cursor.execute(f"INSERT INTO {table}_anew SELECT * FROM {table} ORDER BY rowid")  # noqa: S608
    cursor.execute(f"DROP TABLE {table}")
    cursor.execute(f"ALTER TABLE {table}_anew RENAME TO {table}")
