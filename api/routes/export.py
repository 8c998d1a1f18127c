"""Export: the stored records, to take elsewhere."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, BinaryIO

from fastapi import APIRouter
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from api.routes import TheBackend
from api.routes.uploads import Redacting
from ingest.errors import NotFound, StoreError
from ingest.export import TABLES, write_parquet

router = APIRouter(tags=["export"])
_RECORD = '{"type":"generation","run_id":"r1","content":"All is well."}\n'
_HEADER = '{"type":"pack","version":1,"redacted":false,"generations":0,"labels":0}\n'
_BINARY = {"schema": {"type": "string", "format": "binary"}}


@router.get(
    "/v1/export.jsonl",
    response_class=FileResponse,
    responses={
        200: {"description": "Native records", "content": {"application/jsonl": {**_BINARY, "example": _RECORD}}}
    },
)
def export_jsonl(backend: TheBackend) -> FileResponse:
    """All records as native JSON Lines."""
    return _file("leakdown.jsonl", "application/jsonl", lambda path: _into(path, backend.exports.jsonl))


@router.get(
    "/v1/export/pack.jsonl",
    response_class=FileResponse,
    responses={200: {"description": "A pack", "content": {"application/jsonl": {**_BINARY, "example": _HEADER}}}},
)
def export_pack(backend: TheBackend, redact: Redacting) -> FileResponse:
    """The labelled outputs as a pack, for replays without a store."""
    return _file(
        "pack.jsonl", "application/jsonl", lambda path: _into(path, lambda out: backend.exports.pack(out, redact))
    )


@router.get(
    "/v1/export/{table}.parquet",
    response_class=FileResponse,
    responses={200: {"description": "One table", "content": {"application/vnd.apache.parquet": _BINARY}}},
)
def export_table(backend: TheBackend, table: Annotated[str, InPath(examples=["generations"])]) -> FileResponse:
    """One table as a Parquet file."""
    if table not in TABLES:
        raise NotFound(f"no table {table!r}; there are {', '.join(TABLES)}")
    media = "application/vnd.apache.parquet"
    return _file(f"{table}.parquet", media, lambda path: write_parquet(backend.store, table, path))


def _into(path: Path, write: Callable[[BinaryIO], object]) -> None:
    with path.open("wb") as out:
        write(out)


def _file(name: str, media: str, write: Callable[[Path], object]) -> FileResponse:
    """What `write` puts into a file of that name, as an answer; the file is gone when it is sent, or cannot be made."""
    folder = TemporaryDirectory(prefix="leakdown-export-")
    path = Path(folder.name, name)
    try:
        write(path)
    except OSError as fault:
        folder.cleanup()
        why = (fault.strerror or str(fault)).lower()
        raise StoreError(f"{folder.name}: the export cannot be written ({why}); TMPDIR names another place") from None
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(path, media_type=media, filename=name, background=BackgroundTask(folder.cleanup))
