"""Replays over HTTP: queued, followed to their report, cancelled, refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import small_history
from tests.api.service import Service, served, until

PAIR = {"baseline": "openrouter-net@1", "candidate": "openrouter-net-tight@1"}
OPEN = ("queued", "running")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the small history."""
    with served(tmp_path_factory.mktemp("replays") / "s.duckdb") as running:
        running.upload(*small_history())
        yield running


def replayed(service: Service, **wanted: Any) -> Any:
    """A replay that has ended."""
    answer = service.http.post("/v1/replays", json={**PAIR, **wanted})
    assert answer.status_code == 202, answer.text
    address = answer.headers["location"]
    return until(lambda: service.http.get(address).json(), lambda job: job["state"] not in OPEN)


def test_a_replay_ends_in_its_report(service: Service) -> None:
    job = replayed(service)
    assert (job["state"], job["error"], job["where"], job["recompute"]) == ("done", None, [], False)
    cells = {name: job["report"][name] for name in ("both", "baseline_only", "candidate_only", "neither")}
    assert cells == {"both": 2, "baseline_only": 1, "candidate_only": 0, "neither": 2}
    assert [each["generation_id"] for each in job["report"]["disagreements"]] == ["c.0"]
    assert job["report"]["labelled"]["n"] == 2


def test_a_replay_takes_filters(service: Service) -> None:
    report = replayed(service, where=["run_id=[ab]"], recompute=True)["report"]
    assert report["population"]["generations"] == 3


def test_replays_are_listed_latest_first_without_their_reports(service: Service) -> None:
    last = replayed(service)
    rows = service.http.get("/v1/replays").json()
    assert rows[0]["id"] == last["id"]
    assert all("report" not in row for row in rows)


def test_a_replay_that_has_ended_cannot_be_cancelled(service: Service) -> None:
    job = replayed(service)
    assert "is done" in service.refused(409, "DELETE", f"/v1/replays/{job['id']}")


def test_a_replay_waits_for_nothing_but_another_replay(service: Service) -> None:
    with service.app.state.backend.store.writing():
        assert service.http.post("/v1/replays", json=PAIR, timeout=5).status_code == 202


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param({"baseline": "x@1"}, "'x@1'", id="a detector that does not exist"),
        pytest.param({"candidate": None}, "candidate", id="no detector"),
        pytest.param({"where": ["colour=red"]}, "colour=red", id="a filter that is none"),
        pytest.param({"where": "model=x"}, "where", id="a filter that is no list"),
        pytest.param({"since": "yesterday"}, "--since yesterday", id="since no time"),
        pytest.param({"since": "2026-11-02", "until": "2026-11-01"}, "swap them", id="a period that is none"),
        pytest.param({"until": 7}, "until", id="a number for a time"),
        pytest.param({"recompute": 1}, "recompute", id="a number for a truth value"),
        pytest.param({"colour": "red"}, "colour", id="an unknown field"),
    ],
)
def test_a_wrong_replay_is_refused_and_not_queued(service: Service, change: dict[str, Any], named: str) -> None:
    before = len(service.http.get("/v1/replays").json())
    assert named in service.refused(400, "POST", "/v1/replays", json={**PAIR, **change})
    assert len(service.http.get("/v1/replays").json()) == before


def test_replays_are_there_after_a_restart(tmp_path: Path) -> None:
    with served(tmp_path / "s.duckdb") as first:
        first.upload(*small_history())
        job = replayed(first)
    with served(tmp_path / "s.duckdb") as second:
        assert second.http.get(f"/v1/replays/{job['id']}").json() == job
