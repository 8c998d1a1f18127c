"""Outputs go out to a command and its verdicts come back: in order, once, and however the command ends."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.candidates.kept import elsewhere
from analysis.detectors import EVERY, Detector
from api.exchange import SESSIONS, Session, Sessions
from ingest.errors import Conflict, NotFound, UsageError
from ingest.store import Store
from tests.analysis.stories import add, said, store_of, verdicts
from tests.api.conftest import small_history
from tests.api.service import Service, refusal, served

LEAK = {"markup": "LEAK", "tier": "certain"}
RECORDS = [said("a LEAK"), said("nothing"), said("LEAK b")]


def code(name: str = "far.find", triggers: tuple[str, ...] = ("LEAK",)) -> Detector:
    """Code that is not here."""
    content = f"{sum(name.encode()):032x}"
    return elsewhere(name, f"sha-{content[:12]}", content, "", "code far.py:find", triggers, (), False)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with two outputs that hold the trigger and one that does not."""
    with store_of(tmp_path, RECORDS) as opened:
        yield opened


def answered(session: Session, say: Any = LEAK) -> list[list[str]]:
    """Judge all; the contents of each part."""
    parts: list[list[str]] = []
    while (part := session.next())["state"] == "judging":
        contents = [each["content"] for each in part["outputs"]]
        parts += [contents] if contents else []
        session.answer(part["part"], [say if "LEAK" in each else None for each in contents])
    return parts


def test_a_pass_over_the_store_shows_what_holds_a_trigger_and_then_the_samples(store: Store) -> None:
    session = Session(store, code(), threading.Event())
    parts = answered(session)
    assert [sorted(part) for part in parts] == [["LEAK b", "a LEAK"], ["LEAK b", "a LEAK"], ["nothing"]]
    assert session.next()["state"] == "done"
    assert [(row[4], row[9]) for row in verdicts(store, code())] == [("certain", "LEAK")] * 2


def test_a_part_may_be_answered_in_pieces_and_what_is_left_is_sent_again(store: Store) -> None:
    session = Session(store, code(), threading.Event())
    part = session.next()
    assert session.answer(part["part"], [LEAK])["missing"] == 1
    left = session.next()
    assert (left["part"], left["outputs"]) == (part["part"], part["outputs"][1:])
    assert session.answer(part["part"], [{"failure": "timeout: no answer"}])["missing"] == 0
    answered(session)
    assert sorted(row[-1] or "" for row in verdicts(store, code())) == ["", "timeout: no answer"]


def test_answers_that_fit_no_part_are_refused_and_change_nothing(store: Store) -> None:
    session = Session(store, code(), threading.Event())
    part = session.next()["part"]
    with pytest.raises(UsageError, match=f"3 verdicts, but 2 outputs of part {part} wait for one"):
        session.answer(part, [None] * 3)
    with pytest.raises(Conflict, match=f"part 9 was judged already; {part} is under way"):
        session.answer("9", [None])
    assert session.answer("9", [])["missing"] == 2
    answered(session)


def test_what_is_no_finding_is_a_failure(store: Store) -> None:
    answered(Session(store, code(), threading.Event()), {"markup": "nowhere"})
    errors = {row[-1] for row in verdicts(store, code())}
    assert errors == {"no finding: its markup does not stand in the content"}


def test_a_command_that_is_not_heard_of_any_more_has_ended(store: Store) -> None:
    session = Session(store, code(), threading.Event(), silence=0.2)
    part = session.next()
    assert part["outputs"]
    session._thread.join(30)
    gone = session.next()
    assert gone["state"] == "failed"
    assert "not heard of any more" in gone["error"]
    again = Session(store, code(), threading.Event())
    assert len(answered(again)) == 3


def test_nobody_waits_for_outputs_of_a_store_that_has_none(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb", create=True) as empty:
        session = Session(empty, code(triggers=(EVERY,)), threading.Event())
        assert session.next()["state"] == "done"


def test_uploads_go_on_while_a_command_is_waited_for(store: Store) -> None:
    session = Session(store, code(), threading.Event())
    part = session.next()
    add(store, [said("LEAK late", run="late", generation_id="l0")])
    session.answer(part["part"], [None] * len(part["outputs"]))
    answered(session)
    later = Session(store, code(), threading.Event())
    assert answered(later)[0] == ["LEAK late"]


def test_a_stopping_service_ends_its_sessions(store: Store) -> None:
    stopping = threading.Event()
    sessions = Sessions(store, stopping)
    session = sessions.begin(code(), anew=False)
    assert session.next()["outputs"]
    stopping.set()
    sessions.stop()
    assert "the service is stopping" in session.next()["error"]


def test_sessions_are_few_and_the_same_code_takes_its_earlier_ones_place(store: Store) -> None:
    stopping = threading.Event()
    sessions = Sessions(store, stopping)
    first = sessions.begin(code("a"), anew=False)
    assert sessions.begin(code("a"), anew=False).id != first.id
    assert first.next()["state"] == "failed"
    with pytest.raises(NotFound, match="no session"):
        sessions.get(first.id)
    for name in "bcdefgh":
        sessions.begin(code(name), anew=False)
    with pytest.raises(Conflict, match=f"{SESSIONS} candidates are being judged"):
        sessions.begin(code("i"), anew=False)
    stopping.set()
    sessions.stop()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the small history."""
    with served(tmp_path_factory.mktemp("exchange") / "s.duckdb") as running:
        running.upload(*small_history())
        yield running


CANDIDATE = {"name": "far.find", "content": "0123456789abcdef" * 2, "triggers": ["<function="]}


def test_a_pass_over_http_ends_in_a_replay(service: Service) -> None:
    part = service.http.post("/v1/candidates/outputs", json={"candidate": CANDIDATE}).json()
    seen = 0
    while part["state"] == "judging":
        seen += len(part["outputs"])
        answers = [{"start": 0, "end": 1, "reason": "it begins"} for _ in part["outputs"]]
        said = {"session": part["session"], "part": part["part"], "verdicts": answers}
        assert service.http.post("/v1/candidates/verdicts", json=said).json()["missing"] == 0
        part = service.http.post("/v1/candidates/outputs", json={"session": part["session"]}).json()
    assert (part["state"], part["detector"]) == ("done", "far.find@sha-0123456789ab")
    assert seen > 3
    wanted = {"baseline": "goat@1", "candidate": part["detector"]}
    assert service.http.post("/v1/replays", json=wanted).status_code == 202
    row = next(each for each in service.http.get("/v1/detectors").json() if each["detector"] == part["detector"])
    assert (row["kind"], row["current"]) == ("code", False)
    assert "is code" in service.refused(400, "PUT", "/v1/detectors/current", json={"detector": part["detector"]})


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        pytest.param({}, 400, "give a candidate to begin with, or the session", id="nothing"),
        pytest.param({"candidate": CANDIDATE, "session": "x"}, 400, "give a candidate", id="both"),
        pytest.param({"session": "x"}, 404, "no session 'x'; it ended, or the service", id="no such session"),
        pytest.param({"candidate": {**CANDIDATE, "name": "a b"}}, 400, "candidate.name", id="no good name"),
        pytest.param({"candidate": {**CANDIDATE, "content": "x"}}, 400, "candidate.content", id="no hash"),
        pytest.param({"candidate": {**CANDIDATE, "triggers": [""]}}, 400, "candidate.triggers", id="an empty trigger"),
        pytest.param({"candidate": {**CANDIDATE, "run": "rm"}}, 400, "candidate.run", id="a command"),
    ],
)
def test_a_wrong_beginning_is_refused(service: Service, body: dict[str, Any], status: int, told: str) -> None:
    assert told in refusal(service.http.post("/v1/candidates/outputs", json=body), status)


def test_verdicts_for_nobody_are_refused(service: Service) -> None:
    body = {"session": "x", "part": "1", "verdicts": []}
    assert "no session 'x'" in service.refused(404, "POST", "/v1/candidates/verdicts", json=body)
