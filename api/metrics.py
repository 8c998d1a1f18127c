"""Metrics of one service, for Prometheus: requests by route and status, and their seconds."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from api.observed import Answered


class Metrics:
    """Counts every request in `registry`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.requests = Counter("leakdown_requests", "Requests.", ("method", "route", "status"), registry=registry)
        self.seconds = Histogram("leakdown_request_seconds", "Their seconds.", ("method", "route"), registry=registry)

    def __call__(self, answered: Answered) -> None:
        """Count it."""
        self.requests.labels(answered.method, answered.route, answered.status).inc()
        self.seconds.labels(answered.method, answered.route).observe(answered.seconds)
