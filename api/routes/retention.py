"""Retention: old texts pruned, a run forgotten."""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from api.routes import TheBackend
from api.routes.answers.retention import Removed

router = APIRouter(tags=["retention"])
# the refusal is our own, as on the command line
Age = Annotated[str, WithJsonSchema({"type": "string", "pattern": "^[1-9][0-9]{0,4}d$"})]
DryRun = Annotated[bool, Field(description="Only say what would go.")]


class Pruning(BaseModel):
    """What is to go: the texts of what is older, or with `keep_rates` false the generations wholly."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"older_than": "90d", "keep_rates": True, "dry_run": True}]},
    )

    older_than: Age = Field(description="Days, such as 90d.")
    keep_rates: bool
    dry_run: DryRun = False


class Forgetting(BaseModel):
    """The run that is to go."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"run_id": "run-033", "dry_run": True}]}
    )

    run_id: str
    dry_run: DryRun = False


@router.post("/v1/prune", response_model=Removed)
def prune(backend: TheBackend, asked: Pruning) -> dict[str, Any]:
    """Take out what is old. It cannot be undone."""
    return backend.retention.prune(asked.older_than, keep_rates=asked.keep_rates, dry_run=asked.dry_run)


@router.post("/v1/forget", response_model=Removed)
def forget(backend: TheBackend, asked: Forgetting) -> dict[str, Any]:
    """Take one run out of every table; what other runs hold too stays."""
    return backend.retention.forget(asked.run_id, dry_run=asked.dry_run)
