"""Runs: listed, and one with its attempts in order."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from analysis import browse
from analysis.recovery.policies import chosen
from api.routes import Cursor, Limit, Since, TheBackend, TheDetector, TheStore, Where
from api.routes.answers.runs import RunInFull, RunPage

router = APIRouter(tags=["runs"])


@router.get("/v1/runs", response_model=RunPage)
def list_runs(
    backend: TheBackend,
    where: Where,
    since: Since = None,
    leaking: Annotated[bool, Query(description="Only runs with a leak.")] = False,
    cursor: Cursor = None,
    limit: Limit = browse.PAGE,
) -> dict[str, Any]:
    """Runs, latest first, with their leaks by the current detector."""
    return backend.figures.runs(where, since, leaking=leaking, cursor=cursor, limit=limit)


@router.get("/v1/runs/{run_id:path}", response_model=RunInFull)
def get_run(
    store: TheStore, detector: TheDetector, run_id: Annotated[str, Path(examples=["run-033"])]
) -> dict[str, Any]:
    """One run: each generation with text, verdict and outcome, in order, with every policy's decision on each leak; and
    the events that clients reported."""
    return browse.run(store, detector, run_id, chosen(()))
