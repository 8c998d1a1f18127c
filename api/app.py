"""The service: one owner of one store, behind HTTP. Nothing is opened on import."""

import importlib.metadata
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

from fastapi import Depends, FastAPI
from prometheus_client import CollectorRegistry

from api import pages, problems
from api.access.access import Access
from api.access.door import Door
from api.access.failures import Failures
from api.access.housekeeping import housekeeping
from api.access.scopes import require_declared
from api.access.sign_ins import SignIns
from api.arrivals import Arrivals
from api.backend import LocalBackend
from api.connect import alert_rules
from api.discovery import LOOPBACK, is_public, new_instance, new_secret
from api.drifts import PATIENCE as DRIFT_PATIENCE
from api.drifts import Drifts
from api.exchange import Sessions
from api.guard import Guard, Hosts, Limits, failed
from api.jobs import Jobs
from api.kept_answers import KeptAnswers
from api.kept_audits import MOST as MOST_AUDITS
from api.kept_audits import PATIENCE as AUDIT_PATIENCE
from api.kept_audits import KeptAudits
from api.logs import log_request
from api.metrics import Metrics
from api.observed import Observed
from api.otlp_answers import Statuses
from api.recoveries import Recoveries
from api.routes import (
    alerts,
    audit,
    backup,
    candidates,
    detectors,
    drift,
    events,
    export,
    faults,
    generations,
    health,
    keys,
    known_parameters,
    labels,
    otlp,
    rates,
    recovery,
    replays,
    retention,
    runs,
    samples,
    schema,
    series,
    uploads,
)
from api.settings import Settings
from api.telemetry import Telemetry
from api.work import Progress
from ingest.redaction import Redactor
from ingest.store import Store

DESCRIPTION = """
Finds tool calls that leaked into text, and measures which model, engine and template leaks them.
Every rate has its n and its 95 % interval; undefined is null. Days are UTC.
"""
_ROUTES = (
    health, uploads, events, otlp, runs, generations, rates, series, drift, alerts, recovery, faults, audit,
    replays, candidates, detectors, labels, samples, retention, export, backup, schema, keys,
)  # fmt: skip


def create_app(store: Store, settings: Settings, stopping: threading.Event | None = None) -> FastAPI:
    """The application over an open store, which stays its opener's to close.

    Once `stopping` is set, an upload under way ends without a trace.
    """
    stop = stopping or threading.Event()
    backend = LocalBackend(store, stop, alert_rules(settings.alerts))
    app = FastAPI(
        title="leakdown",
        version=importlib.metadata.version("leakdown"),
        description=DESCRIPTION,
        lifespan=_lifespan(backend, settings, stop),
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
    )
    app.state.instance = new_instance()
    app.state.stopping = stop
    app.state.redact = redaction(settings)
    app.state.metrics = CollectorRegistry()
    app.state.access = _access(backend, settings, app.state.instance)
    problems.install(app)
    app.exception_handler(Exception)(failed)
    for module in _ROUTES:
        require_declared(module.router)
        app.include_router(module.router, dependencies=[Depends(known_parameters)], responses=problems.DOCUMENTED)
    pages.install(app)
    _stand_guard(app, settings, stop)
    return app


def redaction(settings: Settings) -> tuple[str, ...] | None:
    """The patterns that the settings redact; None for nothing. UsageError for one that is no pattern."""
    if not settings.redact and not settings.redact_patterns:
        return None
    Redactor(settings.redact_patterns)
    return tuple(settings.redact_patterns)


def _stand_guard(app: FastAPI, settings: Settings, stopping: threading.Event) -> None:
    limits = Limits(settings.body_limit, settings.idle_limit, settings.otlp_body_limit, settings.slowest_body)
    names = LOOPBACK | {settings.host.lower(), *(each.lower() for each in settings.names)}
    hosts = Hosts(names, addresses=is_public(settings.host))
    app.add_middleware(Door, access=app.state.access)
    app.add_middleware(Guard, hosts=hosts, limits=limits, stopping=stopping)
    app.add_middleware(Statuses)
    app.add_middleware(Observed, observers=(Metrics(app.state.metrics), log_request))


def _access(backend: LocalBackend, settings: Settings, instance: str) -> Access:
    backend.keys.ring.all()  # read now, so that no request waits for the store to learn who asks
    return Access(
        keyring=backend.keys.ring,
        secret=new_secret(),
        always=is_public(settings.host),
        # a name of its own, since a browser gives the cookies of all ports of a machine to each
        cookie=f"{'__Host-' if settings.https else ''}leakdown-{instance}",
        https=settings.https,
        sign_ins=SignIns(),
        failures=Failures(),
    )


def _lifespan(
    backend: LocalBackend, settings: Settings, stopping: threading.Event
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    store = backend.store

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.backend = backend
        app.state.arrivals = Arrivals(settings.uploads_at_once)
        app.state.telemetry = Telemetry(store, settings, app.state.redact, app.state.metrics)
        app.state.telemetry.start()
        app.state.replays = Jobs(store, "replay", partial(_replay, backend), waiting=settings.replays_waiting)
        app.state.replays.start()
        app.state.recoveries = Recoveries(backend, stopping)
        app.state.drifts = Drifts(backend, stopping, patience=DRIFT_PATIENCE)
        app.state.audits = KeptAudits(backend, stopping, patience=AUDIT_PATIENCE, most=MOST_AUDITS)
        kept: tuple[KeptAnswers, ...] = (app.state.recoveries, app.state.drifts, app.state.audits)
        for answers in kept:
            answers.jobs.start()
        app.state.sessions = Sessions(store, stopping)
        async with housekeeping(backend.keys.ring, store):
            yield
        stopping.set()
        app.state.sessions.stop()
        app.state.replays.stop()
        for answers in kept:
            answers.jobs.stop()
        app.state.telemetry.stop()
        with store.writing():  # an upload in its last batch ends before the store closes
            pass

    return lifespan


def _replay(backend: LocalBackend, request: dict[str, Any], told: Progress) -> dict[str, Any]:
    # a job that an earlier leakdown queued has no period
    since, until = request.get("since"), request.get("until")
    pair = request["baseline"], request["candidate"]
    return backend.replays.replay(*pair, request["where"], request["recompute"], told, since=since, until=until)
