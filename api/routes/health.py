"""Is the service alive, can it serve, and what has it done."""

import importlib.metadata
from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.routes import TheStore
from api.routes.answers.health import Health, Ready
from ingest.errors import Stopping
from ingest.store import one
from ingest.store_faults import check_disk

router = APIRouter(tags=["health"])
_METRICS = 'leakdown_requests_total{method="GET",route="/v1/rates",status="200"} 3.0\n'


@router.get("/healthz", response_model=Health)
async def healthz(request: Request) -> dict[str, Any]:  # async: alive even while every thread is busy
    """Alive. `instance` names this life of the service."""
    return {"status": "ok", "instance": request.app.state.instance, "version": importlib.metadata.version("leakdown")}


@router.get("/readyz", response_model=Ready)
def readyz(request: Request, store: TheStore) -> dict[str, Any]:
    """Ready: the store answers, its disk takes more, and the service is not stopping."""
    if request.app.state.stopping.is_set():
        raise Stopping("the service is stopping")
    check_disk(store.path)
    with store.cursor() as cursor:
        [uploads] = one(cursor, "SELECT count(*) FROM uploads WHERE state = 'done'")
    return {"status": "ready", "uploads": uploads}


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {
            "description": "Prometheus text",
            "content": {"text/plain": {"schema": {"type": "string"}, "example": _METRICS}},
        }
    },
)
async def get_metrics(request: Request) -> Response:
    """Metrics for Prometheus."""
    return Response(generate_latest(request.app.state.metrics), media_type=CONTENT_TYPE_LATEST)
