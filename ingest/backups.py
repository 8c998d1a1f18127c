"""A copy of a store that others go on writing to, and a copy put in a store's place."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from ingest.actions import note
from ingest.errors import StoreDamaged, StoreError, StoreFull, StoreLocked, UnreadableInput, UsageError
from ingest.store import Cursor, Store, atomic, connected, explaining, migrations, one

_PIECE = 1 << 20
_WALS = (".wal", ".wal.checkpoint", ".wal.recovery")
"""What DuckDB may keep beside its file, after its name."""
_TABLES = """
SELECT table_name FROM duckdb_tables() WHERE database_name = $1 AND NOT temporary AND NOT internal ORDER BY ALL
"""


@dataclass(frozen=True, slots=True)
class Held:
    """What a copy of a store holds."""

    uploads: int
    generations: int


@contextmanager
def copied(store: Store) -> Iterator[Path]:
    """A copy of `store` as it is at this moment, as one file beside it while it lasts, read back and compared with
    what it is a copy of. Others read and write meanwhile. StoreFull, StoreError."""
    folder = store.path.absolute().parent
    with TemporaryDirectory(prefix=f".{store.path.name}.backup-", dir=folder) as scratch:
        path = Path(scratch, store.path.name)
        with store.cursor() as cursor:
            expected = _copy(cursor, path)
            with _attached(cursor, path, "(READ_ONLY)") as name:
                found = _sums(cursor, name)
        if differing := sorted(table for table, sums in expected.items() if found.get(table) != sums):
            raise StoreDamaged(
                f"{store.path}: its copy reads differently ({', '.join(differing)}); nothing was written"
            )
        with store.brief() as cursor:
            note(cursor, "backup", f"{path.stat().st_size:,} bytes")
        yield path


def _copy(cursor: Cursor, path: Path) -> dict[str, tuple[int, int]]:
    """Copy the store to a new file; the sums of what was copied."""
    [name] = one(cursor, "SELECT current_database()")
    with _attached(cursor, path) as copy, atomic(cursor):  # one moment for the copy and for its sums
        cursor.execute(f'COPY FROM DATABASE "{name}" TO {copy}')
        return _sums(cursor, name)


@contextmanager
def _attached(cursor: Cursor, path: Path, options: str = "") -> Iterator[str]:
    """The name of the file at `path` while it is open beside the store; no other is called so."""
    name, quoted = f"copy_{secrets.token_hex(8)}", str(path).replace("'", "''")
    cursor.execute(f"ATTACH '{quoted}' AS {name} {options}")
    try:
        yield name
    finally:
        cursor.execute(f"DETACH {name}")


def _sums(cursor: Cursor, database: str) -> dict[str, tuple[int, int]]:
    """The number of rows of each table, and the sum of their hashes: every block is read."""
    tables = [table for (table,) in cursor.execute(_TABLES, [database]).fetchall()]
    return {table: one(cursor, f'SELECT count(*), sum(hash(t)) FROM "{database}"."{table}" t') for table in tables}  # noqa: S608 - our own names


def checked(path: Path) -> Held:
    """What the store in the file `path` holds, every block of it read; nothing is changed. StoreDamaged, StoreTooNew,
    StoreError for what is no store of ours."""
    with explaining(path), connected(path, read_only=True) as connection:
        if not migrations(connection, path):
            raise StoreError(f"{path}: an empty DuckDB file, no leakdown store")
        [name] = one(connection, "SELECT current_database()")
        _sums(connection, name)
        [uploads] = one(connection, "SELECT count(*) FROM uploads WHERE state = 'done'")
        [generations] = one(connection, "SELECT count(*) FROM generations")
        return Held(uploads, generations)


def restore(backup: BinaryIO, name: str, target: Path) -> Held:
    """Put the store that `backup`, called `name`, holds in the place of `target`, whatever is there, once it has been
    read whole. StoreLocked if another process has `target` open; StoreDamaged and StoreError for a bad backup."""
    folder = target.absolute().parent
    with TemporaryDirectory(prefix=f".{target.name}.restoring-", dir=folder) as scratch:
        arrived = Path(scratch, target.name)
        _write(backup, name, arrived)
        try:
            held = checked(arrived)
        except StoreError as fault:
            raise type(fault)(str(fault).replace(str(arrived), name)) from None
        _put_in_place(arrived, target)
    with Store.open(target) as store, store.brief() as cursor:
        note(cursor, "restore", name)
    return held


def _write(backup: BinaryIO, name: str, path: Path) -> None:
    try:
        with path.open("wb") as file:
            while piece := _read(backup, name):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    except OSError as fault:
        raise StoreFull(f"{path.parent.parent}: the backup cannot be written here ({_why(fault)})") from None


def _read(backup: BinaryIO, name: str) -> bytes:
    try:
        return backup.read(_PIECE)
    except OSError as fault:
        raise UnreadableInput(f"{name}: {_why(fault)}") from None


def _put_in_place(arrived: Path, target: Path) -> None:
    """The log of an earlier store goes before it does: beside another file it would be taken for that one's."""
    with _owned(target):
        for left in _WALS:
            target.with_name(target.name + left).unlink(missing_ok=True)
        arrived.replace(target)
        _sync(target.absolute().parent)


@contextmanager
def _owned(target: Path) -> Iterator[None]:
    """Keep others from the store at `target` while it lasts, with all of it in its one file; one that cannot be opened
    nobody else can open either."""
    if not target.exists():
        yield
        return
    try:
        connection = connected(target)
    except StoreLocked:
        raise
    except StoreError:
        yield
        return
    with connection:
        with suppress(StoreError), explaining(target):  # what cannot be written any more is given up
            connection.execute("CHECKPOINT")
        yield


def _sync(folder: Path) -> None:
    """Make sure of the folder's entries too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def refuse_loose_log(path: Path) -> None:
    """UsageError for a store's own file whose latest changes still stand in a log beside it."""
    if path.with_name(f"{path.name}.wal").exists():
        raise UsageError(
            f"{path}: has a log beside it ({path.name}.wal), so it is a store in use or one after a crash; make a "
            f"backup of it with `leakdown backup FILE --store {path}`"
        )


@contextmanager
def whole(target: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `target` once all is written. OSError."""
    part = target.with_name(f".{target.name}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
        _sync(target.absolute().parent)
    finally:
        part.unlink(missing_ok=True)


def _why(fault: OSError) -> str:
    return (fault.strerror or str(fault)).lower()
