"""Exports, in one place: of an open store, or through the service that owns it."""

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from pydantic_core import from_json

from api.asking import redacting
from api.work import Json

if TYPE_CHECKING:
    from api.asking import Service
    from ingest.store import Store


class Exports(Protocol):
    """The operations on exports. Answers are plain JSON values."""

    def jsonl(self, out: BinaryIO) -> int:
        """Write all records as native JSON Lines; their number."""
        ...

    def parquet(self, folder: Path) -> int:
        """Write one Parquet file a table; their number."""
        ...

    def pack(self, out: BinaryIO, redact: tuple[str, ...] | None) -> Json:
        """Write the labelled outputs as a pack; its header. `redact` as in `Given`."""
        ...


class LocalExports:
    """Exports of an open store."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def jsonl(self, out: BinaryIO) -> int:
        """Write all records as native JSON Lines; their number."""
        from ingest.export import to_jsonl

        return to_jsonl(self._store, out)

    def parquet(self, folder: Path) -> int:
        """Write one Parquet file a table; their number."""
        from ingest.export import to_parquet

        return to_parquet(self._store, folder)

    def pack(self, out: BinaryIO, redact: tuple[str, ...] | None) -> Json:
        """Write the labelled outputs as a pack; its header."""
        from ingest.packs import write
        from ingest.redaction import Redactor

        return write(self._store, out, None if redact is None else Redactor(redact)).as_json()


class RemoteExports:
    """Exports through a service."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def jsonl(self, out: BinaryIO) -> int:
        """Write all records as native JSON Lines; their number."""
        return sum(piece.count(b"\n") for piece in self._service.download("/v1/export.jsonl", out))

    def parquet(self, folder: Path) -> int:
        """Write one Parquet file a table; their number."""
        from ingest.export import TABLES

        folder.mkdir(parents=True, exist_ok=True)
        for table in TABLES:
            with (folder / f"{table}.parquet").open("wb") as out:
                for _ in self._service.download(f"/v1/export/{table}.parquet", out):
                    pass
        return len(TABLES)

    def pack(self, out: BinaryIO, redact: tuple[str, ...] | None) -> Json:
        """Write the labelled outputs as a pack; its header."""
        start = b""
        for piece in self._service.download("/v1/export/pack.jsonl", out, params=redacting(redact)):
            start += b"" if b"\n" in start else piece
        header: Json = from_json(start.partition(b"\n")[0])
        return header
