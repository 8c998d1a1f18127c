"""What the service keeps: drift as it keeps recovery (tests/api/test_recoveries.py), quick answers in memory."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from api.alerts import Said
from api.audits import AuditAsked
from api.backend import LocalBackend
from api.drifts import Drifts
from api.kept_audits import KeptAudits, PageAsked
from api.remembered import MOST, Remembered
from ingest.errors import NotFound, UsageError
from ingest.store import Store
from tests.analysis.stories import add, label, leaked, numbered, rows, said
from tests.api.service import served, until
from tests.api.test_drift import RECORDS

ANOTHER = said("All is well.", run="another", generation_id="another")


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[LocalBackend]:
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        add(store, numbered([leaked(0, 0, model="m"), said("bye", 1, 0, model="m")]))
        yield LocalBackend(store)


CHANGES = [
    pytest.param(lambda backend: add(backend.store, [ANOTHER]), True, id="an upload"),
    pytest.param(lambda backend: backend.uploads.correct(1, {"model": "n"}), True, id="a correction"),
    pytest.param(lambda backend: backend.uploads.delete(1), True, id="a deletion"),
    pytest.param(lambda backend: backend.detectors.promote("goat@1"), True, id="another detector"),
    pytest.param(lambda backend: backend.replays.replay("goat@1", "openrouter-net@1", [], False), False, id="a replay"),
    pytest.param(lambda _: None, False, id="nothing"),
]


@pytest.mark.parametrize(("change", "is_one"), CHANGES)
def test_an_answer_is_remembered_until_the_store_changes(
    backend: LocalBackend, change: Callable[[LocalBackend], object], is_one: bool
) -> None:
    remembered, computed = Remembered(backend.store), iter(range(9))
    first = remembered.of("what", lambda: next(computed))
    change(backend)
    assert remembered.of("what", lambda: next(computed)) == first + is_one


@pytest.mark.parametrize(("change", "is_one"), CHANGES)
@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda backend: backend.figures.rates(["model"], [], None), id="rates"),
        pytest.param(lambda backend: backend.figures.trend([], None), id="trend"),
        pytest.param(lambda backend: backend.figures.series("model", "engine", [], None), id="series"),
        pytest.param(lambda backend: backend.figures.reported(), id="reported"),
        pytest.param(lambda backend: backend.figures.runs([], None, leaking=False, cursor=None, limit=9), id="runs"),
    ],
)
def test_what_is_remembered_is_what_the_store_says(
    backend: LocalBackend,
    ask: Callable[[LocalBackend], Any],
    change: Callable[[LocalBackend], object],
    is_one: bool,  # noqa: ARG001 - the other test's
) -> None:
    ask(backend)
    change(backend)
    assert ask(backend) == ask(LocalBackend(backend.store))


def test_each_question_has_an_answer_and_the_oldest_go(backend: LocalBackend) -> None:
    remembered = Remembered(backend.store)
    assert [remembered.of(n, lambda n=n: n) for n in range(MOST + 1)] == [*range(MOST + 1)]  # type: ignore[misc]
    assert remembered.of(MOST, lambda: -1) == MOST
    assert remembered.of(0, lambda: -1) == -1


def test_an_answer_from_before_a_change_is_not_given_after_it(backend: LocalBackend) -> None:
    """The change comes while the answer is computed."""
    remembered = Remembered(backend.store)

    def compute() -> str:
        add(backend.store, [ANOTHER])
        return "old"

    remembered.of("what", compute)
    assert remembered.of("what", lambda: "new") == "new"


def test_drift_is_kept_until_the_store_changes(backend: LocalBackend) -> None:
    drifts = Drifts(backend, threading.Event())
    drifts.jobs.start()
    try:
        assert drifts.up_to_date([], None) == backend.figures.drift([], None)
        drifts.up_to_date([], None)
        assert len(drifts.jobs.all()) == 1
        add(backend.store, [ANOTHER])
        assert drifts.up_to_date([], None) == backend.figures.drift([], None)
        assert len(drifts.jobs.all()) == 2
        with pytest.raises(UsageError):
            drifts.kept(["x=y"], None)
    finally:
        drifts.jobs.stop()


@pytest.fixture
def passed_off(backend: LocalBackend) -> LocalBackend:
    """With one finding more: a leak that ended its turn."""
    add(backend.store, [leaked(0, 0, run="t", generation_id="left")])
    return backend


WORDS = [
    pytest.param(lambda store: add(store, [label("g0", False)]), True, id="a label"),
    pytest.param(lambda store: add(store, [ANOTHER]), True, id="an upload"),
    pytest.param(lambda _: None, False, id="nothing"),
]


@pytest.mark.parametrize(("change", "is_one"), WORDS)
def test_the_audit_is_kept_until_the_store_changes(
    passed_off: LocalBackend, change: Callable[[Store], object], is_one: bool
) -> None:
    audits, asked = KeptAudits(passed_off, threading.Event()), PageAsked(AuditAsked(), None, 50)
    audits.jobs.start()
    try:
        first = audits.up_to_date(asked)
        assert first["items"] == passed_off.audits.findings(AuditAsked())["items"] != []
        change(passed_off.store)
        assert audits.up_to_date(asked)["items"] == passed_off.audits.findings(AuditAsked())["items"]
        assert len(audits.jobs.all()) == 1 + is_one
        with pytest.raises(UsageError):
            audits.kept(PageAsked(AuditAsked(rules=["x"]), None, 50))
    finally:
        audits.jobs.stop()


def test_an_acknowledgement_is_shown_beside_a_kept_finding_and_computes_nothing(passed_off: LocalBackend) -> None:
    audits = KeptAudits(passed_off, threading.Event())
    audits.jobs.start()
    try:
        [finding] = audits.up_to_date(PageAsked(AuditAsked(), None, 50))["items"]
        audits.acknowledge(finding["id"], "known", "ana")
        for all_ in (False, True):
            asked = AuditAsked(all_=all_)
            found = audits.up_to_date(PageAsked(asked, None, 50))
            assert {**found, "next": None} == {**passed_off.audits.findings(asked), "next": None}
        assert found["items"][0]["acknowledged"]["by"] == "ana"
        assert len(audits.jobs.all()) == 1
    finally:
        audits.jobs.stop()


def test_an_older_answer_keeps_its_findings_until_it_is_forgotten(passed_off: LocalBackend) -> None:
    audits = KeptAudits(passed_off, threading.Event(), most=2)
    audits.jobs.start()
    try:
        for policy in ("goat", "foundry", "report-only", "openrouter-net"):
            audits.up_to_date(PageAsked(AuditAsked(policy), None, 50))
        [(answers,)] = rows(passed_off.store, "SELECT count(DISTINCT answer) FROM audit_findings")
        assert answers == len(audits.jobs.all()) == 3
    finally:
        audits.jobs.stop()


def test_the_page_of_the_audit_says_when_it_was_computed_and_computes_it_again(tmp_path: Path) -> None:
    with served(tmp_path / "s.duckdb") as service:
        service.upload(*numbered([leaked(0, 0)]))
        assert "looks again by itself" not in until(lambda: service.http.get("/audit").text, lambda t: "Computed" in t)
        answer = service.http.post("/audit", data={"policy": "goat", "where": "model=m", "since": "2026-09-01"})
        assert (answer.status_code, answer.headers["location"]) == (
            303, "/audit?where=model%3Dm&since=2026-09-01&policy=goat"
        )  # fmt: skip
        page = until(lambda: service.http.get(answer.headers["location"]).text, lambda text: "Computed" in text)
        assert "held to <b>goat@1" in page


def test_what_is_said_of_an_alert_is_shown_beside_kept_drift_and_computes_nothing(backend: LocalBackend) -> None:
    add(backend.store, RECORDS)
    drifts = Drifts(backend, threading.Event())
    drifts.jobs.start()
    try:
        [alert, *_] = drifts.up_to_date([], None)["alerts"]["items"]
        assert alert["state"] == "open"
        said_of = drifts.say(alert["id"], Said("acknowledge", "the new template", "ana"))
        assert said_of["rule"] == alert["rule"]
        found = drifts.up_to_date([], None)
        assert found == backend.figures.drift([], None)
        assert found["alerts"]["items"][-1] | {"state": "open"} != alert
        assert len(drifts.jobs.all()) == 1
        with pytest.raises(NotFound):
            drifts.say("0123456789abcdef", Said("acknowledge", "what?", "ana"))
    finally:
        drifts.jobs.stop()


def test_the_page_says_when_drift_was_computed_and_computes_it_again(tmp_path: Path) -> None:
    with served(tmp_path / "s.duckdb") as service:
        service.upload(*RECORDS)
        page = until(lambda: service.http.get("/drift").text, lambda text: "Computed" in text)
        assert "looks again by itself" not in page
        answer = service.http.post("/drift", data={"where": "model=m", "since": "2026-09-01"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/drift?where=model%3Dm&since=2026-09-01")
        assert "Computed" in until(lambda: service.http.get(answer.headers["location"]).text, lambda t: "worse" in t)


def test_no_answer_waits_for_the_other_side_to_acknowledge_its_first_part(tmp_path: Path) -> None:
    """Which would take each of them 40 ms; the quickest of some, since the machine may be busy."""
    with served(tmp_path / "s.duckdb") as service:
        times = [service.http.get("/detectors").elapsed.total_seconds() for _ in range(10)]
    assert min(times) < 0.035
