"""Where OpenTelemetry's exporters send to (OTLP/HTTP): spans and log records of running applications."""

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from api.arrivals import Arrival, received
from api.otlp_answers import JSON, PROTOBUF, encoding_of, passed_over, success
from api.telemetry import PACKINGS, Telemetry
from ingest.otlp.intake import Signal

router = APIRouter(include_in_schema=False)  # the protocol's own, published by OpenTelemetry


@router.post("/v1/traces")
async def add_spans(request: Request) -> Response:
    """Take spans; those of model calls are read within seconds."""
    return await _take(request, "traces")


@router.post("/v1/logs")
async def add_log_records(request: Request) -> Response:
    """Take log records; those of model calls are read within seconds."""
    return await _take(request, "logs")


@router.post("/v1/metrics")
async def pass_metrics_over(request: Request) -> Response:
    """An exporter that is given one address for everything sends metrics too."""
    encoding = _encoding(request)
    async for _ in request.stream():
        pass
    return passed_over(encoding)


async def _take(request: Request, signal: Signal) -> Response:
    inbox: Telemetry = request.app.state.telemetry
    encoding, packing = _encoding(request), _packing(request)
    with inbox.place():
        async with received(request, "otlp", inbox.store.path.absolute(), Arrival()) as [file], inbox.decoding:
            try:
                found = await run_in_threadpool(inbox.take, file.path, packing, signal, as_json=encoding == JSON)
            except ValueError as fault:
                raise HTTPException(400, str(fault)) from None
    return success(encoding, signal, found)


def _encoding(request: Request) -> str:
    encoding = encoding_of(request.headers)
    if encoding is None:
        raise HTTPException(415, f"send OTLP as {PROTOBUF} or {JSON}")
    return encoding


def _packing(request: Request) -> str:
    packing = request.headers.get("content-encoding", "").strip().lower()
    if packing not in ("", "identity", *PACKINGS):
        raise HTTPException(415, f"content encoding {packing!r}; send {', '.join(PACKINGS)} or none")
    return packing
