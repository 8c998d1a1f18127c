"""What became of each request, told to whoever counts or logs it. No text of the client's is among it."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
HEADER = b"leakdown-request"
"""The header of an answer that holds the request's id."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A request that was answered: its id, the pattern of its route and not the address, its status (500 where
    nothing was answered), its seconds."""

    request: str
    method: str
    route: str
    status: int
    seconds: float


class Observed:
    """The middleware that gives each request an id and tells `observers` of the answer."""

    def __init__(self, app: ASGIApp, observers: Sequence[Callable[[Answered], object]]) -> None:
        self.app, self.observers = app, observers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and tell the answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status, request = time.perf_counter(), 500, secrets.token_hex(8)
        scope.setdefault("state", {})["request"] = request

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), (HEADER, request.encode())]}
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            self._tell(scope, request, status, time.perf_counter() - started)

    def _tell(self, scope: Scope, request: str, status: int, seconds: float) -> None:
        # no address and no invented method: few values to count by, and nothing of a client's to log
        route = getattr(scope.get("route"), "path", "unknown")
        method = scope["method"] if scope["method"] in _METHODS else "unknown"
        for each in self.observers:
            each(Answered(request, method, route, status, seconds))
