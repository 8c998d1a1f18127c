"""Replays: two detectors on the stored outputs, as jobs, one at a time."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from analysis.candidates.kept import known
from analysis.filters import Filters
from analysis.matching import require_match
from analysis.rules import parse
from api.backend import LocalBackend
from api.jobs import Jobs
from api.routes import AnyDetectorId, Filter, RuleText, TheBackend, Time
from api.routes.answers.replay import Replay, ReplayInFull

router = APIRouter(tags=["replays"])

JobId = Annotated[str, Path(examples=["4f1c09aa72be"])]


class ReplayRequest(BaseModel):
    """What to compare, and on which outputs."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"baseline": "openrouter-net@1", "candidate": "openrouter-net-tight@1"}]},
    )

    baseline: AnyDetectorId
    candidate: AnyDetectorId
    rules: list[RuleText] = Field(
        default=[], max_length=2, description="Rule files, which `baseline` and `candidate` may name, by name or by id."
    )
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
def start_replay(request: Request, response: Response, backend: TheBackend, wanted: ReplayRequest) -> dict[str, Any]:
    """Queue a replay; `GET` the address in Location for its progress and report. A rule file is checked first."""
    named = keep_rules(backend, wanted.rules)
    ids = {
        side: named.get(each, each) for side, each in (("baseline", wanted.baseline), ("candidate", wanted.candidate))
    }
    for each in ids.values():
        known(backend.store, each)
    require_match(backend.store, Filters.parse(wanted.where, wanted.since, wanted.until))
    job = _jobs(request).submit({**wanted.model_dump(exclude={"rules"}), **ids})
    response.headers["Location"] = f"/v1/replays/{job['id']}"
    return job


def keep_rules(backend: LocalBackend, texts: list[str]) -> dict[str, str]:
    """Check and keep rule files; the id of each by its name. UsageError."""
    files = [parse(text, f"rules {at}") for at, text in enumerate(texts, 1)]
    for each in files:
        backend.detectors.bring(each, False)
    return {each.name: each.id for each in files}


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
