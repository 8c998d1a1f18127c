"""Old texts go from every table, and nothing that is counted changes; what is judged later does without them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis import browse
from analysis.labels.queue import following
from analysis.labels.turns import Reviewer
from analysis.rates import rates
from analysis.registry import judged, promote
from analysis.replay import replay
from ingest.export import records
from ingest.retention.pruning import prune
from ingest.retention.prunings import unjudged
from ingest.store import Store
from ingest.uploads import delete
from tests.analysis.retention.history import BY, CUTOFF, NEWER, NOW, SHARED, counted, holding, today, whole
from tests.analysis.stories import add, finds, rows, store_of
from tests.ingest.loading import everything

PRUNED = {"old.0", "old.1", "old.2", "old.3", "old.4", "old.5"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_of(tmp_path, whole(), BY) as made:
        promote(made, BY)
        yield made


def test_all_that_is_counted_stays_to_the_last_unit(store: Store) -> None:
    before = counted(store)
    removed = prune(store, CUTOFF, NOW)
    assert (removed.generations, removed.runs, removed.events) == (6, 2, 1)
    assert counted(store) == before


def test_no_table_holds_a_word_of_it(store: Store) -> None:
    """`quartz` stands in every text of the old half: contents, arguments, tools, unknown fields, notes, the event."""
    judged(store, NEWER)
    assert {each.split(".")[0] for each in holding(store, "quartz")} >= {
        "texts", "tool_lists", "candidate_outputs", "verdicts", "generations", "events", "runs", "labels",
    }  # fmt: skip
    prune(store, CUTOFF, NOW)
    assert holding(store, "quartz") == []
    assert len(holding(store, "basalt")) > 8


def test_a_text_that_something_younger_uses_stays(store: Store) -> None:
    prune(store, CUTOFF, NOW)
    assert rows(store, "SELECT count(*) FROM texts WHERE text = $1", SHARED) == [(1,)]
    [old] = [each for each in browse.run(store, BY, "old-1")["generations"] if each["generation_id"] == "old.5"]
    assert (old["content"], old["pruned_at"], old["leak"]) == (None, "2026-11-30T12:00:00Z", True)
    notes = rows(store, "SELECT note FROM labels WHERE generation_id LIKE '%.5' ORDER BY note")
    assert notes == [("on both, old",), ("on both, young",)]


def test_a_dry_run_tells_the_same_and_changes_nothing(store: Store) -> None:
    before = everything(store)
    told = prune(store, CUTOFF, NOW, dry=True)
    assert everything(store) == before
    assert prune(store, CUTOFF, NOW) == told
    assert prune(store, CUTOFF, today()).generations == 0


def test_a_generation_without_a_time_is_as_old_as_its_upload(tmp_path: Path) -> None:
    timeless = [{name: value for name, value in each.items() if name != "started_at"} for each in whole()]
    with store_of(tmp_path, timeless, BY) as store:
        assert prune(store, CUTOFF, NOW).generations == 0
        assert prune(store, today(), today()).generations == 12


def test_the_same_file_again_brings_no_text_back(store: Store) -> None:
    prune(store, CUTOFF, NOW)
    before = counted(store)
    again = add(store, whole(), BY)
    assert (again.upload_id, again.new_generations) == (None, 0)
    more = add(store, [*whole(), {**whole()[0], "generation_id": "new", "content": "hello", "tools": []}], BY)
    assert more.new_generations == 1
    assert holding(store, "quartz1 ", "quartz3", "quartz5", "quartz12") == []
    delete(store, more.upload_id or 0)
    assert counted(store) == before


class TestADetectorThatComesLater:
    """It cannot judge what was pruned: its rates are of the rest, and say how many they leave out."""

    def test_its_rates_leave_out_and_count_what_it_cannot_judge(self, store: Store) -> None:
        prune(store, CUTOFF, NOW)
        judged(store, NEWER)
        [row] = rates(store, NEWER, ["model"])
        [earlier] = rates(store, BY, ["model"])
        assert (row.leak.n, row.leak.hits, row.unjudged) == (5, 3, 5)
        assert (earlier.leak.n, earlier.unjudged) == (10, 0)
        assert unjudged(store, NEWER.id) == 6

    def test_rolled_up_and_raw_agree(self, store: Store) -> None:
        prune(store, CUTOFF, NOW)
        judged(store, NEWER)
        found = counted(store, NEWER)
        assert found["rolled"] == found["raw"]

    def test_one_that_had_judged_before_counts_all(self, store: Store) -> None:
        judged(store, NEWER)
        before = counted(store, NEWER)
        prune(store, CUTOFF, NOW)
        assert counted(store, NEWER) == before
        assert unjudged(store, NEWER.id) == 0

    def test_a_replay_names_what_it_leaves_out(self, store: Store) -> None:
        prune(store, CUTOFF, NOW)
        report = replay(store, BY, NEWER)
        assert (report.generations, report.left_out) == (6, {"pruned": 6})

    def test_nobody_is_asked_to_label_it(self, store: Store) -> None:
        prune(store, CUTOFF, NOW)
        seen = following(store, Reviewer("bob"), today())
        assert seen["total"] == 6
        assert seen["output"]["generation_id"].startswith("young")

    def test_an_export_leaves_it_out(self, store: Store) -> None:
        prune(store, CUTOFF, NOW)
        exported = {each.get("generation_id") for each in records(store) if each["type"] == "generation"}
        assert len(exported) == 6
        assert not exported & PRUNED


def test_verdicts_by_other_source_stay_where_nobody_can_judge_anew(store: Store) -> None:
    """The same version from changed source judges anew what is there; what is pruned keeps what was said."""
    before = counted(store)
    prune(store, CUTOFF, NOW)
    assert counted(store) == before
    judged(store, BY, anew=True)
    assert counted(store) == before
    judged(store, finds("words", {"nothing": ("leaked_call", "certain")}), anew=True)
    [row] = rates(store, BY, ["model"])
    assert (row.leak.n, row.leak.hits) == (10, 2), "the leaks of the old half, but for the shared text, judged anew"
