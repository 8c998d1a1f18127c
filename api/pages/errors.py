"""What a browser is shown where a page cannot be: the same explanation as the problem document, as a page."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic_core import from_json
from starlette.exceptions import HTTPException

from api.pages.rendering import page
from ingest.errors import LeakdownError

_FOR_PROGRAMS = ("/v1", "/static", "/healthz", "/readyz", "/metrics")
"""What has no pages below it."""

Handler = Callable[[Request, Any], Any]


def install(app: FastAPI) -> None:
    """Show the failures that `app` explains as pages, except to programs. Comes after `problems.install`."""
    for kind in (LeakdownError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _as_page(app.exception_handlers[kind]))


def _as_page(explain: Handler) -> Handler:
    def handler(request: Request, fault: Exception) -> Response:
        answer: JSONResponse = explain(request, fault)
        return answer if for_programs(request) else refusal(request, answer)

    return handler


def for_programs(request: Request) -> bool:
    """Whether `request` is for what has no pages."""
    path: str = request.scope["path"]  # that of `url` ends at an encoded question mark
    return any(path == top or path.startswith(f"{top}/") for top in _FOR_PROGRAMS)


def refusal(request: Request, problem: JSONResponse) -> Response:
    """A problem document as a page of the same status."""
    shown = page(request, "error.html", {"problem": from_json(bytes(problem.body))}, status=problem.status_code)
    about_the_body = ("content-length", "content-type")
    shown.headers.update({name: value for name, value in problem.headers.items() if name not in about_the_body})
    return shown
