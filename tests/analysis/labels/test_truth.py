"""Truth is made of labels alone; it outlives a re-upload, a deletion and a new detector."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from analysis.labels.conflicts import conflicts
from analysis.labels.giving import NewLabel, add, resolve, take_back
from analysis.registry import promote
from ingest.errors import Conflict, NotFound, UsageError
from ingest.store import Store
from ingest.uploads import delete
from tests.analysis.stories import LEAK, WORDS, Json, event_of, finds, label, leaked, numbered, rows, said, store_of
from tests.analysis.stories import add as upload

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def given(store: Store, *words: tuple[str, bool | None], of: str = "g0") -> list[str]:
    """Labels given one after the other by hand, a minute apart; a name in capitals resolves."""
    ids = []
    for at, (by, leak) in enumerate(words):
        do = resolve if by.isupper() else add
        ids.append(do(store, NewLabel(of, leak, by, note="why"), NOON + timedelta(minutes=at)))
    return ids


def truth(store: Store) -> dict[str, bool]:
    return dict(rows(store, "SELECT g.generation_id, t.leak FROM generations g JOIN truth t USING (verdict_key)"))


@pytest.mark.parametrize(
    ("words", "leak", "state"),
    [
        pytest.param([("ana", True)], True, "leak", id="one person"),
        pytest.param([("ana", True), ("bo", True)], True, "leak", id="two agree"),
        pytest.param([("ana", True), ("bo", None)], True, "leak", id="one is unsure"),
        pytest.param([("ana", None)], None, "unsure", id="unsure alone"),
        pytest.param([("ana", True), ("ana", False)], False, "clean", id="the last word"),
        pytest.param([("ana", True), ("ana", None)], None, "unsure", id="a last word that is unsure"),
        pytest.param([("ana", True), ("bo", False)], None, "conflict", id="contradiction"),
        pytest.param([("ana", True), ("bo", False), ("bo", True)], True, "leak", id="one of them changes it"),
        pytest.param([("ana", True), ("bo", False), ("CY", False)], False, "clean", id="a resolution"),
        pytest.param([("ana", True), ("bo", False), ("CY", None)], None, "unsure", id="it cannot be told"),
        pytest.param([("ana", True), ("bo", False), ("CY", False), ("DI", True)], True, "leak", id="resolved anew"),
        pytest.param(
            [("ana", True), ("bo", False), ("CY", False), ("bo", True)], False, "clean", id="a label after a resolution"
        ),
    ],
)
def test_truth_is_a_resolution_else_what_people_agree_on(
    words: list[tuple[str, bool | None]], leak: bool | None, state: str, tmp_path: Path
) -> None:
    with store_of(tmp_path, [said("LEAK")]) as store:
        given(store, *words)
        assert truth(store) == ({} if leak is None else {"g0": leak})
        assert rows(store, "SELECT state FROM label_states") == [(state,)]


def test_what_is_taken_back_counts_no_more_and_stays(tmp_path: Path) -> None:
    """A label, then a resolution: the conflict is open again."""
    with store_of(tmp_path, [said("LEAK")]) as store:
        *_, resolution = given(store, ("ana", True), ("bo", False), ("CY", True))
        take_back(store, resolution, NOON)
        assert [len(each) for each in conflicts(store).values()] == [1, 0]
        first = given(store, ("cy", True))[0]
        take_back(store, first, NOON)
        with pytest.raises(NotFound, match="no label"):
            take_back(store, first, NOON)
        assert rows(store, "SELECT count(*), count(taken_back_at) FROM labels") == [(4, 2)]


@pytest.mark.parametrize(
    ("words", "change", "fault", "why"),
    [
        pytest.param([("ana", True)], {}, Conflict, "no two people contradict", id="nothing to resolve"),
        pytest.param([("ana", True), ("bo", None)], {}, Conflict, "not in conflict", id="one is only unsure"),
        pytest.param([("ana", True), ("bo", False)], {"note": " "}, UsageError, "needs a note", id="no note"),
        pytest.param([("ana", True), ("bo", False)], {"generation_id": "x"}, NotFound, "'x'", id="no such generation"),
    ],
)
def test_a_wrong_resolution_changes_nothing(
    words: list[tuple[str, bool | None]], change: Json, fault: type[Exception], why: str, tmp_path: Path
) -> None:
    with store_of(tmp_path, [said("LEAK")]) as store:
        given(store, *words)
        wanted: dict[str, Any] = {"generation_id": "g0", "leak": True, "by": "cy", "note": "so", **change}
        with pytest.raises(fault, match=why):
            resolve(store, NewLabel(**wanted), NOON)
        assert rows(store, "SELECT count(*) FROM labels") == [(len(words),)]


def test_a_conflict_tells_what_each_said_and_who_decided(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK"), said("other")]) as store:
        given(store, ("ana", True), ("bo", False))
        [one] = conflicts(store)["open"]
        assert [(each["by"], each["leak"], each["note"]) for each in one["labels"]] == [
            ("ana", True, "why"),
            ("bo", False, "why"),
        ]
        assert (one["generation_id"], one["run_id"], one["resolution"]) == ("g0", "r", None)
        given(store, ("CY", False))
        assert conflicts(store)["open"] == []
        [one] = conflicts(store)["resolved"]
        assert (one["resolution"]["by"], one["resolution"]["leak"], len(one["labels"])) == ("CY", False, 2)


LOG: list[Json] = numbered([said("LEAK"), said("hello")])


def test_a_re_upload_keeps_labels_given_by_hand(tmp_path: Path) -> None:
    """The same again; deleted and uploaded again; in a larger file under another id, for the output is the same."""
    with store_of(tmp_path, LOG) as store:
        given(store, ("ana", True))
        upload(store, LOG)
        assert truth(store) == {"g0": True}
        delete(store, 1)
        assert truth(store) == {}
        upload(store, [{**LOG[0], "generation_id": "other", "run_id": "s"}, said("more", generation_id="m")])
        assert truth(store) == {"other": True}


def test_a_file_of_labels_outlives_the_log_that_it_speaks_of(tmp_path: Path) -> None:
    with store_of(tmp_path, LOG) as store:
        upload(store, [label("g0", True)])
        delete(store, 1)
        upload(store, LOG)
        assert truth(store) == {"g0": True}


def test_an_heir_keeps_the_labels_of_a_deleted_upload(tmp_path: Path) -> None:
    """Those that it held too; those that only the deleted one held go with it."""
    with store_of(tmp_path, [*LOG, label("g0", True), label("g1", False)]) as store:
        upload(store, [*LOG, label("g0", True), said("more", generation_id="m")])
        delete(store, 1)
        assert truth(store) == {"g0": True}


def test_a_label_that_was_taken_back_does_not_come_again_with_its_file(tmp_path: Path) -> None:
    with store_of(tmp_path, [*LOG, label("g0", True)]) as store:
        [(label_id,)] = rows(store, "SELECT key::VARCHAR FROM labels")
        take_back(store, label_id, NOON)
        upload(store, [*LOG, label("g0", True), said("more", generation_id="m")])
        assert truth(store) == {}


def test_a_new_detector_keeps_all_labels(tmp_path: Path) -> None:
    with store_of(tmp_path, [leaked()]) as store:
        given(store, ("ana", True))
        before = rows(store, "FROM labels"), truth(store)
        promote(store, finds("new", WORDS))
        assert (rows(store, "FROM labels"), truth(store)) == before


def test_weak_evidence_is_no_truth(tmp_path: Path) -> None:
    """Neither a reprimand nor a report makes a truth, and neither enters a conflict."""
    log = [leaked(0, reprimand="That was no call."), said("x", 1, reprimand=None), event_of(LEAK)]
    with store_of(tmp_path, log) as store:
        assert rows(store, "SELECT source FROM weak_evidence ORDER BY ALL") == [("event",), ("reprimand",)]
        assert truth(store) == {}
        given(store, ("ana", False))
        assert truth(store) == {"g0": False}
        assert conflicts(store) == {"open": [], "resolved": []}
