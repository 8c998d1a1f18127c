"""Faults: whose fault the leaks are, and the parsers that engines have."""

from typing import Any

from fastapi import APIRouter

from analysis.faults.engines import engines
from api.routes import Since, TheBackend, Where
from api.routes.answers.faults import EngineInFull, FaultRow
from api.routes.rates import By

router = APIRouter(tags=["faults"])


@router.get("/v1/faults", response_model=list[FaultRow])
def get_faults(
    backend: TheBackend, where: Where, by: By = "model,engine,template", since: Since = None
) -> list[dict[str, Any]]:
    """Whose fault the leaks by the current detector are, with n and 95 % interval, and what to set."""
    return backend.figures.faults([key.strip() for key in by.split(",") if key.strip()], where, since)


@router.get("/v1/engines", response_model=list[EngineInFull])
def get_engines() -> list[dict[str, Any]]:
    """The engines, with the parsers that they have for each family of call syntax."""
    return [each.as_json() for each in engines()]
