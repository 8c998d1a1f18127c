"""The pages that a browser shows: rendered here, each with a JSON twin under /v1."""

from pathlib import Path

from fastapi import Depends, FastAPI
from fastapi.staticfiles import StaticFiles

from api.access.forms import own_form
from api.access.scopes import require_declared
from api.pages import (
    audit,
    detectors,
    drift,
    errors,
    keys,
    labels,
    overview,
    recovery,
    replays,
    review,
    runs,
    series,
    sign_in,
    uploads,
)
from api.routes import known_parameters

_PAGES = (
    overview, series, drift, uploads, runs, recovery, audit, replays, detectors, review, labels, keys, sign_in,
)  # fmt: skip
STATIC = Path(__file__).parents[1] / "static"


def install(app: FastAPI) -> None:
    """Add the pages, their static files (Plotly's script from its own package) and their error pages to `app`."""
    app.mount("/static", StaticFiles(directory=STATIC, packages=[("plotly", "package_data")]), name="static")
    for module in _PAGES:
        require_declared(module.router)
        app.include_router(
            module.router, include_in_schema=False, dependencies=[Depends(known_parameters), Depends(own_form)]
        )
    errors.install(app)
