"""The store: one DuckDB file, owned by one process. The only module that opens DuckDB."""

import glob
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self, TypeAlias

import duckdb
import pyarrow as pa

from ingest.errors import StoreError, StoreFull, StoreTooNew
from ingest.store_faults import explained, why_not
from ingest.sweeping import sweep

Cursor: TypeAlias = duckdb.DuckDBPyConnection
"""One use of the store. Never shared between threads: a shared connection gives wrong answers."""

MEMORY_LIMIT = "400MB"
"""For DuckDB's buffers; the process stays below 1 GB with what Python, Polars and Arrow hold."""

ROW_BYTES = 32 * 2**10
"""Text a row, at most, on the average of the 2,048 rows that DuckDB takes at a time: 64 MiB of them."""

_LEFT = (".{}.new-*", ".{}.arriving-*", ".{}.backup-*", ".{}.restoring-*", "{}.tmp")
"""Beside a store of that name, what lives no longer than who made it: bodies, copies, DuckDB's overflow."""


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
        self._gate = threading.Lock()
        self._cursors = 0
        self._broken = False

    @classmethod
    def open(cls, path: Path, *, create: bool = False) -> Self:
        """Open the store at `path` and bring it up to date.

        StoreError without a store there (unless `create`), StoreLocked if another process has it, StoreTooNew
        if a newer leakdown wrote it, StoreDamaged.
        """
        if not path.exists():
            if not create:
                raise StoreError(f"{path}: no store here; `leakdown ingest PATH… --store {path}` makes one")
            _make(path)
        store = cls(path, connected(path))
        try:
            store._migrate()
            store._tidy()
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

    @contextmanager
    def cursor(self) -> Iterator[Cursor]:
        """A fresh cursor, with temporary tables of its own, while it lasts. StoreFull, StoreDamaged, StoreError for
        what the store's disk does to it."""
        cursor = self._fresh()
        try:
            with explaining(self.path):
                yield cursor
        except StoreError as fault:
            self._broken |= isinstance(fault.__cause__, duckdb.FatalException)
            raise
        finally:
            cursor.close()
            with self._gate:
                self._cursors -= 1

    def _fresh(self) -> Cursor:
        with self._gate:
            if self._broken:
                self._reopen()
            cursor = self._connection.cursor()
            self._cursors += 1
            return cursor

    def _reopen(self) -> None:
        """After a fatal fault, such as a checkpoint on a full disk, DuckDB answers nothing until its file is opened
        anew; it only is when all that was open has been closed."""
        if self._cursors:
            raise StoreError(f"{self.path}: closed after a fault of its disk; it opens again in a moment, ask then")
        self._connection.close()
        self._connection = connected(self.path)
        self._broken = False

    @contextmanager
    def writing(self) -> Iterator[Cursor]:
        """The one writer's cursor, to commit as its holder sees fit."""
        with self._writer, self.cursor() as cursor:
            yield cursor

    @contextmanager
    def transaction(self, *, dry: bool = False) -> Iterator[Cursor]:
        """The one writer's cursor inside a transaction: all of it or nothing; nothing in any case if it is `dry`."""
        with self.writing() as cursor, atomic(cursor, dry=dry):
            yield cursor

    @contextmanager
    def brief(self) -> Iterator[Cursor]:
        """A short transaction beside the one writer, which an upload holds for its whole length: one at a time,
        to add rows or to change those that no upload touches."""
        with self._brief_writer, self.cursor() as cursor, atomic(cursor):
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
        with self._roller, self.cursor() as cursor, atomic(cursor):
            yield cursor

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
            raise StoreError(f"{self.path}: cannot be written anew ({str(fault).splitlines()[0]})") from None
        self.close()
        anew.replace(self.path)
        self._connection = connected(self.path)

    def _beside_it(self, suffix: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{suffix}")

    def _drop_unfinished_copy(self) -> None:
        """What is left of a `write_anew` that a crash cut short."""
        for suffix in ("anew", "anew.wal"):
            self._beside_it(suffix).unlink(missing_ok=True)

    def _migrate(self) -> None:
        with self.transaction() as cursor:
            applied = migrations(cursor, self.path)
            if not applied:
                cursor.execute("CREATE TABLE migrations (number INTEGER, name VARCHAR, applied_at TIMESTAMP)")
            for number, name, sql in _migrations():
                if number in applied:
                    continue
                cursor.execute(sql)
                cursor.execute(
                    "INSERT INTO migrations VALUES ($1, $2, make_timestamp(epoch_us(now())))", [number, name]
                )

    def _tidy(self) -> None:
        """Clear what a crash left: files beside the store, and what an upload had brought, never seen by anyone."""
        for pattern in _LEFT:
            for left in self.path.absolute().parent.glob(pattern.format(glob.escape(self.path.name))):
                shutil.rmtree(left)
        with suppress(StoreFull), self.transaction() as cursor:  # it can be read meanwhile; the next upload sweeps
            sweep_unfinished(cursor)


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """What the disk does to the store at `path` as a StoreError, its cause the fault itself."""
    try:
        yield
    except duckdb.Error as fault:
        if told := explained(path, fault):
            raise told from fault
        raise


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


def sweep_unfinished(cursor: Cursor) -> None:
    """Delete what uploads left that broke off. Within the writer's transaction: nobody else is loading then."""
    if cursor.execute("DELETE FROM uploads WHERE state = 'loading' RETURNING upload_id").fetchall():
        sweep(cursor)


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def connected(path: Path, *, read_only: bool = False) -> Cursor:
    """DuckDB on the file at `path`, which is made if need be; its migrations are not looked at. StoreError."""
    settings: dict[str, Any] = {"memory_limit": MEMORY_LIMIT, "checkpoint_threshold": "1GB"}
    try:
        return duckdb.connect(str(path), read_only=read_only, config=settings)
    except duckdb.Error as fault:
        raise why_not(path, fault) from None


def _make(path: Path) -> None:
    """An empty file for DuckDB, whole from its first moment: a crash while it is written would leave one that no
    longer opens. Where that cannot be done DuckDB makes it in place, or says why not."""
    with suppress(OSError), TemporaryDirectory(prefix=f".{path.name}.new-", dir=path.absolute().parent) as folder:
        fresh = Path(folder, path.name)
        connected(fresh).close()
        os.link(fresh, path)


def migrations(cursor: Cursor, path: Path) -> dict[int, str]:
    """The migrations that a store has had: none for a file that is empty yet. StoreTooNew, StoreError for another
    program's."""
    tables = {name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if not tables:
        return {}
    if not tables >= {"migrations", "uploads"}:
        raise StoreError(f"{path}: a DuckDB file, but not a leakdown store; name another with --store")
    applied = dict(cursor.execute("SELECT number, name FROM migrations ORDER BY number").fetchall())
    last, name = max(applied.items())
    if last > _migrations()[-1][0]:
        raise StoreTooNew(f"{path}: written by a newer leakdown ({name}); update leakdown to read it")
    return applied
