"""Every route of the service, found by walking its application: what is added later is tested too."""

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi.routing import APIRoute

from api.app import create_app
from api.settings import Settings
from ingest.store import Store


def routes() -> list[APIRoute]:
    """All routes but the folder of static files and the OpenAPI document."""
    with TemporaryDirectory() as folder, Store.open(Path(folder, "s.duckdb"), create=True) as store:
        return list(_within(create_app(store, Settings()).routes))


def _within(found: list[Any]) -> Iterator[APIRoute]:
    for route in found:
        if isinstance(route, APIRoute):
            yield route
        elif inner := getattr(route, "original_router", None):
            yield from _within(inner.routes)


def parameters(route: APIRoute) -> list[str]:
    """The names of its query parameters."""
    return [field.alias for each in (route.dependant, *route.dependant.dependencies) for field in each.query_params]


def with_path(route: APIRoute, value: str) -> str:
    """Its address, with `value` for each part that a client chooses."""
    return re.sub(r"\{[^}]+\}", value, route.path)


ROUTES = routes()
READING = [route for route in ROUTES if "GET" in (route.methods or ())]
PAGES = [route.path for route in READING if not re.match(r"/(v1/|healthz|readyz|metrics)", route.path)]
"""The addresses of pages, as patterns."""
