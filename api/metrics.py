"""Metrics of one service, for Prometheus: requests by route and status, and their seconds."""

import time

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


class Metrics:
    """The middleware that counts every request in `registry`."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self.app = app
        self.requests = Counter("leakdown_requests", "Requests.", ("method", "route", "status"), registry=registry)
        self.seconds = Histogram("leakdown_request_seconds", "Their seconds.", ("method", "route"), registry=registry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and count the answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            self._count(scope, status, time.perf_counter() - started)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        # the route's pattern, not the address, and no invented method: the number of label values stays small
        route = getattr(scope.get("route"), "path", "unknown")
        method = scope["method"] if scope["method"] in _METHODS else "unknown"
        self.requests.labels(method, route, status).inc()
        self.seconds.labels(method, route).observe(seconds)
