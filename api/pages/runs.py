"""Runs: which there are, and one with its attempts in order and its leaks marked."""

from itertools import groupby
from typing import Any

from fastapi import APIRouter, Request, Response

from analysis import browse
from analysis.detectors import Detector
from analysis.filters import Filters
from api.pages.rendering import TheFilters, address, page, run_address
from api.routes import Cursor, TheDetector, TheStore
from ingest.store import Store

router = APIRouter()


@router.get("/runs")
def runs(
    request: Request,
    store: TheStore,
    detector: TheDetector,
    asked: TheFilters,
    leaking: bool = False,
    cursor: Cursor = None,
) -> Response:
    """A page of runs, latest first."""
    filters = Filters.parse(asked.where, asked.since)
    found = browse.runs(store, detector, filters, leaking=leaking, after=cursor or None).as_json()
    query: dict[str, Any] = {"where": asked.where, "since": asked.since, "leaking": leaking}
    return page(
        request,
        "runs.html",
        {
            **found,
            "asked": asked,
            "leaking": leaking,
            "cursor": cursor,
            "detector": detector.id,
            "first": address("/runs", **query),
            "following": address("/runs", **query, cursor=found["next"]) if found["next"] else None,
        },
        twin=address("/v1/runs", **query, cursor=cursor),
    )


@router.get("/run")
def run_by_query(request: Request, store: TheStore, detector: TheDetector, id: str) -> Response:  # noqa: A002
    """A run whose id no path can hold."""
    return _run(request, store, detector, id)


@router.get("/runs/{run_id:path}")
def run(request: Request, store: TheStore, detector: TheDetector, run_id: str) -> Response:
    """One run, its generations grouped by turn and round."""
    return _run(request, store, detector, run_id)


def _run(request: Request, store: Store, detector: Detector, run_id: str) -> Response:
    found = browse.run(store, detector, run_id)
    rounds = [
        {"turn": turn, "round": number, "attempts": list(attempts)}
        for (turn, number), attempts in groupby(found["generations"], lambda each: (each["turn"], each["round"]))
    ]
    return page(request, "run.html", {**found, "rounds": rounds}, twin=run_address(run_id, "/v1"))
