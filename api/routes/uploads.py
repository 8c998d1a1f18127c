"""Uploads: run logs in, listed, corrected, deleted."""

import time
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from starlette.exceptions import HTTPException

from api.access.actors import Actor
from api.access.scopes import LABEL, READ
from api.arrivals import CLIENT_ID, Arrival, Arrivals, received
from api.backend import LocalBackend
from api.cli.options import pairs
from api.problems import explained, problem
from api.routes import Setting, TheBackend
from api.routes.answers.uploads import Arriving, StoredUpload, Uploaded, UploadInFull
from api.uploads import Given
from ingest.errors import InputError, LeakdownError, NotFound
from ingest.files.containers import Source
from ingest.files.grouping import together
from ingest.formats import formats
from ingest.pipeline import Progress
from ingest.records import SERIES
from ingest.store import Store
from ingest.uploads import check_settings, quarantine

router = APIRouter(tags=["uploads"])

Name = Annotated[str, Query(description="What the file is called.", min_length=1, max_length=1000)]
FormatName = Annotated[str, WithJsonSchema({"type": "string", "enum": sorted(each.name for each in formats())})]
Format = Annotated[FormatName | None, Query(description="Read it as this format instead of finding it out.")]
Settings = Annotated[
    list[Setting],
    Query(alias="set", description="Series fields `key=value` over what the file says.", examples=[["engine=vllm"]]),
]
Sidecar = Annotated[
    list[Setting],
    Query(description="As `set`, but read from a leakdown.toml: what is set counts more.", examples=[["engine=vllm"]]),
]
UploadId = Annotated[int, Path(ge=1, lt=2**31, examples=[1])]
ClientId = Annotated[str, Path(pattern=CLIENT_ID, max_length=80, examples=["run-7f3a"])]
_RESULT = {
    "uploads": [
        {
            "upload_id": 1, "path": "runs.jsonl", "format": "native", "lines": 8, "mapped": 7, "skipped": 0,
            "duplicate": 0, "quarantined": 1, "generations": 4, "new_generations": 4, "events": 2,
            "skipped_why": {}, "quarantined_why": {"not JSON: expected value at byte 1": 1}, "warning": None,
            "unsure": None,
        }
    ],
    "refused": [],
}  # fmt: skip
_CREATED: dict[int | str, dict[str, Any]] = {
    status: {
        "description": description,
        "model": Uploaded,
        "content": {"application/json": {"example": _RESULT}},
    }
    for status, description in ((201, "Committed"), (200, "Committed under this client id before"))
}
_BODY = {
    "requestBody": {
        "required": True,
        "description": "The file itself (any log format, plain, .gz, .zst, .zip or .tar), or a form with files; "
        "those that belong together become one upload.",
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            },
        },
    }
}


Redact = Annotated[bool, Query(description="Take out keys, tokens, e-mail addresses and home folders before storing.")]
Patterns = Annotated[
    list[str],
    Query(alias="redact_pattern", description="Take out what these match too (syntax of Rust's regex)."),
]


def redacting(request: Request, redact: Redact = False, patterns: Patterns = []) -> tuple[str, ...] | None:  # noqa: B006
    """The patterns to redact by, the service's own first; None where neither it nor the request wants that."""
    always: tuple[str, ...] | None = request.app.state.redact
    wanted = redact or bool(patterns) or always is not None
    return (*(always or ()), *patterns) if wanted else None


Redacting = Annotated[tuple[str, ...] | None, Depends(redacting)]


def what(
    redact: Redacting,
    format_name: Format = None,
    settings: Settings = [],  # noqa: B006 - FastAPI copies it
    sidecar: Sidecar = [],  # noqa: B006
) -> Given:
    """What a request says of its files beside themselves, and what the service redacts whatever it says."""
    given = Given(format_name, pairs(settings), pairs(sidecar), redact)
    check_settings({**given.sidecar, **given.settings})
    return given


What = Annotated[Given, Depends(what)]


class Correction(BaseModel):
    """Series fields to set on all generations of an upload."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"settings": {"engine": "vllm"}}]}
    )

    settings: dict[str, str] = Field(json_schema_extra={"propertyNames": {"enum": list(SERIES)}})


@router.post(
    "/v1/uploads",
    status_code=201,
    response_model=Uploaded,
    responses={201: _CREATED[201]},
    openapi_extra=_BODY,
)
async def upload(
    request: Request,
    given: What,
    name: Name = "upload",
) -> Any:
    """Read a run log. The answer comes after the commit; a refused file leaves nothing behind."""
    return await _take(request, Arrival(), name, given)


@router.put(
    "/v1/uploads/{upload_id}", status_code=201, response_model=Uploaded, responses=_CREATED, openapi_extra=_BODY
)
async def upload_with_id(
    request: Request,
    response: Response,
    upload_id: ClientId,
    given: What,
    name: Name = "upload",
) -> Any:
    """The same under an id of the client's own: `GET` of it tells how far the upload has come."""
    arrivals: Arrivals = request.app.state.arrivals
    arrival = arrivals.begin(upload_id, request.state.actor.key_id)
    if arrival.state == "done":
        response.status_code = 200
        return {"uploads": arrival.uploads, "refused": arrival.refused}
    return await _take(request, arrival, name, given)


async def _take(request: Request, arrival: Arrival, name: str, given: Given) -> Any:
    """Receive the body, read each file of it; the results, or a problem if no file was understood."""
    try:
        await _receive(request, arrival, name, given)
    except BaseException as fault:
        arrival.state, arrival.detail = "failed", _why(fault)
        raise
    if not arrival.uploads:
        first = arrival.refused[0]
        arrival.state, arrival.detail = "failed", first["detail"]
        return problem(first["status"], "The input was not understood", first["detail"], refused=arrival.refused)
    arrival.state = "done"
    return {"uploads": arrival.uploads, "refused": arrival.refused}


def _why(fault: BaseException) -> str:
    match fault:
        case LeakdownError():
            return str(fault)
        case HTTPException():
            return fault.detail
        case _:
            return "the upload broke off; nothing of it was kept"


async def _receive(request: Request, arrival: Arrival, name: str, given: Given) -> None:
    store: Store = request.app.state.backend.store
    given = replace(given, labels=request.state.actor.may(LABEL))
    arrivals: Arrivals = request.app.state.arrivals
    async with (
        arrivals.place(),
        received(request, name, store.path.absolute(), arrival) as files,
        arrivals.reading,
    ):
        arrival.state = "reading"
        sources = await run_in_threadpool(together, [Source(file.path, file.name) for file in files])
        for source in sources:
            await run_in_threadpool(_read, request, arrival, given, source)


def _read(request: Request, arrival: Arrival, given: Given, source: Source) -> None:
    """Read one input into the arrival, as an upload or among those refused."""
    begun = time.monotonic()

    def told(progress: Progress) -> None:
        arrival.told(progress, time.monotonic() - begun)

    backend: LocalBackend = request.app.state.backend
    try:
        result = backend.uploads.ingest(source, given, told)
        arrival.uploads.append(result)
        request.app.state.arrivals.note(result["upload_id"], request.state.actor.key_id)
    except InputError as fault:
        arrival.refused.append({"path": source.name, "status": explained(fault)[0], "detail": str(fault)})


@router.get("/v1/uploads", response_model=list[StoredUpload])
def list_uploads(backend: TheBackend) -> list[dict[str, Any]]:
    """All uploads, oldest first."""
    return backend.uploads.listed()


@router.get("/v1/uploads/{upload_id}", response_model=UploadInFull | Arriving)
def get_upload(request: Request, backend: TheBackend, upload_id: str) -> dict[str, Any]:
    """One upload with its quarantined lines; or, by a client id, how far an upload has come. A key that may not read
    sees its own alone."""
    arrivals: Arrivals = request.app.state.arrivals
    actor: Actor = request.state.actor
    reader = actor.may(READ)
    arrival = arrivals.get(upload_id, actor.key_id, anyone=reader)
    if arrival:
        return arrival.as_json()
    found = next((each for each in backend.uploads.listed() if str(each["upload_id"]) == upload_id), None)
    if found is None or not (reader or arrivals.brought(found["upload_id"], actor.key_id)):
        raise NotFound(f"no upload {upload_id!r}")
    return {**found, "quarantine": quarantine(backend.store, found["upload_id"])}


@router.patch("/v1/uploads/{upload_id}", response_model=StoredUpload)
def correct_upload(backend: TheBackend, upload_id: UploadId, correction: Correction) -> dict[str, Any]:
    """Set the engine, template or other series fields that the file did not say."""
    backend.uploads.correct(upload_id, correction.settings)
    return next(each for each in backend.uploads.listed() if each["upload_id"] == upload_id)


@router.delete("/v1/uploads/{upload_id}", status_code=204)
def delete_upload(backend: TheBackend, upload_id: UploadId) -> None:
    """Delete an upload and all that only it brought."""
    backend.uploads.delete(upload_id)
