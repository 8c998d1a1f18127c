"""The store: one DuckDB file, owned by one process. The only module that opens DuckDB."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any, Self, TypeAlias

import duckdb
import pyarrow as pa

from ingest.errors import StoreError, StoreLocked, StoreTooNew
from ingest.sweeping import sweep

Cursor: TypeAlias = duckdb.DuckDBPyConnection
"""One use of the store. Never shared between threads: a shared connection gives wrong answers."""

MEMORY_LIMIT = "400MB"
"""For DuckDB's buffers; the process stays below 1 GB with what Python, Polars and Arrow hold."""

ROW_BYTES = 32 * 2**10
"""Text a row, at most, on the average of the 2,048 rows that DuckDB takes at a time: 64 MiB of them."""

_HOLDER = re.compile(r"held in (?P<what>.*?) \(PID (?P<pid>\d+)\)")


def _migrations() -> list[tuple[int, str, str]]:
    """Number, name and SQL of each migration, in order."""
    files = resources.files("ingest").joinpath("migrations").iterdir()
    named = sorted((file.name, file.read_text("utf-8")) for file in files if file.name.endswith(".sql"))
    return [(int(name.split("_")[0]), name, sql) for name, sql in named]


class Store:
    """An open store. `cursor()` for a read; `transaction()` for a write, one at a time."""

    def __init__(self, path: Path, connection: Cursor) -> None:
        self.path = path
        self._connection = connection
        self._writer = threading.Lock()
        self._brief_writer = threading.Lock()
        self._roller = threading.Lock()
        self._judging: dict[str, threading.Lock] = {}

    @classmethod
    def open(cls, path: Path, *, create: bool = False) -> Self:
        """Open the store at `path` and bring it up to date.

        StoreError without a store there (unless `create`), StoreLocked if another process has it, StoreTooNew
        if a newer leakdown wrote it.
        """
        if not create and not path.exists():
            raise StoreError(f"{path}: no store here; `leakdown ingest PATH… --store {path}` makes one")
        store = cls(path, _connect(path))
        try:
            store._migrate()
            store._sweep_unfinished()
            store._drop_unfinished_copy()
        except BaseException:
            store.close()
            raise
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write everything into the one file and let it go."""
        self._connection.close()

    def cursor(self) -> Cursor:
        """A fresh cursor, with temporary tables of its own; close it after use."""
        return self._connection.cursor()

    @contextmanager
    def writing(self) -> Iterator[Cursor]:
        """The one writer's cursor, to commit as its holder sees fit."""
        with self._writer:
            cursor = self.cursor()
            try:
                yield cursor
            finally:
                cursor.close()

    @contextmanager
    def transaction(self, *, dry: bool = False) -> Iterator[Cursor]:
        """The one writer's cursor inside a transaction: all of it or nothing; nothing in any case if it is `dry`."""
        with self.writing() as cursor, atomic(cursor, dry=dry):
            yield cursor

    @contextmanager
    def brief(self) -> Iterator[Cursor]:
        """A short transaction beside the one writer, which an upload holds for its whole length: one at a time,
        to add rows or to change those that no upload touches."""
        with self._brief_writer, self._beside() as cursor:
            yield cursor

    @contextmanager
    def alone(self, *, dry: bool = False) -> Iterator[Cursor]:
        """A transaction beside which nobody writes anything: for what changes rows of any table."""
        with self.writing() as cursor, self._brief_writer, self._roller, atomic(cursor, dry=dry):
            yield cursor

    def judging(self, detector_id: str) -> threading.Lock:
        """To be held by who judges the history by a detector: of many who need its verdicts one judges, and the others
        wait for them."""
        return self._judging.setdefault(detector_id, threading.Lock())

    @contextmanager
    def rolling_up(self) -> Iterator[Cursor]:
        """A transaction beside the one writer, of any length, for the tables that only `analysis.rollups` changes: one
        at a time."""
        with self._roller, self._beside() as cursor:
            yield cursor

    @contextmanager
    def _beside(self) -> Iterator[Cursor]:
        cursor = self.cursor()
        try:
            with atomic(cursor):
                yield cursor
        finally:
            cursor.close()

    def checkpoint(self) -> bool:
        """Write what was committed into the file, and free the blocks of what was deleted; False while somebody reads
        what is no more."""
        with self.cursor() as cursor:
            try:
                cursor.execute("CHECKPOINT")
            except duckdb.TransactionException:
                return False
        return True

    def bytes(self) -> int:
        """The size of its file, and of what is not written into it yet."""
        return sum(path.stat().st_size for path in (self.path, self._beside_it("wal")) if path.exists())

    def write_anew(self) -> None:
        """Write the whole file anew, without free blocks, and put it in the place of the old one. Nobody else may use
        the store meanwhile. StoreError if that cannot be done: then all is as it was."""
        self._drop_unfinished_copy()
        anew = self._beside_it("anew")
        try:
            with self.cursor() as cursor:
                _copy(cursor, anew)
        except (duckdb.Error, OSError) as fault:
            self._drop_unfinished_copy()
            raise StoreError(f"{self.path}: cannot be written anew ({_first_line(str(fault))})") from None
        self.close()
        anew.replace(self.path)
        self._connection = _connect(self.path)

    def _beside_it(self, suffix: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{suffix}")

    def _drop_unfinished_copy(self) -> None:
        """What is left of a `write_anew` that a crash cut short."""
        for suffix in ("anew", "anew.wal"):
            self._beside_it(suffix).unlink(missing_ok=True)

    def _migrate(self) -> None:
        known = _migrations()
        with self.transaction() as cursor:
            applied = _applied(cursor, self.path)
            newer = [name for number, name in applied.items() if number > known[-1][0]]
            if newer:
                raise StoreTooNew(f"{self.path}: written by a newer leakdown ({newer[-1]}); update leakdown to read it")
            for number, name, sql in known:
                if number not in applied:
                    cursor.execute(sql)
                    cursor.execute(
                        "INSERT INTO migrations VALUES ($1, $2, make_timestamp(epoch_us(now())))", [number, name]
                    )

    def _sweep_unfinished(self) -> None:
        """What an upload left behind that a crash cut short: its texts, never seen by anyone."""
        with self.transaction() as cursor:
            left = cursor.execute("DELETE FROM uploads WHERE state = 'loading' RETURNING upload_id").fetchall()
            if left:
                sweep(cursor)


@contextmanager
def atomic(cursor: Cursor, *, dry: bool = False) -> Iterator[None]:
    """A transaction on `cursor`: all of it or nothing; nothing in any case if it is `dry`."""
    cursor.begin()
    try:
        yield
    except BaseException:
        cursor.rollback()
        raise
    cursor.rollback() if dry else cursor.commit()


def one(cursor: Cursor, sql: str, parameters: object = None) -> tuple[Any, ...]:
    """The one row that `sql` gives. (`fetchone` would leave the result open, and the cursor unusable.)"""
    [row] = cursor.execute(sql, parameters).fetchall()
    return tuple(row)


def insert(cursor: Cursor, sql: str, rows: pa.Table, parameters: object = None) -> int:
    """Run `sql`, an INSERT from the table `arriving`, with `rows` under that name; the number of rows inserted."""
    cursor.register("arriving", rows)
    [inserted] = one(cursor, sql, parameters)
    cursor.unregister("arriving")
    return int(inserted)


def spread(cursor: Cursor, empty_rows: str, rows: int, size: int) -> None:
    """After an insert of `rows` with `size` bytes of text: as many empty rows, by the SELECT `empty_rows`, as make a
    row of every ROW_BYTES.

    DuckDB holds 2,048 neighbours in memory at a time, to read, commit or checkpoint one of them; seven of 60 MB
    would be more than MEMORY_LIMIT. Empty rows take no room in the file.
    """
    missing = size // ROW_BYTES - rows
    if missing > 0:
        cursor.execute(f"{empty_rows} FROM range({missing})")


def _copy(cursor: Cursor, target: Path) -> None:
    [here] = one(cursor, "SELECT current_database()")
    cursor.execute(f"ATTACH {_quoted(target)} AS anew")
    try:
        cursor.execute(f'COPY FROM DATABASE "{here}" TO anew')
        cursor.execute("CHECKPOINT anew")
    finally:
        cursor.execute("DETACH anew")
    with target.open("rb+") as file:
        os.fsync(file.fileno())


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _connect(path: Path) -> Cursor:
    try:
        return duckdb.connect(str(path), config={"memory_limit": MEMORY_LIMIT, "checkpoint_threshold": "1GB"})
    except duckdb.IOException as fault:
        raise _why_not(path, str(fault)) from None
    except duckdb.Error as fault:
        raise StoreError(f"{path}: not a leakdown store ({_first_line(str(fault))})") from None


def _why_not(path: Path, message: str) -> StoreError:
    holder = _HOLDER.search(message)
    if holder or "Could not set lock" in message:
        by = f"process {holder['pid']}" if holder else "another process"
        return StoreLocked(f"{path}: in use by {by}; wait for it or stop it, or name another store with --store")
    return StoreError(f"{path}: cannot be opened as a store ({_first_line(message)})")


def _first_line(message: str) -> str:
    return message.splitlines()[0]


def _applied(cursor: Cursor, path: Path) -> dict[int, str]:
    tables = {name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if tables and not tables >= {"migrations", "uploads"}:
        raise StoreError(f"{path}: a DuckDB file, but not a leakdown store; name another with --store")
    cursor.execute("CREATE TABLE IF NOT EXISTS migrations (number INTEGER, name VARCHAR, applied_at TIMESTAMP)")
    return dict(cursor.execute("SELECT number, name FROM migrations ORDER BY number").fetchall())
