"""Samples: what is worth a label, drawn with known chances."""

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from analysis.sampling import samples
from api.routes import AnyDetectorId, Filter, TheBackend, TheStore
from api.routes.answers.samples import Sample

router = APIRouter(tags=["samples"])


class SampleRequest(BaseModel):
    """What to draw, and how much of it."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [{"baseline": "openrouter-net@1", "candidate": "openrouter-net-tight@1", "budget": 20}]
        },
    )

    baseline: AnyDetectorId
    candidate: AnyDetectorId
    # the bounds are told in the document alone: the refusals are our own, the same as those of the command
    budget: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1})] = Field(
        description="Label at most this many outputs."
    )
    where: list[Filter] = Field(default=[], description="Filters `key=glob`; all must hold.")
    seed: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 2**63 - 1})] = Field(
        default=1, description="The same seed draws the same."
    )


@router.post("/v1/samples", status_code=201, response_model=Sample)
def draw_sample(backend: TheBackend, wanted: SampleRequest) -> dict[str, Any]:
    """Draw a sample and keep it; both detectors judge the history first."""
    return backend.replays.sample(wanted.baseline, wanted.candidate, wanted.budget, wanted.where, wanted.seed)


@router.get("/v1/samples", response_model=list[Sample])
def list_samples(store: TheStore) -> list[dict[str, Any]]:
    """The latest samples, latest first."""
    return samples.samples(store)


@router.get("/v1/samples/{sample_id}", response_model=Sample)
def get_sample(store: TheStore, sample_id: Annotated[int, Path(ge=1, lt=2**31, examples=[1])]) -> dict[str, Any]:
    """One sample: how much of it is labelled, and which bounds it can reach."""
    return samples.sample(store, sample_id)
