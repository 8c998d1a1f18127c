"""What went wrong with a store, in one line: its disk, its file, its owner. Anything else DuckDB says is a bug."""

import errno
import re
from pathlib import Path
from tempfile import TemporaryFile

import duckdb

from ingest.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreLocked

_A_LITTLE = 16_384
_HOLDER = re.compile(r"held in (?P<what>.*?) \(PID (?P<pid>\d+)\)")
_FULL = re.compile("No space left on device|Disk quota exceeded|File too large")
_NOT_WRITABLE = re.compile("Read-only file system|Permission denied|Operation not permitted")
_DAMAGED = re.compile("Corrupt database file|Could not read enough bytes|not a valid DuckDB|[Cc]hecksum|deserializ")
_NAMED = re.compile(r'file "(?P<file>[^"]+)"')
_FILE = re.compile("|".join(each.pattern for each in (_FULL, _NOT_WRITABLE, _DAMAGED)))


def explained(path: Path, fault: duckdb.Error) -> StoreError | None:
    """`fault`, which came up in the open store at `path`, as what its user has to know; None for a bug."""
    said = str(fault)
    if isinstance(fault, duckdb.OutOfMemoryException) and not _FULL.search(said):
        return StoreBusy(f"{path}: no memory left beside all that is under way; do it again when less is")
    if not isinstance(fault, duckdb.FatalException | duckdb.IOException) and not _FILE.search(said):
        return None
    if _FULL.search(said):
        return StoreFull(
            f"{_full(path, said)}: no space left on its disk; free some and do it again, what is kept is safe"
        )
    if _NOT_WRITABLE.search(said):
        return StoreError(f"{path}: cannot be written ({_reason(said)})")
    if _DAMAGED.search(said):
        return _damaged(path, said)
    return StoreError(f"{path}: its file cannot be read or written ({_reason(said)})")


def _full(path: Path, said: str) -> str | Path:
    """The file that found no room, if it lies elsewhere than the store."""
    named = _NAMED.search(said)
    elsewhere = named and Path(named["file"]).parent != path.absolute().parent
    return named["file"] if named and elsewhere else path


def why_not(path: Path, fault: duckdb.Error) -> StoreError:
    """Why the store at `path` cannot be opened."""
    said = str(fault)
    holder = _HOLDER.search(said)
    if holder or "Could not set lock" in said:
        by = f"process {holder['pid']}" if holder else "another process"
        return StoreLocked(f"{path}: in use by {by}; wait for it or stop it, or name another store with --store")
    if "not a valid DuckDB" in said:
        return StoreError(f"{path}: cannot be opened as a store (it is another kind of file, or was overwritten)")
    told = explained(path, fault) if _FILE.search(said) else None
    return told or StoreError(f"{path}: cannot be opened as a store ({_reason(said)})")


def check_disk(path: Path) -> None:
    """Write a little beside the store at `path`, and nothing that stays. StoreFull; StoreError where that is not
    permitted."""
    try:
        with TemporaryFile(dir=path.absolute().parent) as file:
            file.write(bytes(_A_LITTLE))
            file.flush()
    except OSError as fault:
        kind = StoreFull if fault.errno in (errno.ENOSPC, errno.EDQUOT) else StoreError
        raise kind(f"{path}: its disk takes nothing ({(fault.strerror or str(fault)).lower()})") from None


def _damaged(path: Path, said: str) -> StoreDamaged:
    return StoreDamaged(
        f"{path}: the store is damaged ({_reason(said)}); put a backup in its place with "
        f"`leakdown restore FILE --store {path} --force`"
    )


def _reason(said: str) -> str:
    return said.splitlines()[0]
