"""Which output comes next: in the order of a sample or of suspicion, never the same to two people unasked."""

import random
import threading
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from analysis.labels.giving import NewLabel, add, take_back
from analysis.labels.queue import following, skip
from analysis.labels.turns import HELD, Reviewer
from ingest.errors import NotFound
from ingest.store import Store
from ingest.uploads import delete
from tests.analysis.stories import WORDS, Json, called, dice, finds, rows, said, store_of

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def next_id(store: Store, by: str, at: datetime = NOON, **way: Any) -> Any:
    output = following(store, Reviewer(by, **way), at)["output"]
    return output["generation_id"] if output else None


def draw(store: Store, *ids: str, sample: str = "1") -> None:
    """A drawn sample as its table holds it."""
    with store.transaction() as cursor:
        for place, generation in enumerate(ids, 1):
            cursor.execute(
                """INSERT INTO sample_items BY NAME SELECT $1::INTEGER AS sample_id, $2 AS place, key AS generation,
                    verdict_key, 'both' AS stratum, $2 AS rank, 0.5 AS probability
                FROM generations WHERE generation_id = $3""",
                [sample, place, generation],
            )


def test_suspected_outputs_come_first_and_calls_without_a_word_last(tmp_path: Path) -> None:
    log: list[Json] = [called(), said("x"), said("LEAK"), said("no title", role="title"), said("")]
    with store_of(tmp_path, log, finds("first", WORDS)) as store:
        seen = []
        while generation := next_id(store, "ana"):
            seen.append(generation)
            add(store, NewLabel(generation, False, "ana"), NOON)
        assert seen == ["g2", "g1", "g0"]


def test_what_is_shown_is_held_until_its_time_is_over(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("x")]) as store:
        assert next_id(store, "ana") == "g0"
        assert next_id(store, "ana", NOON + HELD / 2) == "g0"
        assert next_id(store, "bo", NOON + HELD - MINUTE) is None
        assert next_id(store, "bo", NOON + HELD) == "g0"
        assert next_id(store, "ana", NOON + HELD) is None


def test_an_output_whose_label_was_taken_back_comes_before_the_next_one(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("x"), said("y"), said("z")]) as store:
        first = next_id(store, "ana")
        assert first
        label_id = add(store, NewLabel(first, True, "ana"), NOON)
        assert next_id(store, "ana", NOON + MINUTE) != first
        take_back(store, label_id, NOON)
        assert next_id(store, "ana", NOON + 2 * MINUTE) == first
        assert next_id(store, "ana", NOON + 3 * MINUTE) == first


def test_what_was_skipped_comes_last(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("x"), said("y")]) as store:
        first = following(store, Reviewer("ana"), NOON)["output"]
        skip(store, "ana", first["verdict_key"], NOON)
        second = next_id(store, "ana", NOON + MINUTE)
        assert second not in (None, first["generation_id"])
        add(store, NewLabel(str(second), True, "ana"), NOON)
        assert next_id(store, "ana", NOON + MINUTE) == first["generation_id"]
        assert following(store, Reviewer("ana"), NOON)["waiting"] == 1


def test_a_sample_is_worked_through_in_its_order(tmp_path: Path) -> None:
    """Progress counts its own outputs; what was labelled before is done; what was deleted is passed over."""
    with store_of(tmp_path, [said(f"text {at}") for at in range(6)]) as store:
        draw(store, "g4", "g1", "g3", "g0")
        add(store, NewLabel("g1", False, "bo"), NOON)
        seen = []
        while output := (told := following(store, Reviewer("ana", "1"), NOON))["output"]:
            seen.append((output["generation_id"], told["done"], told["waiting"], told["total"]))
            add(store, NewLabel(output["generation_id"], False, "ana"), NOON)
        assert seen == [("g4", 1, 3, 4), ("g3", 2, 2, 4), ("g0", 3, 1, 4)]
        delete(store, 1)
        assert following(store, Reviewer("cy", "1"), NOON)["total"] == 0
        with pytest.raises(NotFound, match="no sample 's2'"):
            following(store, Reviewer("ana", "s2"), NOON)


def test_second_labels_of_a_sample_begin_with_what_has_one(tmp_path: Path) -> None:
    with store_of(tmp_path, [said(f"text {at}") for at in range(3)]) as store:
        draw(store, "g0", "g1", "g2")
        add(store, NewLabel("g2", False, "bo"), NOON)
        assert next_id(store, "ana", sample="1", double=True) == "g2"
        assert next_id(store, "bo", sample="1", double=True) == "g0"
        add(store, NewLabel("g2", False, "ana"), NOON)
        assert next_id(store, "cy", sample="1", double=True) == "g0"
        assert next_id(store, "di", sample="1", double=True) == "g1"


def test_what_is_shown_tells_nothing_of_others(tmp_path: Path) -> None:
    """No verdict, no label of another person; one's own word where one looks again."""
    with store_of(tmp_path, [said("LEAK")], finds("first", WORDS)) as store:
        add(store, NewLabel("g0", True, "bo", note="sure"), NOON)
        told = following(store, Reviewer("ana", double=True), NOON)
        assert (told["output"]["said"], "sure" in str(told), "leaked_call" in str(told)) == (None, False, False)
        add(store, NewLabel("g0", None, "ana"), NOON)
        again = following(store, Reviewer("ana", double=True), NOON, at=told["output"]["verdict_key"])
        assert again["output"]["said"] == "unsure"


@pytest.mark.parametrize("double", [pytest.param(False, id="one label each"), pytest.param(True, id="two labels each")])
@pytest.mark.parametrize("sample", [pytest.param(None, id="the store"), pytest.param("1", id="a sample")])
def test_many_people_at_once_never_get_the_same_output(double: bool, sample: str | None, tmp_path: Path) -> None:
    """Four reviewers in threads, who label, skip and look again in any order, until nothing is left."""
    size, names = 25, ("ana", "bo", "cy", "di")
    with store_of(tmp_path, [said(f"text {at}") for at in range(size)]) as store:
        draw(store, *(f"g{at}" for at in range(size)))
        threads = [
            threading.Thread(target=work, args=(store, Reviewer(name, sample, double), dice(at)))
            for at, name in enumerate(names)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        for name in names:  # what one left and no other took meanwhile
            work(store, Reviewer(name, sample, double), dice(0))
        labels = rows(store, "SELECT generation_id, by_whom FROM labels")
        assert Counter(Counter(generation for generation, _ in labels).values()) == {1 + double: size}
        assert len(set(labels)) == len(labels)


def work(store: Store, who: Reviewer, fate: random.Random) -> None:
    """Review until nothing comes; now and then skip, or ask twice."""
    skips = 5
    while output := following(store, who, NOON)["output"]:
        choice = fate.random()
        if choice < 0.2 and skips:
            skips -= 1
            skip(store, who.by, output["verdict_key"], NOON)
        elif choice < 0.9:
            add(store, NewLabel(output["generation_id"], False, who.by), NOON)


def test_every_output_comes_once_whatever_is_labelled(tmp_path: Path) -> None:
    """Random labels of others, repeated outputs and suspicions: one reviewer sees exactly what is left."""
    fate = dice(7)
    log: list[Json] = [said(fate.choice(["LEAK", "CUT", "x", "y"]) + f" {fate.randrange(30)}") for _ in range(80)]
    with store_of(tmp_path, log, finds("first", WORDS)) as store:
        for at in fate.sample(range(80), 20):
            add(store, NewLabel(f"g{at}", fate.choice([True, False, None]), "bo"), NOON)
        left = rows(store, "SELECT DISTINCT verdict_key FROM generations ANTI JOIN labels USING (verdict_key)")
        seen: Sequence[str] = []
        while output := (told := following(store, Reviewer("ana"), NOON))["output"]:
            assert told["waiting"] == len(left) - len(seen)
            seen = [*seen, output["verdict_key"]]
            add(store, NewLabel(output["generation_id"], False, "ana"), NOON)
        assert sorted(seen) == sorted(str(key) for (key,) in left)
