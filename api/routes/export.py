"""Export: the stored records, to take elsewhere."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from api.routes import TheBackend
from api.routes.uploads import Redacting
from ingest.errors import NotFound
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
    folder = TemporaryDirectory(prefix="leakdown-export-")
    path = Path(folder.name, "leakdown.jsonl")
    with path.open("wb") as out:
        backend.export_jsonl(out)
    return FileResponse(
        path, media_type="application/jsonl", filename=path.name, background=BackgroundTask(folder.cleanup)
    )


@router.get(
    "/v1/export/pack.jsonl",
    response_class=FileResponse,
    responses={200: {"description": "A pack", "content": {"application/jsonl": {**_BINARY, "example": _HEADER}}}},
)
def export_pack(backend: TheBackend, redact: Redacting) -> FileResponse:
    """The labelled outputs as a pack, for replays without a store."""
    folder = TemporaryDirectory(prefix="leakdown-export-")
    path = Path(folder.name, "pack.jsonl")
    with path.open("wb") as out:
        backend.export_pack(out, redact)
    return FileResponse(
        path, media_type="application/jsonl", filename=path.name, background=BackgroundTask(folder.cleanup)
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
    folder = TemporaryDirectory(prefix="leakdown-export-")
    path = Path(folder.name, f"{table}.parquet")
    write_parquet(backend.store, table, path)
    media = "application/vnd.apache.parquet"
    return FileResponse(path, media_type=media, filename=path.name, background=BackgroundTask(folder.cleanup))
