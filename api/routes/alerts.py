"""Alerts: what the rules found, and what people say of it."""

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from analysis.alerts.rules import Day
from analysis.alerts.words import Action
from api.alerts import Said
from api.routes import Since, Where
from api.routes.answers.alerts import Alerts, AlertState
from api.routes.drift import TheDrifts

router = APIRouter(tags=["drift"])


class AlertWord(BaseModel):
    """What to do with an alert, why, and who says so; `until` is the last day of a mute."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"action": "acknowledge", "reason": "the new template", "by": "ana"}]},
    )

    action: Action
    reason: Annotated[str, Field(max_length=10_000, json_schema_extra={"pattern": r"\S"}, description="Why.")]
    by: Annotated[str, Field(max_length=100, json_schema_extra={"pattern": r"\S"}, description="Who says so.")]
    until: Day | None = None


@router.get("/v1/alerts", response_model=Alerts)
def list_alerts(drifts: TheDrifts, where: Where, since: Since = None) -> dict[str, Any]:
    """What the rules found by the current detector, open alerts first. Filters choose of which lines alerts are listed;
    the rules look at the whole history. Kept until the store changes, as drift is."""
    found: dict[str, Any] = drifts.up_to_date(where, since)["alerts"]
    return found


@router.post("/v1/alerts/{alert_id}", status_code=201, response_model=AlertState)
def say_of_alert(
    drifts: TheDrifts, alert_id: Annotated[str, Path(examples=["9f0c2f6a4be81d37"])], wanted: AlertWord
) -> dict[str, Any]:
    """Acknowledge an alert, mute it until a day, or open it again. What is done already is refused with 409."""
    return drifts.say(alert_id, Said(**wanted.model_dump()))
