"""Stores as earlier versions made them, with rows in them: each migration up to a number, and what of a full store
fits into its tables."""

from importlib import resources
from pathlib import Path

import duckdb

_COLUMNS = """
SELECT table_name, list(column_name ORDER BY column_index) FROM duckdb_columns()
WHERE database_name = $1 AND table_name IN (
    SELECT table_name FROM duckdb_tables() WHERE database_name = $1 AND table_name <> 'migrations'
) GROUP BY table_name ORDER BY table_name
"""
_SEQUENCES = (
    "SELECT sequence_name, last_value FROM duckdb_sequences() WHERE database_name = $1 AND last_value IS NOT NULL"
)


def names() -> list[str]:
    """The names of all migrations, in order."""
    files = resources.files("ingest").joinpath("migrations").iterdir()
    return sorted(file.name for file in files if file.name.endswith(".sql"))


def make_old(path: Path, version: int, full: Path) -> Path:
    """A store at `path` that has had the first `version` migrations, with the rows of the store `full`."""
    with duckdb.connect(str(path)) as old:
        old.execute("CREATE TABLE migrations (number INTEGER, name VARCHAR, applied_at TIMESTAMP)")
        for name in names()[:version]:
            old.execute(resources.files("ingest").joinpath("migrations", name).read_text("utf-8"))
            old.execute("INSERT INTO migrations VALUES ($1, $2, TIMESTAMP '2026-11-01')", [int(name[:4]), name])
        old.execute(f"ATTACH '{full}' AS present (READ_ONLY)")
        _fill(old)
        old.execute("DETACH present")
    return path


def _fill(old: duckdb.DuckDBPyConnection) -> None:
    """Copy the columns that both have, and set the sequences to where they were."""
    [(name,)] = old.execute("SELECT current_database()").fetchall()
    present = dict(old.execute(_COLUMNS, ["present"]).fetchall())
    for table, columns in old.execute(_COLUMNS, [name]).fetchall():
        both = ", ".join(f'"{column}"' for column in columns if column in present[table])
        old.execute(f'INSERT INTO "{table}" BY NAME SELECT {both} FROM present."{table}"')  # noqa: S608
    counted = dict(old.execute(_SEQUENCES, ["present"]).fetchall())
    for sequence, _ in old.execute(_SEQUENCES, [name]).fetchall():
        old.execute(f"SELECT max(nextval('{sequence}')) FROM range({counted[sequence]})").fetchall()  # noqa: S608
