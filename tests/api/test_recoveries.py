"""Recovery as the service keeps it: computed once, kept until what it depends on changes, shown old while it is new."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from analysis.labels import giving
from api.alerts import LocalAlerts
from api.backend import LocalBackend
from api.figures import BY_KIND, LocalFigures
from api.jobs import OPEN
from api.recoveries import Recoveries
from api.work import Json, Progress, Work
from ingest.errors import LeakdownError, Stopping, UsageError
from ingest.store import Store
from tests.analysis.stories import add, called, label, leaked, numbered
from tests.api.service import PATIENCE, until

ALL: tuple[list[str], list[str], None] = ([], [], None)
"""The question of the page without anything in its address."""
HISTORY = [leaked(0, 0), called(0, 1), leaked(0, 0, run="s"), label("g2", True)]


class Figures(LocalFigures):
    """Computes as it is let; counts how often."""

    def __init__(self, store: Store) -> None:
        super().__init__(Work(store), LocalAlerts(store))
        self.computed = 0
        self.fault: LeakdownError | None = None
        self.may = threading.Event()
        self.may.set()

    def recovery(
        self,
        policies: Sequence[str],
        where: Sequence[str],
        since: str | None,
        progress: Progress = lambda _: None,
        *,
        by: Sequence[str] = BY_KIND,
    ) -> Json:
        self.computed += 1
        assert self.may.wait(PATIENCE)
        progress(1)
        if self.fault:
            raise self.fault
        return super().recovery(policies, where, since, progress, by=by)


class Backend(LocalBackend):
    """A backend with such figures."""

    figures: Figures

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.figures = Figures(store)


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        add(store, numbered(HISTORY))
        yield Backend(store)


@contextmanager
def started(backend: Backend, stopping: threading.Event | None = None, **more: Any) -> Iterator[Recoveries]:
    found = Recoveries(backend, stopping or threading.Event(), **more)
    found.jobs.start()
    try:
        yield found
    finally:
        backend.figures.may.set()
        found.jobs.stop()


def settled(recoveries: Recoveries, question: tuple[Any, ...] = ALL) -> Any:
    """What is kept once nothing is under way."""
    return until(lambda: recoveries.kept(*question), lambda kept: not kept.under_way)


def _label(backend: Backend) -> str:
    given = giving.NewLabel("g0", leak=True, by="bo", run_id="r")
    return giving.add(backend.store, given, datetime.now(UTC))


CHANGES: list[tuple[Callable[[Backend], object], str]] = [
    (lambda backend: add(backend.store, [leaked(0, 0, run="t", generation_id="t")]), "an upload"),
    (lambda backend: backend.uploads.correct(1, {"engine": "vllm"}), "a correction"),
    (lambda backend: backend.uploads.delete(1), "a deletion"),
    (lambda backend: backend.detectors.promote("goat@1"), "another detector"),
    (_label, "a label"),
]


@pytest.mark.parametrize("change", [pytest.param(each, id=name) for each, name in CHANGES])
def test_after_a_change_it_is_computed_anew(backend: Backend, change: Callable[[Backend], object]) -> None:
    """What a program gets is always what the store says now."""
    with started(backend) as recoveries:
        assert recoveries.up_to_date(*ALL) == LocalBackend(backend.store).figures.recovery(*ALL)
        change(backend)
        after = recoveries.up_to_date(*ALL)
        assert after == LocalBackend(backend.store).figures.recovery(*ALL)
        assert (backend.figures.computed, settled(recoveries).report) == (2, after)


def test_a_label_that_is_taken_back_is_a_change(backend: Backend) -> None:
    given = _label(backend)
    with started(backend) as recoveries:
        recoveries.up_to_date(*ALL)
        giving.take_back(backend.store, given, datetime.now(UTC))
        recoveries.up_to_date(*ALL)
    assert backend.figures.computed == 2


@pytest.mark.parametrize(
    "between",
    [
        pytest.param(lambda _: None, id="nothing"),
        pytest.param(lambda backend: backend.figures.rates(["model"], [], None), id="reading"),
        pytest.param(lambda backend: backend.replays.replay("goat@1", "openrouter-net@1", [], False), id="a replay"),
    ],
)
def test_without_a_change_it_is_computed_once(backend: Backend, between: Callable[[Backend], object]) -> None:
    with started(backend) as recoveries:
        first = recoveries.up_to_date(*ALL)
        between(backend)
        kept = recoveries.kept(*ALL)
        assert (recoveries.up_to_date(*ALL), kept.report, kept.now) == (first, first, None)
    assert backend.figures.computed == 1


def test_it_is_kept_over_a_restart(backend: Backend) -> None:
    with started(backend) as recoveries:
        first = recoveries.up_to_date(*ALL)
    with started(backend) as recoveries:
        assert recoveries.kept(*ALL).report == first
    assert backend.figures.computed == 1


def test_what_was_computed_before_is_shown_while_it_is_computed_anew(
    backend: Backend,
) -> None:
    with started(backend, patience=0.01) as recoveries:
        first = recoveries.up_to_date(*ALL)
        backend.figures.may.clear()
        add(backend.store, [leaked(0, 0, run="t", generation_id="t")])
        old = recoveries.kept(*ALL)
        assert (old.report, old.under_way) == (first, True)
        add(backend.store, [leaked(0, 0, run="u", generation_id="u")])
        again = recoveries.kept(*ALL)
        assert again.now
        assert old.now
        assert again.now["id"] == old.now["id"]  # one at a time, however often one looks
        backend.figures.may.set()
        assert settled(recoveries).report["rounds"] == 4  # and then once more, for what came meanwhile
    assert backend.figures.computed == 3


def test_a_program_waits_for_the_store_as_it_is(backend: Backend) -> None:
    """Not for what is under way for the store as it was."""
    with started(backend, patience=0.01) as recoveries:
        backend.figures.may.clear()
        assert (recoveries.kept(*ALL).report, recoveries.kept(*ALL).under_way) == (None, True)
        add(backend.store, [leaked(0, 0, run="t", generation_id="t")])
        backend.figures.may.set()
        assert recoveries.up_to_date(*ALL)["rounds"] == 3


def test_a_failure_is_told_and_not_repeated_until_it_is_asked_for(backend: Backend) -> None:
    with started(backend) as recoveries:
        backend.figures.fault = UsageError("no such thing")
        failed = settled(recoveries)
        assert (failed.report, failed.now["state"], failed.now["error"]) == (None, "failed", "no such thing")
        assert (settled(recoveries).now["id"], backend.figures.computed) == (failed.now["id"], 1)
        with pytest.raises(LeakdownError, match="could not be computed: no such thing"):
            recoveries.up_to_date(*ALL)
        backend.figures.fault = None
        recoveries.again(*ALL)
        assert settled(recoveries).report["rounds"] == 2


def test_a_stop_ends_the_waiting_and_leaves_no_failure(backend: Backend) -> None:
    """What the end of the service cuts short is computed by its next life."""
    stopping = threading.Event()
    backend.figures.fault = Stopping("the service is stopping")
    with started(backend, stopping) as recoveries:
        with pytest.raises(Stopping, match="ask again"):
            recoveries.up_to_date(*ALL)
        backend.figures.fault = None
        assert settled(recoveries).report["rounds"] == 2


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param((["goat"], [], None), (["goat@1"], [], None), True, id="a policy with and without its version"),
        pytest.param((["goat"], [], None), (["goat:max_retries=1"], [], None), True, id="a default that is told"),
        pytest.param((["goat"], [], None), (["salvage"], [], None), False, id="another policy"),
        pytest.param(ALL, ([], ["model=m"], None), False, id="a filter"),
        pytest.param(ALL, ([], [], "2026-11-01"), False, id="a time"),
    ],
)
def test_each_question_has_its_answer(
    backend: Backend, one: tuple[Any, ...], other: tuple[Any, ...], same: bool
) -> None:
    with started(backend) as recoveries:
        for question in (one, other, one, other):
            assert recoveries.up_to_date(*question) == LocalBackend(backend.store).figures.recovery(*question)
    assert backend.figures.computed == (1 if same else 2)


@pytest.mark.parametrize(
    "question",
    [
        pytest.param((["nudge"], [], None), id="an unknown policy"),
        pytest.param(([], ["x=y"], None), id="an unknown filter"),
        pytest.param(([], [], "yesterday"), id="no time"),
    ],
)
def test_a_wrong_question_is_refused_at_once(backend: Backend, question: tuple[Any, ...]) -> None:
    with started(backend) as recoveries:
        for ask in (recoveries.kept, recoveries.up_to_date, recoveries.again):
            with pytest.raises(UsageError):
                ask(*question)
        assert recoveries.jobs.all() == []


def test_only_the_latest_are_kept(backend: Backend) -> None:
    with started(backend, most=2) as recoveries:
        for n in range(5):
            recoveries.up_to_date([f"retry-n:max_retries={n + 3}"], [], None)
        assert [each["policies"] for each in recoveries.jobs.all()] == [
            [f"retry-n@1:max_retries={n}"] for n in (7, 6, 5)
        ]
        assert all(each["state"] not in OPEN for each in recoveries.jobs.all())
