"""The scope that each route asks for: one line a route, and no route without one.

Each scope is its own: `read` does not label and `label` sees no verdict, which keeps labels blind. `admin` is all. Of
several scopes any one is enough.
"""

import re
from collections.abc import Iterator

from fastapi import APIRouter
from starlette.routing import Route, compile_path

OPEN: frozenset[str] = frozenset({"open"})
"""For everyone, without a key."""
ANY_KEY: frozenset[str] = frozenset({"ingest", "read", "label", "admin"})
INGEST, READ, LABEL, ADMIN = (frozenset({each}) for each in ("ingest", "read", "label", "admin"))

SCOPES: dict[str, frozenset[str]] = {
    "GET /healthz": OPEN,
    "GET /readyz": OPEN,
    "GET /static/{path:path}": OPEN,
    "GET /sign-in": OPEN,
    "POST /sign-in": OPEN,
    "POST /sign-out": ANY_KEY,
    "GET /metrics": READ,
    "GET /v1/openapi.json": READ,
    "GET /v1/schema": READ,
    # records in
    "POST /v1/uploads": INGEST,
    "PUT /v1/uploads/{upload_id}": INGEST,
    "GET /v1/uploads/{upload_id}": INGEST | READ,  # with ingest alone: one's own, as long as the service remembers
    "POST /v1/events": INGEST,
    "POST /v1/traces": INGEST,
    "POST /v1/logs": INGEST,
    "POST /v1/metrics": INGEST,
    "POST /uploads": INGEST,
    # what they mean
    "GET /v1/uploads": READ,
    "GET /v1/runs": READ,
    "GET /v1/runs/{run_id:path}": READ,
    "GET /v1/generations": READ,
    "GET /v1/rates": READ,
    "GET /v1/rates/why-none": READ,
    "GET /v1/trend": READ,
    "GET /v1/trend/figure": READ,
    "GET /v1/reported": READ,
    "GET /v1/series": READ,
    "GET /v1/drift": READ,
    "POST /v1/drift": READ,  # by rules that come along; nothing is kept
    "GET /v1/drift/figure": READ,
    "GET /v1/alerts": READ,
    "GET /v1/recovery": READ,
    "GET /v1/recovery/figure": READ,
    "GET /v1/policies": READ,
    "GET /v1/faults": READ,
    "GET /v1/engines": READ,
    "GET /v1/audit": READ,
    "GET /v1/replays": READ,
    "GET /v1/replays/{job_id}": READ,
    "GET /v1/detectors": READ,
    "GET /v1/detectors/history": READ,
    "GET /v1/detectors/current": READ,
    "POST /v1/detectors/try": READ,  # nothing is kept
    "GET /v1/detectors/{name}@{version}": READ,
    "GET /v1/labels/conflicts": READ,
    "GET /v1/labels/agreement": READ,
    "GET /v1/labels/history": READ,
    "GET /v1/labels.jsonl": READ,
    "GET /v1/labels.csv": READ,
    "GET /v1/samples": READ,
    "GET /v1/samples/{sample_id}": READ,
    "GET /v1/export.jsonl": READ,
    "GET /v1/export/pack.jsonl": READ,
    "GET /v1/export/{table}.parquet": READ,
    "GET /": READ,
    "GET /series": READ,
    "GET /drift": READ,
    "POST /drift": READ,  # computes anew what is shown
    "POST /audit": READ,  # the same
    "GET /uploads": READ,
    "GET /uploads/{upload_id}": READ,
    "GET /runs": READ,
    "GET /run": READ,
    "GET /runs/{run_id:path}": READ,
    "GET /recovery": READ,
    "POST /recovery": READ,  # the same
    "GET /audit": READ,
    "GET /replays": READ,
    "GET /replays/{job_id}": READ,
    "GET /replays/{job_id}/report.{form}": READ,
    "GET /detectors": READ,
    "POST /detectors/try": READ,
    "GET /detectors/{detector_id}": READ,
    "GET /labels": READ,
    # what people say of it
    "GET /v1/labels/next": LABEL,
    "POST /v1/labels": LABEL,
    "POST /v1/labels/skip": LABEL,
    "POST /v1/labels/resolutions": LABEL,
    "POST /v1/labels/import": LABEL,
    "DELETE /v1/labels/{label_id:uuid}": LABEL,
    "POST /v1/samples": LABEL,
    "POST /v1/alerts/{alert_id}": LABEL,
    "POST /v1/audit/{finding_id}/acknowledgement": LABEL,
    "GET /review": LABEL,
    "POST /review": LABEL,
    "POST /review/skip": LABEL,
    "POST /review/undo": LABEL,
    "POST /labels/resolve": LABEL,
    "POST /labels/take-back": LABEL,
    "POST /labels/import": LABEL,
    "POST /drift/alerts": LABEL,
    "POST /audit/acknowledge": LABEL,
    # what changes the answers of all, or takes the machine for long
    "PATCH /v1/uploads/{upload_id}": ADMIN,
    "DELETE /v1/uploads/{upload_id}": ADMIN,
    "GET /v1/backup": ADMIN,  # all there is, keys and the audit log too
    "POST /v1/replays": ADMIN,
    "DELETE /v1/replays/{job_id}": ADMIN,
    "POST /v1/candidates/outputs": ADMIN,
    "POST /v1/candidates/verdicts": ADMIN,
    "PUT /v1/detectors/current": ADMIN,
    "POST /v1/prune": ADMIN,
    "POST /v1/forget": ADMIN,
    "POST /uploads/{upload_id}/set": ADMIN,
    "GET /uploads/{upload_id}/delete": ADMIN,
    "POST /uploads/{upload_id}/delete": ADMIN,
    "POST /replays": ADMIN,
    "POST /replays/{job_id}/cancel": ADMIN,
    "GET /detectors/promote": ADMIN,
    "POST /detectors/promote": ADMIN,
    # keys
    "GET /v1/keys": ADMIN,
    "POST /v1/keys": ADMIN,
    "DELETE /v1/keys/{name}": ADMIN,
    "GET /v1/actions": ADMIN,
    "GET /keys": ADMIN,
    "POST /keys": ADMIN,
    "POST /keys/revoke": ADMIN,
}


def _compiled() -> Iterator[tuple[str, re.Pattern[str], frozenset[str]]]:
    """Method, pattern of the address, and scopes of each route; an address without variables before those with."""
    for route in sorted(SCOPES, key=lambda route: "{" in route):
        method, _, path = route.partition(" ")
        yield method, compile_path(path)[0], SCOPES[route]


_PATTERNS = tuple(_compiled())


def needed(method: str, path: str) -> frozenset[str] | None:
    """The scopes of which one is needed to send `method` to `path`; None where there is no such route."""
    wanted = "GET" if method == "HEAD" else method
    return next((scopes for of, pattern, scopes in _PATTERNS if of == wanted and pattern.match(path)), None)


def require_declared(router: APIRouter) -> None:
    """LookupError if a route of `router` has no line here: such a service does not start."""
    here = [route for route in router.routes if isinstance(route, Route)]
    missing = sorted({f"{method} {route.path}" for route in here for method in route.methods or ()} - set(SCOPES))
    if missing:
        raise LookupError(f"no scope for {', '.join(missing)}: write it into api/access/scopes.py")
