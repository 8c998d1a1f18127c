"""A full disk, at every stage of every work of the service: a clear line with 503, nothing acknowledged lost, nothing
half there, and the same service goes on as soon as there is room."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ingest.store import Store
from tests.api.conftest import LEAK, Leakdown, generation, write
from tests.api.service import Service, lines, refusal, served, until
from tests.durability.history import CURRENT, NEVER, OTHER, inputs, make
from tests.durability.small_disk import Disk, small_disk
from tests.durability.soundness import sound, state

BODY = 150
"""Runs of an upload."""
STEPS = 7
"""How many amounts of room an upload is tried with, from none to enough."""
PAIR = {"baseline": OTHER, "candidate": NEVER}


@dataclass(frozen=True, slots=True)
class Small:
    """A service on a small disk."""

    disk: Disk
    service: Service

    def fits(self, name: str, left: int) -> bool:
        """Whether an upload is acknowledged with so much room left; if it is not, it is refused in a clear line."""
        self.disk.fill(left)
        answer = self.service.http.post("/v1/uploads", params={"name": name}, content=body(name))
        if answer.status_code != 201:
            assert "no space left" in refusal(answer, 503)
        return answer.status_code == 201

    def listed(self) -> list[str]:
        """The uploads, which can be read with no room at all."""
        self.disk.fill()
        return [each["path"] for each in self.service.http.get("/v1/uploads").json()]

    def ended(self, job: dict[str, Any]) -> dict[str, Any]:
        """A replay once it has ended."""
        address = f"/v1/replays/{job['id']}"
        return until(lambda: self.service.http.get(address).json(), lambda seen: seen["state"] not in OPEN)


OPEN = ("queued", "running")


def body(name: str) -> bytes:
    """An upload like no other."""
    return lines(*(generation(name, at, f"{LEAK} {name} {at} {'and so on' * 60}") for at in range(BODY)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    first, second, _ = inputs(folder, 60)
    return make(folder / "s.duckdb", first, second)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk") as small:
        yield small


@pytest.fixture
def small(made: Path, disk: Disk) -> Iterator[Small]:
    """When it ends, the store is sound."""
    store = Path(shutil.copy(made, disk.path / "s.duckdb"))
    with served(store) as service:
        yield Small(disk, service)
    disk.make_room()
    with Store.open(store) as opened:
        sound(opened)
    assert [each.name for each in disk.path.iterdir()] == ["s.duckdb"]


@pytest.mark.parametrize(
    "threshold",
    [
        pytest.param("1GB", id="the body, its reading and its commit"),
        pytest.param("50KB", id="a checkpoint at each commit, after which nothing answers until the store is reopened"),
    ],
)
def test_an_upload_is_kept_whole_or_refused_whole(small: Small, threshold: str) -> None:
    with small.service.app.state.backend.store.writing() as cursor:
        cursor.execute(f"SET checkpoint_threshold = '{threshold}'")
    kept = small.listed()
    for step in range(STEPS):
        name = f"step-{step}"
        kept += [name] if small.fits(name, step * len(body(name))) else []
        assert small.listed() == kept
    small.disk.make_room()
    assert 2 < len(kept) < 2 + STEPS
    for step in range(STEPS):
        again = small.service.upload_bytes(body(f"step-{step}"), f"step-{step}")
        assert again["new_generations"] == (0 if f"step-{step}" in kept else BODY)


def test_figures_that_have_to_be_counted_first_come_once_there_is_room(small: Small) -> None:
    with small.service.app.state.backend.store.transaction() as cursor:
        cursor.execute("INSERT INTO stale_runs SELECT DISTINCT run_id FROM generations")
    before = small.service.http.get("/v1/rates", params={"where": "run_id=*"}).json()
    small.disk.fill()
    small.service.refused(503, "GET", "/v1/rates")
    small.disk.make_room()
    assert small.service.http.get("/v1/rates").json() == before


CHANGES = {
    "a promotion": ("PUT", "/v1/detectors/current", {"json": {"detector": OTHER}}),
    "a deletion": ("DELETE", "/v1/uploads/2", {}),
    "a correction": ("PATCH", "/v1/uploads/1", {"json": {"settings": {"engine": "e9"}}}),
    "a replay that is queued": ("POST", "/v1/replays", {"json": PAIR}),
    "a label": ("POST", "/v1/labels", {"json": {"generation_id": "a1.0", "leak": True, "by": "ben"}}),
    "a backup": ("GET", "/v1/backup", {}),
    "the question whether it is ready": ("GET", "/readyz", {}),
}


@pytest.mark.parametrize(("method", "address", "more"), CHANGES.values(), ids=CHANGES)
def test_what_a_full_disk_refuses_works_once_there_is_room(
    small: Small, method: str, address: str, more: dict[str, Any]
) -> None:
    small.disk.fill()
    assert "no space left" in small.service.refused(503, method, address, **more)
    small.disk.make_room()
    assert small.service.http.request(method, address, **more).is_success


def test_a_replay_whose_verdicts_find_no_room_fails_and_the_next_one_does_not(small: Small) -> None:
    whole = small.ended(small.service.http.post("/v1/replays", json={**PAIR, "recompute": True}).json())["report"]
    jobs = small.service.app.state.replays
    work = jobs.work

    def once_begun(request: dict[str, Any], told: Any) -> Any:
        small.disk.fill()
        return work(request, told)

    jobs.work = once_begun
    job = small.ended(small.service.http.post("/v1/replays", json={**PAIR, "recompute": True}).json())
    assert (job["state"], "no space left" in job["error"]) == ("failed", True)
    jobs.work = work
    small.disk.make_room()
    again = small.ended(small.service.http.post("/v1/replays", json=PAIR).json())
    assert (again["state"], again["report"] | {"seconds": 0}) == ("done", whole | {"seconds": 0})
    assert small.service.http.get(f"/v1/replays/{job['id']}").json()["state"] == "failed"


@pytest.mark.parametrize("address", ["/v1/export.jsonl", "/v1/export/generations.parquet"])
def test_an_export_needs_room_where_temporary_files_go(
    small: Small, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(small.disk.path))
    small.disk.fill(4096)
    assert str(small.disk.path) in small.service.refused(503, "GET", address)
    small.disk.make_room()
    assert small.service.http.get(address).is_success


COMMANDS = {
    "ingest": ("ingest", "more.jsonl"),
    "promote": ("detectors", "promote", OTHER),
    "replay": ("replay", "--baseline", CURRENT, "--candidate", NEVER, "--recompute"),
    "delete": ("uploads", "delete", "1"),
    "backup": ("backup", "backup.duckdb"),
    "export": ("export", "--jsonl", "out.jsonl"),
    "serve": ("serve", "--port", "0"),
    "a new store": ("ingest", "more.jsonl", "--store", "new.duckdb"),
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_a_command_on_a_full_disk_is_one_clear_line(
    leakdown: Leakdown, made: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    shutil.copy(made, disk.path / "leakdown.duckdb")
    monkeypatch.chdir(disk.path)
    write("more.jsonl", *(generation("more", at, f"{LEAK} {at}") for at in range(BODY)))
    with Store.open(Path("leakdown.duckdb")) as store:
        before = state(store)
    disk.fill()
    ran = leakdown(*arguments)
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert "no space left" in ran.err.lower()
    disk.make_room()
    with Store.open(Path("leakdown.duckdb")) as store:
        sound(store)
        assert state(store) == before
    assert {each.name for each in disk.path.iterdir()} <= {"leakdown.duckdb", "more.jsonl", "out.jsonl", "new.duckdb"}


def test_a_store_on_a_full_disk_can_be_read(leakdown: Leakdown, made: Path, disk: Disk) -> None:
    store = shutil.copy(made, disk.path / "s.duckdb")
    disk.fill()
    for command in ("rates", "uploads list", "detectors list"):
        ran = leakdown(*command.split(), "--store", store)
        assert (ran.code, "leakdown:" in ran.err, bool(ran.out)) == (0, False, True), command


def test_a_service_that_stops_on_a_full_disk_has_lost_nothing(made: Path, disk: Disk) -> None:
    store = Path(shutil.copy(made, disk.path / "s.duckdb"))
    with served(store) as service:
        service.upload_bytes(body("last"), "last")
        disk.fill()
    disk.make_room()
    with served(store) as service:
        assert [each["path"] for each in service.http.get("/v1/uploads").json()][-1] == "last"
