"""Backup: the whole store as one file, to put back with `leakdown restore`."""

from contextlib import ExitStack

from fastapi import APIRouter
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from api.routes import TheBackend
from ingest.backups import copied

router = APIRouter(tags=["backup"])
_BINARY = {"schema": {"type": "string", "format": "binary"}, "example": "the bytes of a DuckDB file"}


@router.get(
    "/v1/backup",
    response_class=FileResponse,
    responses={200: {"description": "A DuckDB file", "content": {"application/vnd.duckdb": _BINARY}}},
)
def backup(backend: TheBackend) -> FileResponse:
    """The store as it is at this moment, with everything in it, read back and compared. Uploads go on meanwhile."""
    with ExitStack() as stack:
        path = stack.enter_context(copied(backend.store))
        kept = stack.pop_all()
    return FileResponse(
        path, media_type="application/vnd.duckdb", filename="leakdown.duckdb", background=BackgroundTask(kept.close)
    )
