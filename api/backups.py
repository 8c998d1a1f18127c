"""Backups, in one place: of an open store, or through the service that owns it."""

from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from api.asking import Service
    from ingest.store import Store

_PIECE = 1 << 20


class Backups(Protocol):
    """The operations on backups. What puts one back needs the store for itself: `ingest.backups.restore`."""

    def write(self, out: BinaryIO) -> int:
        """Write the store as it is at this moment, checked, as a DuckDB file; its bytes."""
        ...


class LocalBackups:
    """Backups of an open store."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def write(self, out: BinaryIO) -> int:
        """Write the store as it is at this moment, checked, as a DuckDB file; its bytes."""
        from ingest.backups import copied

        written = 0
        with copied(self._store) as path, path.open("rb") as copy:
            while piece := copy.read(_PIECE):
                written += out.write(piece)
        return written


class RemoteBackups:
    """Backups through a service."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def write(self, out: BinaryIO) -> int:
        """Write the store as it is at this moment, checked, as a DuckDB file; its bytes."""
        return sum(len(piece) for piece in self._service.download("/v1/backup", out))
