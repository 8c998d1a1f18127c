"""Work that finds no memory beside other work is refused in a clear line; afterwards the service goes on."""

from collections.abc import Callable
from pathlib import Path

from ingest.store import MEMORY_LIMIT, Store
from tests.api.conftest import LEAK, generation
from tests.api.service import Service, lines, served

GENERATIONS = 300


def test_an_upload_without_memory_is_refused_whole_and_can_come_again(tmp_path: Path) -> None:
    body = lines(*(generation("big", at, f"{LEAK} {at} " * 50) for at in range(GENERATIONS)))
    with served(tmp_path / "s.duckdb") as service:
        service.upload(generation("kept", 0, LEAK))
        store = service.app.state.backend.store
        assert "no memory left beside all that is under way" in _with(store, "2MB", lambda: refused(service, body))
        assert len(service.http.get("/v1/uploads").json()) == 1
        assert service.upload_bytes(body)["new_generations"] == GENERATIONS


def refused(service: Service, body: bytes) -> str:
    return service.refused(503, "POST", "/v1/uploads", content=body)


def _with(store: Store, limit: str, work: Callable[[], str]) -> str:
    """What `work` gives while DuckDB has no more memory than `limit`."""
    _limit(store, limit)
    said = work()
    _limit(store, MEMORY_LIMIT)
    return said


def _limit(store: Store, limit: str) -> None:
    with store.cursor() as cursor:
        cursor.execute(f"SET memory_limit = '{limit}'")
