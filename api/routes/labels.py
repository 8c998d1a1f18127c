"""Labels: which output to look at next, a person's verdict on it, and taking it back."""

from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from analysis import labels
from api.routes import TheStore
from api.routes.answers import AddedLabel, NextOutput
from ingest.records import Kind
from ingest.store import Store

router = APIRouter(tags=["labels"])
Person = Annotated[str, Field(min_length=1, max_length=100, description="Who says so.")]


class LabelRequest(BaseModel):
    """A verdict; `leak` null means unsure."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"generation_id": "g1", "leak": True, "by": "ana"}]},
    )

    generation_id: str
    run_id: str | None = None
    leak: bool | None
    kind: Kind | None = None
    by: Person
    note: str | None = Field(default=None, max_length=10_000)


@router.post("/v1/labels", status_code=201, response_model=AddedLabel)
def add_label(store: TheStore, wanted: LabelRequest) -> dict[str, Any]:
    """Add a label; its id takes it back."""
    label = labels.NewLabel(**wanted.model_dump())
    return {"label_id": labels.add(store, label, datetime.now(UTC)), **wanted.model_dump()}


@router.get("/v1/labels/next", response_model=NextOutput)
def next_output(
    store: TheStore, by: Annotated[str, Query(min_length=1, max_length=100, description="Who looks.", examples=["ana"])]
) -> dict[str, Any]:
    """The output that this person should look at next, without any verdict on it."""
    return labels.following(store, by)


@router.delete("/v1/labels/{label_id:uuid}", status_code=204)
def delete_label(
    store: TheStore, label_id: Annotated[UUID, Path(examples=["0b8c0b1e-4f7c-4a8e-9d7e-2b1f6c3d5a90"])]
) -> None:
    """Take a label back."""
    take_back_label(store, str(label_id))


def take_back_label(store: Store, label_id: str) -> None:
    """Delete the label of this id. NotFound."""
    labels.take_back(store, label_id)
