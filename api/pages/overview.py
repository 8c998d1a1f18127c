"""Overview: who leaks how much, how it goes on, how it moves over time, and where clients and findings differ."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from analysis.charts import weekly_lines
from analysis.detectors import Detector
from analysis.rates import DEFAULT_BY
from analysis.rollups import up_to_date
from analysis.rollups.runs import totals
from api.backend import LocalBackend
from api.pages.figures import shares
from api.pages.order import by_series
from api.pages.rendering import Asked, TheFilters, address, exactly, listed, page
from api.routes import TheBackend, TheDetector, TheStore
from ingest.store import Store, one

router = APIRouter()

MOST = 50
"""Rows shown whose tools are known, and of the others: those with most eligible generations. The JSON has all."""


@router.get("/")
def overview(
    request: Request,
    backend: TheBackend,
    store: TheStore,
    detector: TheDetector,
    asked: TheFilters,
    by: Annotated[list[str], Query()] = [],  # noqa: B006
) -> Response:
    """Rates per series, the trend, and reported against found."""
    keys = listed(by) or list(DEFAULT_BY)
    rows = backend.figures.rates(keys, asked.where, asked.since)
    context = {
        "asked": asked,
        "by": keys,
        "detector": detector.id,
        "counts": _counts(store, detector),
        **_rates(rows, keys, asked),
        "why_none": None if rows else backend.figures.why_no_rates(asked.where, asked.since),
        **_trend(backend, asked),
        "reported": backend.figures.reported(),
    }
    return page(
        request,
        "overview.html",
        context,
        twin=address("/v1/rates", by=",".join(keys), where=asked.where, since=asked.since),
    )


def _counts(store: Store, detector: Detector) -> dict[str, int]:
    with up_to_date(store, detector) as cursor:
        [uploads] = one(cursor, "SELECT count(*) FROM uploads WHERE state = 'done'")
        runs, generations = totals(cursor)
        [events] = one(cursor, "SELECT count(*) FROM events")
    return {"uploads": uploads, "runs": runs, "generations": generations, "events": events}


def _rates(rows: list[dict[str, Any]], by: list[str], asked: Asked) -> dict[str, Any]:
    """The largest rows whose tools are known, and of the others, each with its leak rate, its recovery rate, and the
    address of its leaking runs; and how many there are besides. All bars have one scale."""
    sides = [[row for row in rows if row["tools_known"] is known] for known in (True, False)]
    ordered = by_series([row for side in sides for row in side[:MOST]], by)
    leak = shares(ordered, "leak", "leaks", "eligible")
    recovery = shares(ordered, "recovery", "recovered", "leaked_rounds")
    full = list(zip(ordered, leak, recovery, (_runs(row, by, asked) for row in ordered), strict=True))
    return {
        "more_rows": len(rows) - len(ordered),
        "pruned": sum(row["pruned"] for row in rows),
        "known": [each for each in full if each[0]["tools_known"]],
        "unknown": [each for each in full if not each[0]["tools_known"]],
        "bars_end": {"leak": leak[0].full, "recovery": recovery[0].full} if full else None,
    }


def _runs(row: dict[str, Any], by: list[str], asked: Asked) -> str:
    where = [*asked.where, *(exactly(key, row[key]) for key in by)]
    return address("/runs", where=where, since=asked.since, leaking=True)


def _trend(backend: LocalBackend, asked: Asked) -> dict[str, Any]:
    return {
        "trend": weekly_lines.rows(backend.figures.trend(asked.where, asked.since)),
        "most_panels": weekly_lines.LINES,
        "trend_figure": address("/v1/trend/figure", where=asked.where, since=asked.since),
        "trend_twin": address("/v1/trend", where=asked.where, since=asked.since),
    }
