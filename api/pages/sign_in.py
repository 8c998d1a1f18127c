"""Signing in by a key, and signing out."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.access.access import Access, Refused
from api.access.actors import Actor
from api.access.scopes import needed
from api.access.sign_ins import SECONDS
from api.pages.rendering import NAVIGATION, page

router = APIRouter()


@router.get("/sign-in")
def ask(request: Request, next: str = "/") -> Response:  # noqa: A002 - the name in the address
    """The form; whoever is in already, or needs no key, goes on."""
    if request.state.actor.scopes:
        return RedirectResponse(_onwards(request.state.actor, next), HTTPStatus.SEE_OTHER)
    return page(request, "sign_in.html", {"next": _local(next), "refused": None})


@router.post("/sign-in")
async def sign_in(
    request: Request,
    key: Annotated[str, Form(max_length=1000)] = "",
    next: Annotated[str, Form(max_length=10_000)] = "/",  # noqa: A002
) -> Response:
    """Sign in by a key, and go on to the page that was asked for."""
    access: Access = request.app.state.access
    try:
        actor = access.by_key(key.strip(), request.client.host if request.client else "")
    except Refused as fault:
        return _again(request, next, fault)
    if not _pages(actor):
        return _again(request, next, _no_page(actor))
    answer = RedirectResponse(_onwards(actor, next), HTTPStatus.SEE_OTHER)
    access.sign_ins.end(request.cookies.get(access.cookie, ""))
    _give_cookie(answer, access, access.sign_ins.begin(str(actor.key_id)))
    return answer


@router.post("/sign-out")
async def sign_out(request: Request) -> Response:
    """End the sign-in of this browser."""
    access: Access = request.app.state.access
    access.sign_ins.end(request.cookies.get(access.cookie, ""))
    answer = RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER)
    answer.delete_cookie(access.cookie, secure=access.https, httponly=True, samesite="strict")
    return answer


def _again(request: Request, onwards: str, fault: Refused) -> Response:
    context = {"next": _local(onwards), "refused": fault.why}
    shown = page(request, "sign_in.html", context, status=fault.status)
    shown.headers.update(fault.headers)
    return shown


def _give_cookie(answer: Response, access: Access, value: str) -> None:
    answer.set_cookie(
        access.cookie, value, max_age=SECONDS, path="/", secure=access.https, httponly=True, samesite="strict"
    )


def _no_page(actor: Actor) -> Refused:
    why = f"the key {actor.name!r} has the scope {', '.join(sorted(actor.scopes))}, for which there are no pages"
    return Refused(HTTPStatus.FORBIDDEN, why)


def _local(address: str) -> str:
    """`address` if it is one of this service, else its first page: nobody is sent elsewhere."""
    ours = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if ours else "/"


def _pages(actor: Actor) -> list[str]:
    return [path for path, _ in NAVIGATION if actor.may(needed("GET", path) or ())]


def _onwards(actor: Actor, address: str) -> str:
    """The page that was asked for if the key opens it, else the first that it does."""
    wanted = _local(address)
    scopes = needed("GET", wanted.partition("?")[0])
    if wanted != "/" and scopes and actor.may(scopes):
        return wanted
    return next(iter(_pages(actor)), "/")
