"""Generations: listed with their verdicts."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from analysis import browse
from analysis.filters import Filters
from api.routes import Cursor, Limit, Since, TheDetector, TheStore, Where
from api.routes.answers.runs import GenerationPage

router = APIRouter(tags=["generations"])


@router.get("/v1/generations", response_model=GenerationPage)
def list_generations(
    store: TheStore,
    detector: TheDetector,
    where: Where,
    since: Since = None,
    leak: Annotated[bool | None, Query(description="Only leaks, or only the others.")] = None,
    cursor: Cursor = None,
    limit: Limit = browse.PAGE,
) -> dict[str, Any]:
    """Generations in the order in which they came, with the verdict of the current detector."""
    filters = Filters.parse(where, since)
    return browse.generations(store, detector, filters, leak=leak, after=cursor, limit=limit).as_json()
