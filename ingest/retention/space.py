"""The room that deleted rows took, given back.

DuckDB keeps a deleted row in its block until the whole row group is gone. So the tables of texts are written anew,
within one transaction; their old blocks are free once a checkpoint has noted it, and what is ingested next takes them.
The file itself gets smaller only where it is written anew as a whole, which needs it alone.
"""

import time

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


def _anew(cursor: Cursor, table: str) -> None:
    [made_by] = one(cursor, "SELECT sql FROM duckdb_tables() WHERE NOT temporary AND table_name = $1", [table])
    cursor.execute(made_by.replace(f"CREATE TABLE {table}(", f"CREATE TABLE {table}_anew(", 1))
    # the names are ours, and the order is that in which long texts are kept apart
    cursor.execute(f"INSERT INTO {table}_anew SELECT * FROM {table} ORDER BY rowid")  # noqa: S608
    cursor.execute(f"DROP TABLE {table}")
    cursor.execute(f"ALTER TABLE {table}_anew RENAME TO {table}")
