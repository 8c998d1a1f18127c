"""Events: leaks as clients report them, in any spelling."""

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any

from fastapi import APIRouter, Body, Request
from fastapi.concurrency import run_in_threadpool

from api.backend import LocalBackend
from api.routes import TheBackend
from api.routes.answers.uploads import UploadResult
from api.uploads import Given
from api.work import Json
from ingest.errors import UsageError
from ingest.files.containers import RawLine, Source
from ingest.files.jsonlines import decode
from ingest.formats import Line, Mapped
from ingest.formats.native import read
from ingest.records import LeakedToolCall

router = APIRouter(tags=["events"])
MOST = 10_000
"""Events of one request."""
_EXAMPLE = {
    "run_id": "r1",
    "round": 0,
    "markup": "<tool_call>…",
    "leak": 1,
    "retried": True,
    "detector": "openrouter-net@1",
}


@router.post("/v1/events", status_code=201, response_model=UploadResult)
async def add_events(
    request: Request,
    backend: TheBackend,
    events: Annotated[
        dict[str, Any] | list[dict[str, Any]],
        Body(examples=[[_EXAMPLE], {"Markup": "<tool_call>", "Leak": 1, "Retried": False}]),
    ],
) -> Json:
    """Take one event or a list of them: all of them, or none if one is wrong."""
    given = events if isinstance(events, list) else [events]
    if not 0 < len(given) <= MOST:
        raise UsageError(f"{len(given):,} events: send from 1 to {MOST:,}")
    lines = [RawLine(at, _spelled(at, event)) for at, event in enumerate(given)]
    _check(lines)
    async with request.app.state.arrivals.reading:
        return await run_in_threadpool(_keep, backend, lines, Given("native", redact=request.app.state.redact))


def _spelled(at: int, event: dict[str, Any]) -> bytes:
    try:
        return json.dumps(event).encode()
    except RecursionError:
        raise UsageError(f"event {at}: nested too deep") from None


def _check(lines: Sequence[RawLine]) -> None:
    """UsageError for what the reader would quarantine, or take for another record."""
    for decoded in decode(lines):
        for item in read([decoded]) if isinstance(decoded, Line) else (decoded,):
            if not isinstance(item, Mapped):
                raise UsageError(f"event {item.line}: {item.why}")
            [record] = item.records
            if not isinstance(record, LeakedToolCall):
                raise UsageError(
                    f"event {item.line}: a {record.type}, not a leaked_tool_call; send other records to /v1/uploads"
                )


def _keep(backend: LocalBackend, lines: Sequence[RawLine], given: Given) -> Json:
    with NamedTemporaryFile(suffix=".jsonl") as file:
        file.writelines(line.data + b"\n" for line in lines)
        file.flush()
        return backend.uploads.ingest(Source(Path(file.name), "POST /v1/events"), given)
