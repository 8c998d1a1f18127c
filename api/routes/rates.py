"""Rates: leak and recovery per series, the trend over time, and reported against found."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from analysis.charts import leak_trend, weekly_lines
from analysis.rates import DEFAULT_BY
from api.routes import Since, TheBackend, Where
from api.routes.answers.rates import Figure, RateRow, Reported, TrendLine
from ingest.errors import UsageError

router = APIRouter(tags=["rates"])
MOST_ROWS = 10_000
"""Series of one answer."""
_BY = ",".join(DEFAULT_BY)

By = Annotated[str, Query(description="Series keys, comma separated.", examples=["model,engine,engine_version"])]


@router.get("/v1/rates", response_model=list[RateRow])
def get_rates(backend: TheBackend, where: Where, by: By = _BY, since: Since = None) -> list[dict[str, Any]]:
    """Leak and recovery rates with n and 95 % interval, by the current detector."""
    rows = backend.figures.rates([key.strip() for key in by.split(",") if key.strip()], where, since)
    if len(rows) > MOST_ROWS:
        raise UsageError(f"{len(rows):,} rows, of which {MOST_ROWS:,} are the most; group by fewer keys, or filter")
    return rows


@router.get("/v1/rates/why-none")
def get_why_no_rates(backend: TheBackend, where: Where, since: Since = None) -> dict[str, str]:
    """Why no generation is eligible, in one line for a person."""
    return {"explanation": backend.figures.why_no_rates(where, since)}


@router.get("/v1/trend", response_model=list[TrendLine])
def get_trend(backend: TheBackend, where: Where, since: Since = None) -> list[dict[str, Any]]:
    """The leak rate of the largest lines, week by week, with the days on which their versions changed."""
    return weekly_lines.rows(backend.figures.trend(where, since))


@router.get("/v1/trend/figure", response_model=Figure)
def get_trend_figure(backend: TheBackend, where: Where, since: Since = None) -> dict[str, Any]:
    """The same as a Plotly figure."""
    return leak_trend.figure(backend.figures.trend(where, since))


@router.get("/v1/reported", response_model=Reported)
def get_reported(backend: TheBackend) -> dict[str, Any]:
    """What clients reported against what the current detector finds."""
    return backend.figures.reported()
