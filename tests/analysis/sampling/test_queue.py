"""Handing a sample out: in its order, to several people, without telling what any detector says."""

from pathlib import Path

import pytest

from analysis.labels import take_back
from analysis.sampling.queue import NextItem, Progress, latest_sample, next_item, progress
from ingest.errors import NotFound
from ingest.store import Store
from tests.analysis.sampling.drawn import Words, drawn_ids, say, take, work
from tests.analysis.stories import rows, store_of

WORDS = Words({"LEAK": 3, "PRINTED": 4, "hello": 20}, {})


def name_of(store: Store, item: NextItem | None) -> str | None:
    if item is None:
        return None
    [(name,)] = rows(store, "SELECT generation_id FROM generations WHERE verdict_key = $1::UUID", item.verdict_key)
    return str(name)


def test_outputs_are_handed_out_in_the_order_of_the_sample(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        sample = take(store, 10).sample_id
        seen = []
        while name := name_of(store, next_item(store, sample, "ana")):
            seen.append(name)
            say(store, name, None)
        assert seen == [name for _, name in drawn_ids(store, sample)]


def test_two_people_get_different_outputs(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        sample = take(store, 10).sample_id
        first = next_item(store, sample, "ana")
        assert first is not None
        second = next_item(store, sample, "bo", taken=[first.verdict_key])
        assert second is not None
        assert (first.place, second.place) == (1, 2)
        assert work(store, sample, "ana", 4) == 4
        assert work(store, sample, "bo") == 6


def test_double_labels_are_handed_out_to_somebody_else(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        sample = take(store, 10).sample_id
        work(store, sample, "ana")
        assert next_item(store, sample, "ana", people=2) is None
        item = next_item(store, sample, "bo", people=2)
        assert item is not None
        assert item.place == 1


def test_what_is_taken_back_comes_again(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        sample = take(store, 10).sample_id
        work(store, sample, most=3)
        take_back(store, str(rows(store, "SELECT key FROM labels ORDER BY generation_id LIMIT 1")[0][0]))
        item = next_item(store, sample, "ana")
        assert item is not None
        assert item.place <= 3


def test_progress_counts_different_outputs(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        sample = take(store, 10).sample_id
        work(store, sample, "ana", 2)
        work(store, sample, "bo", 3)
        say(store, drawn_ids(store, sample)[0][1], None, "bo")
        assert progress(store, sample, "bo") == Progress(outputs=10, labelled=5, by_me=4)


def test_a_sample_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        assert latest_sample(store) is None
        for ask in (next_item, progress):
            with pytest.raises(NotFound, match="no sample 1"):
                ask(store, 1, "ana")
        assert latest_sample(store) is None
        take(store, 3)
        assert latest_sample(store) == 1
