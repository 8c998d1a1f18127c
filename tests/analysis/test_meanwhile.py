"""What arrives while somebody counts: an upload that a detector has not judged yet is not there, and never clean."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.detectors import Detector
from analysis.filters import Filters
from analysis.judging import judge_history
from analysis.registry import judged, register
from analysis.replay.population import declare
from analysis.rollups import refresh, up_to_date
from analysis.sampling.strata import divide
from api.remembered import Remembered
from ingest.store import Store, one
from tests.analysis.retention.history import BY, NEWER, OLD, YOUNG, counted, half
from tests.analysis.stories import add, finds, numbered, rows, said, store_of


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Two detectors have judged the first upload."""
    with store_of(tmp_path, half(OLD, "old", "quartz"), BY) as made:
        judged(made, NEWER)
        yield made


def test_what_another_detector_judged_is_not_clean(store: Store) -> None:
    before = counted(store, NEWER)
    add(store, numbered(half(YOUNG, "young", "basalt")), BY)
    assert counted(store, NEWER) == before
    refresh(store, BY)
    assert counted(store, NEWER) == before
    judged(store, NEWER)
    assert counted(store, NEWER)["rolled"] == counted(store, NEWER)["raw"] != before["raw"]


def test_a_replay_and_a_sample_are_of_what_both_have_judged(store: Store) -> None:
    def population() -> tuple[Any, ...]:
        with store.cursor() as cursor:
            return declare(cursor, BY.id, NEWER.id, Filters()).as_json(), divide(cursor, BY, NEWER, Filters())

    before = population()
    add(store, numbered(half(YOUNG, "young", "basalt")), BY)
    assert population() == before
    judged(store, NEWER)
    assert population()[0]["generations"] == 2 * before[0]["generations"]


def test_of_many_who_need_its_verdicts_one_judges(tmp_path: Path) -> None:
    seen: list[object] = []
    slow = finds("slow", {"LEAK": ("leaked_call", "certain")}, seen.append)
    with store_of(tmp_path, [said(f"LEAK {n}") for n in range(20)], BY) as store:
        register(store, slow)
        threads = [threading.Thread(target=judge_history, args=(store, slow), kwargs={"workers": 1}) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == len(rows(store, "FROM verdicts WHERE detector = $1", slow.id)) == 20


def test_of_many_who_ask_the_same_one_computes(store: Store) -> None:
    remembered, asked, computed = Remembered(store), threading.Barrier(3), []

    def compute() -> int:
        computed.append(1)
        return 7

    def ask() -> None:
        asked.wait()
        assert remembered.of("question", compute) == 7

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert computed == [1]


def test_who_asks_by_one_detector_is_not_kept_from_it_by_who_asks_by_another(store: Store) -> None:
    """The rollups are of one detector at a time; each counts anew at most once, and answers from that."""
    begin, found = threading.Barrier(4), []

    def ask(of: Detector) -> None:
        begin.wait()
        for _ in range(5):
            with up_to_date(store, of) as cursor:
                found.append((of.id, *one(cursor, "SELECT detector FROM rolled_up")))

    threads = [threading.Thread(target=ask, args=(of,)) for of in (BY, NEWER, BY, NEWER)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 20
    assert all(asked == told for asked, told in found)
