"""Drift: versions compared along each line, and the days on which a rate changed."""

from datetime import date
from typing import Any

from fastapi import APIRouter

from analysis.charts import line_history, weekly_lines
from analysis.filters import Filters
from api.routes import Since, TheBackend, TheDetector, TheStore, Where
from api.routes.answers.drift import Drift
from api.routes.answers.rates import Figure
from ingest.errors import NotFound

router = APIRouter(tags=["drift"])


@router.get("/v1/drift", response_model=Drift)
def get_drift(backend: TheBackend, where: Where, since: Since = None) -> dict[str, Any]:
    """What versions did to the leak rates by the current detector, and the days on which they changed."""
    return backend.drift(where, since)


@router.get("/v1/drift/figure", response_model=Figure)
def get_drift_figure(
    backend: TheBackend, store: TheStore, detector: TheDetector, where: Where, since: Since = None
) -> dict[str, Any]:
    """The weeks of the one line that the filters name (the largest of several) as a Plotly figure, with its change
    points. 404 if none of its generations has a time and known tools."""
    lines = weekly_lines.lines(store, detector, Filters.parse(where, since))
    if not lines:
        raise NotFound("no generation of such a line has a time, and tools that are known")
    changed = [_range(each) for each in backend.drift(where, since)["change_points"] if each["tools_known"]]
    return line_history.figure(lines[0], detector.id, changed)


def _range(point: dict[str, Any]) -> line_history.Range:
    return date.fromisoformat(point["earliest"]), date.fromisoformat(point["latest"])
