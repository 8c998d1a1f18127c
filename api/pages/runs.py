"""Runs: which there are, and one with its attempts in order and its leaks marked."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response

from analysis import browse
from analysis.detectors import Detector
from analysis.recovery.policies import chosen
from api.pages import recovery_words
from api.pages.faults import TITLES
from api.pages.rendering import TheFilters, address, page, run_address
from api.routes import Cursor, TheBackend, TheDetector, TheStore
from ingest.store import Store

router = APIRouter()


@router.get("/runs")
def runs(
    request: Request,
    backend: TheBackend,
    detector: TheDetector,
    asked: TheFilters,
    leaking: bool = False,
    cursor: Cursor = None,
) -> Response:
    """A page of runs, latest first."""
    found = backend.figures.runs(asked.where, asked.since, leaking=leaking, cursor=cursor or None, limit=browse.PAGE)
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
    found = browse.run(store, detector, run_id, chosen(()))
    said = {"recovery_words": recovery_words, "fault_titles": TITLES}
    context = {**found, "rounds": rounds(found["generations"]), **said}
    return page(request, "run.html", context, twin=run_address(run_id, "/v1"))


def rounds(generations: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rounds of a run in order, each with its attempts and what became of them; a generation whose log tells no
    round or no attempt is a round of its own, of which nothing more is known."""
    by_place: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for at, each in enumerate(generations):
        told = each["round"] is not None and each["attempt"] is not None
        place = each["turn"], each["round"], each["role"] or "agent"
        by_place.setdefault((*place, None if told else at), []).append(each)
    return [
        {"turn": turn, "round": number, "told": alone is None, "attempts": attempts, "became": _became(attempts, alone)}
        for (turn, number, _, alone), attempts in by_place.items()
    ]


def _became(attempts: Sequence[dict[str, Any]], alone: object) -> list[list[str]]:
    """For each attempt the words that hold, of `BECAME`."""
    found = [[_STATUS[each["status"]]] if each["status"] in _STATUS else [] for each in attempts]
    if alone is None:
        for words in found[:-1]:
            words.append("retried")
        if not found[-1]:
            found[-1].append("committed")
    return found


_STATUS = {"failed": "dropped", "error": "errored", "cancelled": "cancelled", "cut": "cut off"}
