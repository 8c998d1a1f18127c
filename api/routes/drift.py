"""Drift: versions compared along each line, and the days on which a rate changed."""

from typing import Any

from fastapi import APIRouter

from api.routes import Since, TheBackend, Where
from api.routes.answers.drift import Drift

router = APIRouter(tags=["drift"])


@router.get("/v1/drift", response_model=Drift)
def get_drift(backend: TheBackend, where: Where, since: Since = None) -> dict[str, Any]:
    """What versions did to the leak rates by the current detector, and the days on which they changed."""
    return backend.drift(where, since)
