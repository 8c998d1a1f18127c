"""A draw: who is in which stratum, with which chance, in which order; the same again; and what is refused."""

from collections import Counter
from pathlib import Path

import pytest

from analysis.replay import replay
from analysis.sampling.cells import DISAGREEMENTS, STRATA
from analysis.sampling.samples import sample, samples
from ingest.errors import NotFound, UsageError
from tests.analysis.sampling.drawn import FIRST, SECOND, STRATUM, THIRD, Words, drawn_ids, take
from tests.analysis.stories import BOOM, called, rows, said, store_of

MANY = Words({"LEAK": 12, "MAYBE": 9, "PRINTED": 40, "TRIGGER": 30, "hello": 300}, {})


def test_every_generation_stands_in_the_stratum_of_its_cell_and_trigger(tmp_path: Path) -> None:
    with store_of(tmp_path, MANY.records()) as store:
        found = drawn_ids(store, take(store, 391, FIRST, THIRD).sample_id)
    assert {stratum for stratum, _ in found} == set(STRATA)
    assert [name for stratum, name in found if stratum != STRATUM[name.split("-")[0]]] == []


def test_the_strata_are_the_cells_of_the_replay(tmp_path: Path) -> None:
    others = [said(BOOM), said(""), said("LEAK", role="judge"), said("LEAK", model="x"), called(arguments='"MAYBE"')]
    with store_of(tmp_path, [*MANY.records(), *others]) as store:
        told = replay(store, FIRST, SECOND)
        sizes = take(store, 50).sizes
        assert [sizes[name] for name in ("both", "baseline_only", "candidate_only")] == [40, 13, 9]
        assert (told.both, told.baseline_only, told.candidate_only) == (40, 13, 9)
        assert sizes["neither_trigger"] + sizes["neither_no_trigger"] == told.neither
        assert take(store, 50).errors == told.baseline_errors == 1


@pytest.mark.parametrize(
    ("record", "has_trigger"),
    [
        pytest.param(said("a", reasoning="PRINTE"), False, id="no trigger"),
        pytest.param(said("a TRIGGER b"), True, id="in the content"),
        pytest.param(said("a", reasoning="TRIGGER"), True, id="in the reasoning"),
        pytest.param(called(arguments='{"a": "TRIGGER"}'), True, id="in the arguments of a call"),
        pytest.param(said("ls"), False, id="an offered name is none here"),
    ],
)
def test_a_trigger_in_any_channel_divides_the_silent_ones(
    record: dict[str, object], has_trigger: bool, tmp_path: Path
) -> None:
    with store_of(tmp_path, [record]) as store:
        assert take(store, 1, THIRD, THIRD).sizes["neither_trigger"] == has_trigger


def test_the_chance_of_each_draw_is_kept(tmp_path: Path) -> None:
    with store_of(tmp_path, MANY.records()) as store:
        drawn = take(store, 100)
        kept = rows(store, "SELECT stratum, count(*), min(probability), max(probability) FROM sample_items GROUP BY 1")
        assert {stratum: n for stratum, n, *_ in kept} == {name: n for name, n in drawn.drawn.items() if n}
        for stratum, n, low, high in kept:
            assert low == high == n / drawn.sizes[stratum]
        assert rows(store, "SELECT count(DISTINCT generation), min(place), max(place) FROM sample_items") == [
            (100, 1, 100)
        ]


def test_disagreements_come_first_and_the_rest_evenly_mixed(tmp_path: Path) -> None:
    with store_of(tmp_path, MANY.records()) as store:
        drawn = take(store, 100)
        order = [stratum for stratum, _ in drawn_ids(store, drawn.sample_id)]
    assert set(order[:21]) == set(DISAGREEMENTS)
    rest = order[21:]
    assert Counter(rest[: len(rest) // 2])["both"] == pytest.approx(rest.count("both") / 2, abs=1)


def test_the_same_seed_draws_the_same_and_another_draws_others(tmp_path: Path) -> None:
    with store_of(tmp_path, MANY.records()) as store:
        first, again, other = (drawn_ids(store, take(store, 60, seed=seed).sample_id) for seed in (1, 1, 2))
        assert first == again
        assert set(other) != set(first)


def test_a_larger_budget_holds_the_smaller_draw(tmp_path: Path) -> None:
    with store_of(tmp_path, MANY.records()) as store:
        small, large = (drawn_ids(store, take(store, budget).sample_id) for budget in (60, 150))
        assert set(small) < set(large)


def test_a_draw_for_another_candidate_is_mostly_what_was_drawn_before(tmp_path: Path) -> None:
    with store_of(tmp_path, MANY.records()) as store:
        before, after = (take(store, 90, FIRST, candidate).sample_id for candidate in (SECOND, THIRD))
        shared = {name for _, name in drawn_ids(store, before)} & {name for _, name in drawn_ids(store, after)}
        assert len(shared) > 75


def test_every_generation_of_a_stratum_is_drawn_as_often(tmp_path: Path) -> None:
    """Half of 40 outputs by 60 seeds: each is drawn about 30 times."""
    with store_of(tmp_path, Words({"hello": 40}, {}).records()) as store:
        counts = Counter(name for seed in range(60) for name in drawn_ids(store, take(store, 20, seed=seed).sample_id))
    assert len(counts) == 40
    assert max(abs(count - 30) for count in counts.values()) < 4 * (60 * 0.25) ** 0.5


def test_filters_make_the_population(tmp_path: Path) -> None:
    with store_of(tmp_path, MANY.records()) as store:
        drawn = take(store, 10, where="run_id=r1")
        [(runs,)] = rows(
            store, "SELECT list(DISTINCT g.run_id) FROM sample_items i JOIN generations g ON g.key = i.generation"
        )
        assert runs == ["r1"]
        assert sum(drawn.sizes.values()) == sum(-(-(count - 1) // 7) for count in MANY.outputs.values())
        assert sample(store, drawn.sample_id)["where"] == ["run_id=r1"]


def test_a_sample_tells_its_strata_and_what_it_can_reach(tmp_path: Path) -> None:
    with store_of(tmp_path, [*MANY.records(), *[said("twice", generation_id=f"t{at}") for at in range(60)]]) as store:
        take(store, 20)
        told = sample(store, take(store, 200).sample_id)
        assert (told["sample"], told["generations"], told["drawn"], told["labelled"]) == (2, 451, 200, 0)
        assert told["outputs"] < 200
        assert [row["stratum"] for row in told["strata"]] == list(STRATA)
        assert 0 < told["reach"]["candidate"]["recall_low"] < 1
        assert [each["recall_low"] for each in told["budgets"]] == [0.5, 0.8, 0.9]
        assert [each["sample"] for each in samples(store)] == [2, 1]
        with pytest.raises(NotFound, match="no sample 9"):
            sample(store, 9)


@pytest.mark.parametrize(
    ("call", "said_of_it"),
    [
        pytest.param({"budget": 392}, "--budget 392: there are only 391 generations", id="more than there are"),
        pytest.param({"budget": 0}, "--budget 0: ask for at least one", id="nothing"),
        pytest.param({"budget": -5}, "--budget -5: ask for at least one", id="less than nothing"),
        pytest.param({"budget": 5, "where": "model=none"}, "no generation to draw", id="a filter that matches nothing"),
        pytest.param({"budget": 5, "seed": -1}, "--seed -1: give a number", id="a negative seed"),
        pytest.param({"budget": 5, "seed": 2**63}, "give a number from 0 to", id="a seed beyond all"),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_nothing_kept(
    call: dict[str, object], said_of_it: str, tmp_path: Path
) -> None:
    with store_of(tmp_path, MANY.records()) as store:
        with pytest.raises(UsageError, match=said_of_it):
            take(store, **call)  # type: ignore[arg-type]
        assert samples(store) == []


def test_everything_can_be_drawn(tmp_path: Path) -> None:
    with store_of(tmp_path, MANY.records()) as store:
        assert take(store, 391).drawn == take(store, 391).sizes
