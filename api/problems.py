"""Errors over HTTP: problem documents (RFC 9457), one shape for all routes."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from ingest.errors import (
    Busy,
    Conflict,
    InputError,
    LeakdownError,
    NotAllowed,
    NotFound,
    Stopping,
    StoreError,
    TooLarge,
    UsageError,
)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = {429: 1, 503: 2}
"""Seconds after which what was refused may be tried again; an exporter of OpenTelemetry gives up after ten."""

_STATUS: tuple[tuple[type[LeakdownError], int, str], ...] = (
    (NotFound, 404, "Not found"),
    (Conflict, 409, "Not now"),
    (NotAllowed, 403, "Not allowed"),
    (UsageError, 400, "The request was wrong"),
    (TooLarge, 413, "Too large"),
    (InputError, 422, "The input was not understood"),
    (Busy, 429, "Too much at once"),
    (Stopping, 503, "The service is stopping"),
    (StoreError, 503, "The store cannot serve"),
    (LeakdownError, 500, "Failed"),
)


class Problem(BaseModel):
    """A problem document."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str


def problem(status: int, title: str, detail: str, headers: dict[str, str] | None = None, **more: Any) -> JSONResponse:
    """A problem document as an answer. `detail` may quote what was sent: half a surrogate pair is spelled out."""
    if status in RETRY_AFTER:
        headers = {"Retry-After": str(RETRY_AFTER[status]), **(headers or {})}
    told = detail.encode("utf-8", "backslashreplace").decode()
    body = Problem(type="about:blank", title=title, status=status, detail=told, **more)
    return JSONResponse(body.model_dump(), status, headers=headers, media_type=MEDIA_TYPE)


def explained(fault: LeakdownError) -> tuple[int, str]:
    """The HTTP status and title of a failure that leakdown explains."""
    return next((status, title) for kind, status, title in _STATUS if isinstance(fault, kind))


def install(app: FastAPI) -> None:
    """Answer every failure that `app` explains with a problem document."""
    app.exception_handler(LeakdownError)(_of_ours)
    app.exception_handler(HTTPException)(_of_http)
    app.exception_handler(RequestValidationError)(_of_validation)
    app.exception_handler(ClientDisconnect)(_of_nobody)


def _of_ours(_: Request, fault: LeakdownError) -> JSONResponse:
    status, title = explained(fault)
    return problem(status, title, str(fault))


def _of_http(request: Request, fault: HTTPException) -> JSONResponse:
    headers = dict(fault.headers or {})
    if fault.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_methods(request))
    return problem(fault.status_code, HTTPStatus(fault.status_code).phrase, fault.detail, headers)


def _methods(request: Request) -> list[str]:
    """The methods of all routes at the address of `request`; Starlette names those of the first alone."""
    app: FastAPI = request.app
    return [
        method
        for method in ("DELETE", "GET", "PATCH", "POST", "PUT")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in app.routes)
    ]


def _of_validation(_: Request, fault: RequestValidationError) -> JSONResponse:
    first = fault.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return problem(400, "The request was wrong", f"{where}: {first['msg']}")


def _of_nobody(_: Request, __: ClientDisconnect) -> JSONResponse:
    """The client left in the middle of its body: nobody reads this, and it is no bug."""
    return problem(400, "The request was wrong", "the body broke off")


DOCUMENTED: dict[int | str, dict[str, Any]] = {
    status: {
        "description": title,
        "content": {
            MEDIA_TYPE: {
                "schema": Problem.model_json_schema(),
                "example": {"type": "about:blank", "title": title, "status": status, "detail": detail},
            }
        },
    }
    for status, title, detail in (
        (400, "The request was wrong", "unknown detector 'x@1'; known: goat@1, openrouter-net@1"),
        (401, "A key is needed", "this service asks for a key: send `Authorization: Bearer KEY`, or set LEAKDOWN_KEY"),
        (403, "Not from this site", "a page of another site may not change anything here"),
        (404, "Not found", "no run 'r9'"),
        (408, "Request Timeout", "the body stood still for 60 seconds"),
        (409, "Not now", "replay 'a1b2' is done; only a queued or running one can be cancelled"),
        (413, "Too large", "the body is over 4,294,967,296 bytes"),
        (414, "URI Too Long", "the address is over 8,192 bytes"),
        (422, "The input was not understood", "run.log: no reader understands it"),
        (429, "Too much at once", "16 uploads are under way; send it again"),
        (431, "Request Header Fields Too Large", "the headers are over 32,768 bytes"),
        (503, "The store cannot serve", "leakdown.duckdb: the disk is full"),
    )
}
"""The failures that any route may answer with, for the OpenAPI document."""
