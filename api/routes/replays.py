"""Replays: two detectors on the stored outputs, as jobs, one at a time."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from analysis.detectors import detector
from analysis.filters import Filters
from analysis.matching import require_match
from api.jobs import Jobs
from api.routes import DetectorId, Filter, TheStore, Time
from api.routes.answers import Replay, ReplayInFull

router = APIRouter(tags=["replays"])

JobId = Annotated[str, Path(examples=["4f1c09aa72be"])]


class ReplayRequest(BaseModel):
    """What to compare, and on which outputs."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"baseline": "openrouter-net@1", "candidate": "openrouter-net-tight@1"}]},
    )

    baseline: DetectorId
    candidate: DetectorId
    where: list[Filter] = Field(default=[], description="Filters `key=glob`; all must hold.")
    since: Time | None = Field(default=None, min_length=1, description="Only outputs since this date or time (UTC).")
    until: Time | None = Field(
        default=None, min_length=1, description="Only outputs before this time, or to the end of this day (UTC)."
    )
    recompute: bool = Field(default=False, description="Judge every output anew.")


def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.replays
    return jobs


@router.post("/v1/replays", status_code=202, response_model=ReplayInFull)
def start_replay(request: Request, response: Response, store: TheStore, wanted: ReplayRequest) -> dict[str, Any]:
    """Queue a replay; `GET` the address in Location for its progress and report."""
    detector(wanted.baseline), detector(wanted.candidate)
    require_match(store, Filters.parse(wanted.where, wanted.since, wanted.until))
    job = _jobs(request).submit(wanted.model_dump())
    response.headers["Location"] = f"/v1/replays/{job['id']}"
    return job


@router.get("/v1/replays", response_model=list[Replay])
def list_replays(request: Request) -> list[dict[str, Any]]:
    """The latest replays, latest first, without their reports."""
    return _jobs(request).all()


@router.get("/v1/replays/{job_id}", response_model=ReplayInFull)
def get_replay(request: Request, job_id: JobId) -> dict[str, Any]:
    """One replay: its state, its progress, and once done its report."""
    return _jobs(request).get(job_id)


@router.delete("/v1/replays/{job_id}", response_model=ReplayInFull)
def cancel_replay(request: Request, job_id: JobId) -> dict[str, Any]:
    """Cancel a queued or running replay."""
    return _jobs(request).cancel(job_id)
