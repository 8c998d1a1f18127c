"""The door before every request: who asks, and whether their key has the scope that the route asks for.

It stands behind the guard and before any body is read. Where no key is asked for, whoever comes is let in.
"""

from http import HTTPStatus
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.access.access import HOW, Access, Refused, unknown
from api.access.actors import NOBODY, Actor
from api.access.forms import TOKEN_HEADER, brings_token, changes
from api.access.scopes import OPEN, needed
from api.pages.errors import for_programs, refusal
from api.problems import problem
from ingest.actions import acting

_TITLES = {
    HTTPStatus.UNAUTHORIZED: "A key is needed",
    HTTPStatus.FORBIDDEN: "The key does not reach here",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many wrong keys",
}


class Door:
    """The middleware; the rest finds who asks in `request.state.actor`."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let in, or refuse."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        request.state.actor = NOBODY
        scopes = needed(request.method, scope["path"])
        try:
            request.state.actor = self._let_in(request, scopes)
        except Refused as fault:
            await _answer(request, fault)(scope, receive, send)
            return
        shared = scopes == OPEN or not self.access.in_force
        with acting(request.state.actor.name):
            await self.app(scope, receive, send if shared else _unkept(send))

    def _let_in(self, request: Request, scopes: frozenset[str] | None) -> Actor:
        if scopes == OPEN:
            return self._whoever(request)
        actor = self.access.actor(request)
        if actor is None:
            raise unknown(f"this service asks for a key: {HOW}")
        if scopes is not None and not actor.may(scopes):
            raise _too_narrow(actor, scopes)
        if actor.token and changes(request) and for_programs(request) and not brings_token(request, actor.token):
            raise Refused(HTTPStatus.FORBIDDEN, f"a change by a browser that signed in needs the header {TOKEN_HEADER}")
        return actor

    def _whoever(self, request: Request) -> Actor:
        """Who asks for what is open to all, a wrong key or none included."""
        try:
            return self.access.actor(request) or NOBODY
        except Refused:
            return NOBODY


def _unkept(send: Send) -> Send:
    """Answers that no cache keeps: what one key opens is not for whoever asks a proxy next."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).setdefault("Cache-Control", "no-store")
        await send(message)

    return sending


def _too_narrow(actor: Actor, scopes: frozenset[str]) -> Refused:
    wanted, has = " or ".join(sorted(scopes)), ", ".join(sorted(actor.scopes))
    why = f"this needs a key with the scope {wanted}; the key {actor.name!r} has {has}"
    challenge = f'Bearer realm="leakdown", error="insufficient_scope", scope="{" ".join(sorted(scopes))}"'
    return Refused(HTTPStatus.FORBIDDEN, why, {"WWW-Authenticate": challenge})


def _answer(request: Request, fault: Refused) -> Response:
    """A problem document; to a browser a page, or the way to sign in."""
    said = problem(fault.status, _TITLES[fault.status], fault.why, fault.headers)
    if for_programs(request) or "text/html" not in request.headers.get("accept", ""):
        return said
    if fault.status == HTTPStatus.UNAUTHORIZED:
        return RedirectResponse(f"/sign-in?next={quote(_here(request), safe='')}", HTTPStatus.SEE_OTHER)
    return refusal(request, said)


def _here(request: Request) -> str:
    """The page to come back to: that of a form is the one where it stood, which is not known."""
    path, query = request.scope["raw_path"], request.scope["query_string"]
    return "/" if changes(request) else (path + (b"?" + query if query else b"")).decode("latin-1")
