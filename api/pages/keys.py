"""Keys: made, listed and revoked; and the audit log."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.access.keys import SCOPES
from api.pages.rendering import page
from api.routes import TheBackend

router = APIRouter()

SHOWN = 100
"""Entries of the audit log that the page shows; the JSON has more."""


@router.get("/keys")
def keys(request: Request, backend: TheBackend) -> Response:
    """All keys, the form for a new one, and the latest entries of the log."""
    return _page(request, backend)


@router.post("/keys")
def create(
    request: Request,
    backend: TheBackend,
    name: Annotated[str, Form(max_length=100)],
    scope: Annotated[list[str], Form()] = [],  # noqa: B006
) -> Response:
    """Make a key, and show it this once: the page is the answer, and is not kept."""
    return _page(request, backend, backend.keys.create(name.strip(), scope))


@router.post("/keys/revoke")
def revoke(backend: TheBackend, name: Annotated[str, Form(max_length=100)]) -> Response:
    """Revoke a key, and show what is left."""
    backend.keys.revoke(name)
    return RedirectResponse("/keys", 303)


def _page(request: Request, backend: TheBackend, made: dict[str, Any] | None = None) -> Response:
    listed = backend.keys.listed()
    context = {
        "made": made,
        "alive": [each for each in listed if not each["revoked_at"]],
        "revoked": [each for each in listed if each["revoked_at"]],
        "scopes": SCOPES,
        "in_force": request.app.state.access.in_force,
        "log": backend.keys.log(SHOWN),
    }
    return page(request, "keys.html", context, twin="/v1/keys")
