"""Jobs: one at a time, queued, with progress, cancelled, failed, and kept over a restart."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from api.jobs import OPEN, Jobs
from ingest.errors import Conflict, NotFound, Stopping, UsageError
from ingest.store import Store
from tests.api.service import PATIENCE, until

Told = Callable[[int], object]


@dataclass(slots=True)
class Work:
    """Work that stands still until it is let go on; its request says how it ends."""

    begun: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    go_on: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    running: int = 0
    most: int = 0

    def __call__(self, request: dict[str, Any], told: Told) -> dict[str, Any]:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            told(7)
            self.begun.release()
            assert self.go_on.acquire(timeout=PATIENCE)
            told(8)
            if "fault" in request:
                raise FAULTS[request["fault"]]
            return {"seen": request}
        finally:
            self.running -= 1

    def let_begin(self) -> None:
        assert self.begun.acquire(timeout=PATIENCE)


FAULTS: dict[str, Exception] = {"ours": UsageError("no such thing"), "bug": ZeroDivisionError("by zero")}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "s.duckdb", create=True) as opened:
        yield opened


@contextmanager
def started(store: Store, work: Callable[[dict[str, Any], Told], dict[str, Any]]) -> Iterator[Jobs]:
    jobs = Jobs(store, "replay", work)
    jobs.start()
    try:
        yield jobs
    finally:
        jobs.stop()


def ended(jobs: Jobs, job_id: str) -> dict[str, Any]:
    """The job once it has ended."""
    return until(lambda: jobs.get(job_id), lambda job: job["state"] not in OPEN)


def test_a_job_runs_with_progress_and_keeps_its_result(store: Store) -> None:
    work = Work()
    with started(store, work) as jobs:
        job = jobs.submit({"a": 1})
        assert (job["report"], job["a"], job["error"]) == (None, 1, None)
        work.let_begin()
        running = jobs.get(job["id"])
        assert (running["state"], running["progress"]) == ("running", 7)
        work.go_on.release()
        done = ended(jobs, job["id"])
    assert (done["state"], done["progress"], done["report"]) == ("done", 8, {"seen": {"a": 1}})
    assert done["created_at"] <= done["started_at"] <= done["finished_at"]


def test_jobs_run_one_at_a_time_in_their_order(store: Store) -> None:
    work = Work()
    with started(store, work) as jobs:
        ids = [jobs.submit({"number": number})["id"] for number in range(3)]
        for waiting in (2, 1, 0):
            work.let_begin()
            assert [jobs.get(each)["state"] for each in ids].count("queued") == waiting
            work.go_on.release()
        assert [ended(jobs, each)["report"]["seen"]["number"] for each in ids] == [0, 1, 2]
    assert work.most == 1
    assert [each["id"] for each in jobs.all()] == ids[::-1]


def test_a_job_that_waits_is_cancelled_at_once_and_never_runs(store: Store) -> None:
    work = Work()
    with started(store, work) as jobs:
        first, second, third = (jobs.submit({})["id"] for _ in range(3))
        work.let_begin()
        assert jobs.cancel(second)["state"] == "cancelled"
        work.go_on.release(2)
        assert ended(jobs, third)["state"] == "done"
        assert (jobs.get(first)["state"], jobs.get(second)["started_at"]) == ("done", None)
        with pytest.raises(Conflict, match="is cancelled"):
            jobs.cancel(second)


def test_a_job_that_runs_is_cancelled_at_its_next_progress(store: Store) -> None:
    work = Work()
    with started(store, work) as jobs:
        job_id = jobs.submit({})["id"]
        work.let_begin()
        assert jobs.cancel(job_id)["state"] == "running"
        work.go_on.release()
        assert (ended(jobs, job_id)["state"], jobs.get(job_id)["report"]) == ("cancelled", None)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        pytest.param("ours", "no such thing", id="a failure that is explained"),
        pytest.param("bug", "ZeroDivisionError: by zero", id="a bug"),
    ],
)
def test_a_job_that_fails_says_why_and_the_next_one_runs(store: Store, fault: str, error: str) -> None:
    work = Work()
    work.go_on.release(2)
    with started(store, work) as jobs:
        failed, good = jobs.submit({"fault": fault})["id"], jobs.submit({})["id"]
        assert (ended(jobs, failed)["state"], jobs.get(failed)["error"]) == ("failed", error)
        assert ended(jobs, good)["state"] == "done"


def test_a_result_that_is_no_json_is_a_failure(store: Store) -> None:
    with started(store, lambda _, __: {"x": object()}) as jobs:
        job_id = jobs.submit({})["id"]
        assert "PydanticSerializationError" in ended(jobs, job_id)["error"]


def test_who_waits_for_a_job_gets_it_once_it_has_ended(store: Store) -> None:
    work = Work()
    with started(store, work) as jobs:
        job_id = jobs.submit({})["id"]
        work.let_begin()
        assert jobs.wait(job_id, 0)["state"] == "running"
        work.go_on.release()
        assert jobs.wait(job_id)["state"] == "done"
        assert jobs.wait(job_id)["report"] == {"seen": {}}


def test_who_waits_is_let_go_when_the_service_stops(store: Store) -> None:
    begun = threading.Event()

    def endless(_: dict[str, Any], told: Told) -> dict[str, Any]:
        begun.set()
        while True:
            told(1)

    with started(store, endless) as jobs:
        _, waiting = (jobs.submit({})["id"] for _ in range(2))
        waiter = threading.Thread(target=jobs.wait, args=(waiting,))
        waiter.start()
        assert begun.wait(PATIENCE)
    waiter.join(PATIENCE)
    assert not waiter.is_alive()


def test_what_has_ended_is_forgotten_but_for_the_latest(store: Store) -> None:
    work = Work()
    work.go_on.release(3)
    with started(store, work) as jobs:
        ids = [jobs.submit({"number": number})["id"] for number in range(5)]
        assert ended(jobs, ids[2])["state"] == "done"
        work.begun.acquire(timeout=PATIENCE)
        jobs.forget(3)  # the two that have not ended are among the latest
        assert [each["id"] for each in jobs.all()] == ids[:1:-1]
        jobs.forget(0)
        assert [each["id"] for each in jobs.all()] == ids[:2:-1]
        work.go_on.release(2)


def test_a_job_that_the_service_stopped_is_interrupted_and_not_failed(store: Store) -> None:
    def stopped(_: dict[str, Any], __: Told) -> dict[str, Any]:
        raise Stopping("the service is stopping")

    with started(store, stopped) as jobs:
        assert ended(jobs, jobs.submit({})["id"])["state"] == "interrupted"


def test_a_stop_interrupts_what_runs_and_leaves_what_waits(store: Store) -> None:
    begun = threading.Event()

    def endless(_: dict[str, Any], told: Told) -> dict[str, Any]:
        begun.set()
        while True:
            told(1)

    with started(store, endless) as jobs:
        running, waiting = (jobs.submit({})["id"] for _ in range(2))
        assert begun.wait(PATIENCE)
    assert (jobs.get(running)["state"], jobs.get(waiting)["state"]) == ("interrupted", "queued")


def test_after_a_restart_what_waited_or_ran_is_interrupted(tmp_path: Path) -> None:
    work = Work()
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        jobs = Jobs(store, "replay", work)
        jobs.start()
        running, waiting = jobs.submit({})["id"], jobs.submit({})["id"]
        work.let_begin()
        copy = {each["id"]: each["state"] for each in jobs.all()}
        assert copy == {running: "running", waiting: "queued"}
        other = Jobs(store, "replay", work)  # the next life of a service that a crash ended
        other.start()
        assert {each["state"] for each in other.all()} == {"interrupted"}
        assert all(each["finished_at"] for each in other.all())
        other.stop()
        work.go_on.release(2)
        jobs.stop()


def test_jobs_are_queued_while_an_upload_is_written(store: Store) -> None:
    work = Work()
    work.go_on.release()
    with started(store, work) as jobs, store.writing():
        assert ended(jobs, jobs.submit({})["id"])["state"] == "done"


def test_a_job_that_does_not_exist_is_not_found(store: Store) -> None:
    with started(store, Work()) as jobs:
        for ask in (jobs.get, jobs.cancel):
            with pytest.raises(NotFound, match="no replay 'x'"):
                ask("x")
