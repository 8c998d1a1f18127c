"""The pages that a browser shows: rendered here, each with a JSON twin under /v1."""

from pathlib import Path

from fastapi import Depends, FastAPI
from fastapi.staticfiles import StaticFiles

from api.pages import (
    audit,
    detectors,
    drift,
    errors,
    labels,
    overview,
    recovery,
    replays,
    review,
    runs,
    series,
    uploads,
)
from api.routes import known_parameters

STATIC = Path(__file__).parents[1] / "static"


def install(app: FastAPI) -> None:
    """Add the pages, their static files (Plotly's script from its own package) and their error pages to `app`."""
    app.mount("/static", StaticFiles(directory=STATIC, packages=[("plotly", "package_data")]), name="static")
    for module in (overview, series, drift, uploads, runs, recovery, audit, replays, detectors, review, labels):
        app.include_router(module.router, include_in_schema=False, dependencies=[Depends(known_parameters)])
    errors.install(app)
