"""Drift: versions compared along each line, the days on which a rate changed, and alerts."""

from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from analysis.alerts.files import AnyRule, named_apart
from analysis.charts import line_history, weekly_lines
from analysis.filters import Filters
from api.drifts import Drifts
from api.routes import Filter, Since, TheBackend, TheDetector, TheStore, Time, Where
from api.routes.answers.drift import Drift
from api.routes.answers.rates import Figure
from ingest.errors import NotFound

router = APIRouter(tags=["drift"])


def _drifts(request: Request) -> Drifts:
    drifts: Drifts = request.app.state.drifts
    return drifts


TheDrifts = Annotated[Drifts, Depends(_drifts)]


class DriftRequest(BaseModel):
    """Filters, and rules of alerts, as in a file of rules."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"rules": [{"name": "strict", "kind": "threshold", "rate": 0.05}]}]},
    )

    where: list[Filter] = []
    since: Annotated[Time, Field(min_length=1)] | None = None
    rules: Annotated[list[AnyRule], Field(min_length=1, max_length=100)]


@router.get("/v1/drift", response_model=Drift)
def get_drift(drifts: TheDrifts, where: Where, since: Since = None) -> dict[str, Any]:
    """What versions did to the leak rates by the current detector, the days on which they changed, and alerts by the
    rules of the service. Kept until the store changes; the first answer after that takes as long as it takes."""
    return drifts.up_to_date(where, since)


@router.post("/v1/drift", response_model=Drift)
def get_drift_by_rules(backend: TheBackend, wanted: DriftRequest) -> dict[str, Any]:
    """The same with alerts by rules that come along; nothing is kept of them."""
    return backend.figures.drift(wanted.where, wanted.since, rules=named_apart(wanted.rules))


@router.get("/v1/drift/figure", response_model=Figure)
def get_drift_figure(
    backend: TheBackend, store: TheStore, detector: TheDetector, where: Where, since: Since = None
) -> dict[str, Any]:
    """The weeks of the one line that the filters name (the largest of several) as a Plotly figure, with its change
    points. 404 if none of its generations has a time and known tools."""
    lines = weekly_lines.lines(store, detector, Filters.parse(where, since))
    if not lines:
        raise NotFound("no generation of such a line has a time, and tools that are known")
    changed = [_range(each) for each in backend.figures.drift(where, since)["change_points"] if each["tools_known"]]
    return line_history.figure(lines[0], detector.id, changed)


def _range(point: dict[str, Any]) -> line_history.Range:
    return date.fromisoformat(point["earliest"]), date.fromisoformat(point["latest"])
