"""The HTTP routes under /v1: one module each, thin over `api.backend` and `analysis`."""

from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.dependencies.utils import get_flat_params
from pydantic import Field, WithJsonSchema

from analysis.detectors import Detector
from analysis.detectors import detectors as all_detectors
from analysis.filters import KEYS
from analysis.registry import current, judged
from api.backend import LocalBackend
from ingest.errors import UsageError
from ingest.records import SERIES
from ingest.store import Store


def known_parameters(request: Request) -> None:
    """UsageError for a query parameter that the route does not have: a misspelt filter must not filter nothing."""
    fields = get_flat_params(request.scope["route"].dependant)
    known = sorted(field.alias for field in fields if field.field_info.in_.value == "query")  # type: ignore[attr-defined]
    for name in request.query_params:
        if name not in known:
            raise UsageError(f"unknown parameter {name!r}; known: {', '.join(known) or 'none'}")


def _backend(request: Request) -> LocalBackend:
    backend: LocalBackend = request.app.state.backend
    return backend


def _store(backend: Annotated[LocalBackend, Depends(_backend)]) -> Store:
    return backend.store


def _current(store: Annotated[Store, Depends(_store)]) -> Detector:
    return judged(store, current(store))


TheBackend = Annotated[LocalBackend, Depends(_backend)]
TheStore = Annotated[Store, Depends(_store)]
TheDetector = Annotated[Detector, Depends(_current)]
"""The current detector, with its verdict on all that is stored."""
# what a string may be is told in the document alone: the refusals are our own, which say what is known
Filter = Annotated[str, WithJsonSchema({"type": "string", "pattern": f"^({'|'.join(KEYS)})="})]
Setting = Annotated[str, WithJsonSchema({"type": "string", "pattern": f"^({'|'.join(SERIES)})="})]
AnyDetectorId = Annotated[
    str,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "enum": sorted(each.id for each in all_detectors())},
                {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}@sha-[0-9a-f]{12}$"},
            ]
        }
    ),
]
"""One of ours, or one from outside that the store knows."""
RuleText = Annotated[str, Field(max_length=2**18, description="The text of a rule file (docs/rule-files.md).")]
Time = Annotated[
    str,
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}),
]
Where = Annotated[
    list[Filter],
    Query(
        default_factory=list,
        description="Filters `key=glob`; all must hold.",
        examples=[["model=qwen*", "engine=vllm"]],
    ),
]
Since = Annotated[
    Time | None,
    Query(min_length=1, description="Only generations since this date or time (UTC).", examples=["2026-11-01"]),
]
Cursor = Annotated[str | None, Query(description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=500, description="Rows of a page.")]
