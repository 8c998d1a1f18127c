"""Labels: which output to look at next, a person's verdict on it, taking it back; conflicts, agreement, history."""

from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field

from analysis.labels import giving, queue
from analysis.labels.turns import Reviewer
from api.arrivals import Arrival, received
from api.labels import COUNT, Asked, FileFormat, LocalLabels, Resolution
from api.routes import TheBackend, TheStore
from api.routes.answers.labels import AddedLabel, Agreement, Conflicts, ImportedLabels, LabelChange, NextOutput
from ingest.errors import UsageError
from ingest.files.containers import Source
from ingest.records import Kind
from ingest.redaction import Redactor
from ingest.store import Store

router = APIRouter(tags=["labels"])
Person = Annotated[str, Field(min_length=1, max_length=100, description="Who says so.")]
Looker = Annotated[str, Query(min_length=1, max_length=100, description="Who looks.", examples=["ana"])]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class LabelRequest(_Body):
    """A verdict; `leak` null means unsure."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"generation_id": "g1", "leak": True, "by": "ana"}]})

    generation_id: str
    run_id: str | None = None
    leak: bool | None
    kind: Kind | None = None
    by: Person
    note: str | None = Field(default=None, max_length=10_000)


class ResolutionRequest(_Body):
    """What decides a conflict; `leak` null: it cannot be told."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"generation_id": "g1", "leak": False, "by": "ana", "note": "it quotes the manual"}]
        }
    )

    generation_id: str
    run_id: str | None = None
    leak: bool | None
    by: Annotated[str, Field(max_length=100, json_schema_extra={"pattern": r"\S"}, description="Who decides.")]
    note: str = Field(max_length=10_000, json_schema_extra={"pattern": r"\S"}, description="Why.")


class SkipRequest(_Body):
    """An output that was shown to `by` and is left for later."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"by": "ana", "verdict_key": "0b8c0b1e-4f7c-4a8e-9d7e-2b1f6c3d5a90"}]}
    )

    by: Person
    verdict_key: str = Field(max_length=100)


@router.post("/v1/labels", status_code=201, response_model=AddedLabel)
def add_label(store: TheStore, wanted: LabelRequest) -> dict[str, Any]:
    """Add a label; its id takes it back."""
    label = giving.NewLabel(**wanted.model_dump())
    return {"label_id": giving.add(store, label, datetime.now(UTC)), **wanted.model_dump()}


@router.get("/v1/labels/next", response_model=NextOutput)
def next_output(
    store: TheStore,
    by: Looker,
    sample: Annotated[
        str | None, Query(max_length=100, description="The id of a drawn sample; else the whole store.")
    ] = None,
    double: Annotated[bool, Query(description="Two people look at each output.")] = False,
    at: Annotated[str | None, Query(max_length=100, description="The verdict key of one shown before.")] = None,
) -> dict[str, Any]:
    """The output that this person should look at next, without any verdict on it. It is kept from others for half an
    hour."""
    return queue.following(store, Reviewer(by, sample or None, double), datetime.now(UTC), at or None)


@router.post("/v1/labels/skip", status_code=204)
def skip_output(store: TheStore, wanted: SkipRequest) -> None:
    """Leave an output for later: others may take it meanwhile."""
    queue.skip(store, wanted.by, wanted.verdict_key, datetime.now(UTC))


@router.get("/v1/labels/conflicts", response_model=Conflicts)
def list_conflicts(backend: TheBackend) -> dict[str, Any]:
    """The outputs on which people contradict each other, and those that were resolved."""
    return backend.labels.conflicts()


@router.post("/v1/labels/resolutions", status_code=201, response_model=AddedLabel)
def add_resolution(backend: TheBackend, wanted: ResolutionRequest) -> dict[str, Any]:
    """Decide a conflict: what it says is the truth, and the labels stay as they are. Its id takes it back."""
    label_id = backend.labels.resolve(Resolution(**wanted.model_dump()))
    return {"label_id": label_id, "kind": None, **wanted.model_dump()}


@router.get("/v1/labels/agreement", response_model=Agreement)
def get_agreement(backend: TheBackend) -> dict[str, Any]:
    """How many outputs are labelled, by whom, how far two people agree, and weak evidence beside the truth."""
    return backend.labels.agreement()


@router.get("/v1/labels/history", response_model=list[LabelChange])
def get_history(
    backend: TheBackend,
    generation_id: Annotated[str | None, Query(description="Only of this generation.")] = None,
    run_id: Annotated[str | None, Query(description="Only of this run.")] = None,
    by: Annotated[str | None, Query(description="Only of this person.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000, description="So many of the latest changes.")] = 100,
) -> list[dict[str, Any]]:
    """What was labelled, changed, resolved and taken back, latest first."""
    return backend.labels.history(Asked(generation_id, run_id, by, limit))


@router.post(
    "/v1/labels/import",
    status_code=201,
    response_model=ImportedLabels,
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "The file itself: JSON Lines or CSV, plain, .gz or .zst.",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def import_file(
    request: Request,
    name: Annotated[str, Query(description="What the file is called.", min_length=1, max_length=1000)] = "labels",
    by: Annotated[
        str | None, Query(min_length=1, max_length=100, description="Who says so, where a line does not tell.")
    ] = None,
) -> dict[str, Any]:
    """Read labels from a file, all of it or nothing. Those of unknown generations are kept aside."""
    labels: LocalLabels = request.app.state.backend.labels
    patterns: tuple[str, ...] | None = request.app.state.redact
    redactor = None if patterns is None else Redactor(patterns)
    async with received(request, name, labels.store.path.absolute(), Arrival()) as files:
        if len(files) != 1:
            raise UsageError("send one file of labels at a time")
        source = Source(files[0].path, files[0].name)
        return await run_in_threadpool(labels.read, source, by, redactor)


def _file(as_: FileFormat, media: str) -> Callable[[TheBackend], Response]:
    def export_labels(backend: TheBackend) -> Response:
        out = BytesIO()
        count = backend.labels.write(out, as_)
        headers = {COUNT: str(count), "Content-Disposition": f'attachment; filename="labels.{as_}"'}
        return Response(out.getvalue(), headers=headers, media_type=media)

    export_labels.__doc__ = f"All labels that count, as a file ({as_})."
    return export_labels


_EXAMPLES = {
    "jsonl": '{"type":"label","generation_id":"g1","leak":true,"by":"ana"}\n',
    "csv": "generation_id,run_id,leak,kind,by,at,note,resolution\ng1,,leak,,ana,,,\n",
}
_MEDIA: dict[FileFormat, str] = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}
for _as, _media in _MEDIA.items():
    router.add_api_route(
        f"/v1/labels.{_as}",
        _file(_as, _media),
        name=f"labels_{_as}",
        response_class=Response,
        responses={
            200: {
                "description": "The labels",
                "content": {_media: {"schema": {"type": "string"}, "example": _EXAMPLES[_as]}},
            }
        },
    )


@router.delete("/v1/labels/{label_id:uuid}", status_code=204)
def delete_label(
    store: TheStore, label_id: Annotated[UUID, Path(examples=["0b8c0b1e-4f7c-4a8e-9d7e-2b1f6c3d5a90"])]
) -> None:
    """Take a label or a resolution back; the history keeps it."""
    take_back_label(store, str(label_id))


def take_back_label(store: Store, label_id: str) -> None:
    """Take back the label of this id. NotFound."""
    giving.take_back(store, label_id, datetime.now(UTC))
