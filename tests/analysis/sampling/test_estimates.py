"""From labels of a drawn sample to figures of the whole history: what counts, what does not, and what is said."""

from pathlib import Path
from typing import Any

import pytest

from analysis.filters import Filters
from analysis.replay import replay
from analysis.replay_markdown import markdown
from analysis.sampling.cells import FOUND
from analysis.sampling.drawing import _keys
from analysis.sampling.items import tally
from analysis.sampling.strata import divide
from analysis.statistics.stratified import Stratum
from ingest.store import Store
from ingest.uploads import delete
from tests.analysis.sampling.drawn import FIRST, SECOND, Words, drawn_ids, estimated, label_all, say, take, work
from tests.analysis.statistics.simulated_labels import figures
from tests.analysis.stories import add, numbered, rows, said, store_of

WORDS = Words(
    {"LEAK": 12, "MAYBE": 9, "PRINTED": 40, "hello": 600}, {"LEAK": 4, "MAYBE": 6, "PRINTED": 30, "hello": 10}
)
TRUTH = {
    "baseline": {"precision": 34 / 52, "recall": 34 / 50},
    "candidate": {"precision": 36 / 49, "recall": 36 / 50},
}


def row(told: Any, stratum: str) -> Any:
    [found] = [each for each in told["strata"] if each["stratum"] == stratum]
    return found


def test_without_a_sample_nothing_is_estimated(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        assert estimated(store) is None


def test_everything_labelled_is_the_truth_itself(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        label_all(store, take(store, 661).sample_id)
        told = estimated(store)
    for side, truth in TRUTH.items():
        assert told[side]["precision"] == told[side]["precision_low"] == told[side]["precision_high"]
        assert told[side]["precision"] == pytest.approx(truth["precision"])
        assert told[side]["recall_low"] == pytest.approx(truth["recall"])
    assert (told["labelled"], told["waiting"], told["unlabelled"], told["population_changed"]) == (661, 0, [], False)


@pytest.mark.parametrize("seed", range(4))
def test_the_bounds_of_a_labelled_sample_hold_the_truth(seed: int, tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        label_all(store, take(store, 120, seed=seed).sample_id)
        told = estimated(store)
    assert (told["labelled"], told["seed"]) == (120, seed)
    for side, truth in TRUTH.items():
        assert told[side]["precision_low"] <= truth["precision"] <= told[side]["precision_high"]
        assert 0.1 < told[side]["recall_low"] <= truth["recall"]


def test_work_that_stops_early_counts_as_far_as_it_went(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        work(store, take(store, 120).sample_id, most=60)
        told = estimated(store)
    assert (told["labelled"], told["waiting"], told["behind_a_gap"]) == (60, 60, 0)
    assert row(told, "baseline_only")["labelled"] == 12
    assert 0 < row(told, "both")["labelled"] < row(told, "both")["drawn"]


def test_labels_given_for_another_reason_are_no_draw(tmp_path: Path) -> None:
    """All leaks are labelled because they looked like leaks: the share of leaks among the labelled is 100 %."""
    with store_of(tmp_path, WORDS.records()) as store:
        drawn = take(store, 120)
        for _, name in drawn_ids(store, drawn.sample_id):
            if name.endswith("True"):
                say(store, name, True)
        told = estimated(store)
    assert told["behind_a_gap"] > 15
    for side, truth in TRUTH.items():
        assert told[side]["precision_low"] <= truth["precision"] <= told[side]["precision_high"]
        assert told[side]["leaks_found_low"] <= truth["recall"] * 50
        assert told[side]["recall_low"] <= truth["recall"]


def test_what_nobody_can_tell_is_no_truth_and_is_said(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        sample = take(store, 661).sample_id
        names = [name for stratum, name in drawn_ids(store, sample) if stratum == "both"]
        say(store, names[0], None)
        for by in ("ana", "bo"):
            say(store, names[1], by == "ana", by)
        label_all(store, sample)
        told = estimated(store)
    both = row(told, "both")
    assert (both["labelled"], both["unsure"], both["conflicts"], told["waiting"]) == (38, 1, 1, 0)
    side, leaks = told["baseline"], both["leaks"] + 4
    assert (side["precision_low"], side["precision_high"]) == (leaks / 52, (leaks + 2) / 52)


def test_one_label_answers_every_draw_of_the_same_output(tmp_path: Path) -> None:
    records = [said("hello", generation_id=f"same-{at}-False", run=f"r{at}") for at in range(50)]
    with store_of(tmp_path, records) as store:
        sample = take(store, 20).sample_id
        assert work(store, sample) == 1
        told = estimated(store)
    assert (told["outputs"], told["labelled"], row(told, "neither_no_trigger")["labelled"]) == (1, 20, 20)


def test_a_stratum_without_a_label_is_said(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        work(store, take(store, 120).sample_id, most=21)
        told = estimated(store)
        text = markdown(replay(store, FIRST, SECOND).as_json())
    assert told["unlabelled"] == ["both", "neither_no_trigger"]
    assert told["candidate"]["precision"] is None
    assert told["candidate"]["recall_low"] < 0.01
    assert "No label counts in “neither, no trigger” (600 generations): nothing is estimated of them." in text


@pytest.mark.parametrize(
    ("where", "told"),
    [
        pytest.param("run_id=r1 model=", True, id="the same filters in another order"),
        pytest.param("run_id=r1", False, id="other filters"),
        pytest.param("", False, id="no filter"),
    ],
)
def test_a_sample_speaks_of_its_own_filters_alone(where: str, told: bool, tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        take(store, 20, where="model= run_id=r1")
        assert (estimated(store, where=where) is not None) == told


def test_the_latest_sample_counts_and_keeps_what_is_labelled(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        work(store, take(store, 60).sample_id)
        later = take(store, 120).sample_id
        told = estimated(store)
        assert (told["sample"], told["labelled"], told["waiting"], told["behind_a_gap"]) == (later, 60, 60, 0)


def test_a_history_that_grew_is_said_and_drawing_again_keeps_the_labels(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        work(store, take(store, 120).sample_id)
        add(store, numbered(said(f"hello again {at}", run="new", generation_id=f"new-{at}-False") for at in range(100)))
        told = estimated(store)
        assert (told["population_changed"], told["generations"], told["labelled"]) == (True, 661, 120)
        sample = take(store, 120).sample_id
        assert work(store, sample) < 30
        told = estimated(store)
        assert (told["population_changed"], told["generations"], told["labelled"]) == (False, 761, 120)


def test_what_is_deleted_before_its_label_counts_against_the_bounds(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("hello 0"), said("hello 1")]) as store:
        add(store, [said("hello 2", generation_id="late", run="late")])
        sample = take(store, 3).sample_id
        delete(store, 2)
        assert work(store, sample) == 2
        told = estimated(store)
    stratum = row(told, "neither_no_trigger")
    assert (stratum["labelled"], stratum["gone"], stratum["waiting"]) == (2, 1, 0)
    assert (stratum["leak_low"], stratum["leak_high"]) == (0.0, pytest.approx(1 / 3))


def test_a_label_outlives_the_upload_that_it_was_given_on(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        sample = take(store, 30).sample_id
        work(store, sample)
        delete(store, 1)
        add(store, WORDS.records())
        assert work(store, sample) == 0
        assert estimated(store)["labelled"] == 30


def test_a_sample_of_a_detector_whose_source_changed_counts_no_more(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        work(store, take(store, 30).sample_id)
        assert estimated(store) is not None
        with store.transaction() as cursor:
            cursor.execute("UPDATE samples SET candidate_fingerprint = 'of other source'")
        assert estimated(store, FIRST, SECOND) is None


@pytest.mark.parametrize(
    ("states", "counted", "behind"),
    [
        pytest.param(["leak", "clean"], Stratum(9, 2, 1), 0, id="all answered"),
        pytest.param(["waiting", "leak"], Stratum(9, 0, 0, more_leaks=1), 1, id="the first waits"),
        pytest.param(["leak", "waiting", "clean", "unsure"], Stratum(9, 1, 1, more_clean=1), 2, id="a gap"),
        pytest.param(["unsure", "conflict", "gone"], Stratum(9, 3, 0, 3), 0, id="no truth at all"),
        pytest.param([], Stratum(9, 0, 0), 0, id="nothing drawn"),
    ],
)
def test_what_counts_ends_at_the_first_draw_that_waits(states: Any, counted: Stratum, behind: int) -> None:
    of = tally(9, states)
    assert (of.stratum, of.out_of_turn) == (counted, behind)


def bunched() -> list[dict[str, Any]]:
    """Outputs that repeat and leaks that bunch: a run has leaks in all its replies or in none, and half of all silent
    outputs are one and the same."""
    clean = [said("hello", run=f"c{at % 11}", generation_id=f"c-{at}-False") for at in range(400)]
    silent = [said(f"hello {at // 5}", run=f"s{at // 20}", generation_id=f"s-{at}-{at < 40}") for at in range(400)]
    found = [said(f"PRINTED {at // 3}", run=f"f{at // 12}", generation_id=f"f-{at}-{at < 72}") for at in range(120)]
    return [*clean, *silent, *found]


def covered(store: Store, seeds: int, budget: int = 120) -> tuple[float, float]:
    """How often the bounds hold over so many real draws from a real store, each fully labelled."""
    take(store, 1)
    names = dict(rows(store, "SELECT key::VARCHAR, generation_id FROM generations"))
    held = []
    with store.cursor() as cursor:
        sizes, _ = divide(cursor, FIRST, SECOND, Filters())
        for seed in range(seeds):
            strata = {}
            for name, size in sizes.items():
                drawn = budget // 4 if name == "both" else budget * 3 // 4 if name == "neither_no_trigger" else 0
                leaks = sum(names[key].endswith("True") for key in _keys(cursor, name, drawn, seed))
                strata[name] = Stratum(size, min(drawn, size), leaks)
            share, bound = figures(strata, "candidate")
            assert share.low is not None
            assert share.high is not None
            assert bound.low is not None
            held.append((share.low <= 72 / 120 <= share.high, bound.low <= 72 / 112))
    return sum(a for a, _ in held) / seeds, sum(b for _, b in held) / seeds


@pytest.mark.parametrize(
    "seeds", [pytest.param(60, id="few seeds"), pytest.param(1000, id="many seeds", marks=pytest.mark.slow)]
)
def test_outputs_that_repeat_and_runs_that_bunch_leaks_change_nothing(seeds: int, tmp_path: Path) -> None:
    with store_of(tmp_path, bunched()) as store:
        precision, recall = covered(store, seeds)
    assert precision >= 0.94
    assert recall >= 0.94


def test_the_estimates_of_both_detectors_stand_in_the_markdown(tmp_path: Path) -> None:
    with store_of(tmp_path, WORDS.records()) as store:
        label_all(store, take(store, 661).sample_id)
        text = markdown(replay(store, FIRST, SECOND).as_json())
    assert "Estimated for all 661 generations from sample 1: 661 of 661 drawn ones labelled" in text
    assert "| baseline | 65.4% [65.4%, 65.4%] (n = 52) | at least 68.0% (n = 661) |" in text
    assert "| the candidate alone | 9 | 9 | 9 | 66.7% [66.7%, 66.7%] |" in text
    assert set(FOUND) == set(TRUTH)
