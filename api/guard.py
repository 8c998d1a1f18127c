"""What stands before every request: who may ask, how large and how slow a body may be, what a browser may do.

A service without keys trusts its own machine; who may do what with keys is for the door behind (`api.access`). So it
answers only to its own names (a page elsewhere cannot reach
it through a name of its own), changes nothing for a page of another site, and lets a browser load and run nothing
but its own files.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.discovery import host_of
from api.otlp_answers import PATHS as OTLP
from api.problems import problem
from api.protocol import LONGEST_HEAD

EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
"""The hash of nothing: Plotly makes an empty style element and fills it by rule, which needs no more than this."""
MAP_STYLE = "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='"
"""The hash of the style sheet for maps that Plotly's script adds on loading; a test compares it with the package's."""
POLICY = (
    f"default-src 'none'; script-src 'self'; style-src 'self' {EMPTY_STYLE} {MAP_STYLE}; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer a browser sends the origin "null" with our own forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
SMALL_BODY = 8 * 2**20
"""Bytes of any body but an upload's."""
HANG_UP = {"Connection": "close"}
"""Of a client that is too slow, the rest of the body is not waited for."""
GLANCE = 0.5
"""Seconds between looks at whether the service is to stop, while a body stands still."""
LONGEST_ADDRESS = 8 * 2**10
"""Bytes of a path with its query."""
_UPLOADS = ("/v1/uploads", "/uploads")
_READING = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of an upload's body, and seconds that a body may stand still; bytes of what an exporter sends; bytes a
    second that any body must bring on the average."""

    body: int
    idle: float
    otlp: int
    slowest: int

    def of(self, path: str) -> int:
        """Bytes of a body sent to `path`."""
        if path in OTLP:
            return self.otlp
        large = any(path == top or path.startswith(f"{top}/") for top in _UPLOADS)
        return self.body if large else min(self.body, SMALL_BODY)


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names of a service, in lower case; with `addresses` any IP address is one, which no page can make its own."""

    names: frozenset[str]
    addresses: bool = False

    def hold(self, host: str) -> bool:
        """Whether `host` is one of them."""
        return host in self.names or (self.addresses and _is_address(host))


class Guard:
    """The middleware. Once `stopping` is set, no body is read further."""

    def __init__(self, app: ASGIApp, hosts: Hosts, limits: Limits, stopping: threading.Event) -> None:
        self.app, self.hosts, self.limits, self.stopping = app, hosts, limits, stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with a bounded body and the headers that every answer has."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        guarded = _with_headers(send)
        refused = self._refusal(scope)
        if refused:
            await problem(*refused)(scope, receive, guarded)
        else:
            await self.app(scope, self._bounded(receive, self.limits.of(scope["path"])), guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str, str] | None:
        headers = Headers(scope=scope)
        if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST_ADDRESS:
            return 414, "URI Too Long", f"the address is over {LONGEST_ADDRESS:,} bytes"
        if sum(len(name) + len(value) for name, value in scope["headers"]) > LONGEST_HEAD:
            return 431, "Request Header Fields Too Large", f"the headers are over {LONGEST_HEAD:,} bytes"
        authority = headers.get("host", "").lower()
        host = host_of(authority)
        if not self.hosts.hold(host):
            return 400, "Unknown host", f"this service does not answer to the name {host!r}; LEAKDOWN_NAMES adds names"
        if scope["method"] not in _READING and _from_elsewhere(headers, authority):
            return 403, "Not from this site", "a page of another site may not change anything here"
        declared, limit = headers.get("content-length", ""), self.limits.of(scope["path"])
        if declared.isdecimal() and int(declared) > limit:
            return 413, "Too large", _too_large(limit)
        return None

    def _bounded(self, receive: Receive, limit: int) -> Receive:
        seen, more, pace = 0, True, Pace(self.limits)

        async def bounded() -> Message:
            nonlocal seen, more
            if not more:
                return await receive()  # the body is complete: whoever asks now waits for the client to leave
            began = time.monotonic()
            message = await self._soon(receive)
            seen += len(message.get("body", b""))
            more = message.get("more_body", False)
            if seen > limit:
                raise HTTPException(413, _too_large(limit))
            if more:
                pace.keep(len(message.get("body", b"")), time.monotonic() - began)
            return message

        return bounded

    async def _soon(self, receive: Receive) -> Message:
        began = time.monotonic()
        while not self.stopping.is_set():
            try:
                return await asyncio.wait_for(receive(), min(GLANCE, self.limits.idle))
            except TimeoutError:
                if time.monotonic() - began >= self.limits.idle:
                    raise HTTPException(
                        408, f"the body stood still for {self.limits.idle:g} seconds", HANG_UP
                    ) from None
        raise HTTPException(503, "the service is stopping; nothing of this was kept, send it again")


class Pace:
    """How fast a body comes: what the service itself takes does not count."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._bytes, self._waited = 0, 0.0

    def keep(self, size: int, waited: float) -> None:
        """`size` bytes came after so many seconds. HTTPException 408 for a body that comes too slowly."""
        self._bytes, self._waited = self._bytes + size, self._waited + waited
        if self._waited < self._limits.idle:
            return
        if self._bytes < self._limits.slowest * self._waited:
            raise HTTPException(408, f"the body came slower than {self._limits.slowest:,} bytes a second", HANG_UP)
        self._bytes, self._waited = 0, 0.0


def failed(request: Request, _: Exception) -> JSONResponse:
    """The answer to a bug, whose traceback is logged. Starlette gives it outside the guard, hence the headers.

    The server hangs up after it, and says so: else a client would send its next request into a closed connection.
    """
    headers = {**HEADERS, "Connection": "close"}
    return problem(
        500, "A fault of leakdown", "the log of the service tells more", headers, request=request.state.request
    )


def _from_elsewhere(headers: Headers, authority: str) -> bool:
    """Whether a page of another site, or of another port of this machine, sent the request."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin.lower().partition("://")[2] != authority


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _too_large(limit: int) -> str:
    return f"the body is over {limit:,} bytes"


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return guarded
