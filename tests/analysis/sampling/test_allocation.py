"""A budget spread over strata: nothing lost, no stratum overfull, nothing taken away by a larger budget."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.sampling.allocation import allocate
from analysis.sampling.cells import STRATA
from analysis.sampling.reach import budgets, reach

SIZES = st.fixed_dictionaries({name: st.integers(0, 400) | st.just(10**7) for name in STRATA})


def sizes(*counts: int) -> dict[str, int]:
    return dict(zip(STRATA, counts, strict=True))


@pytest.mark.parametrize(
    ("of", "budget", "drawn"),
    [
        pytest.param((500, 500, 1000, 0, 10**6), 200, (50, 50, 25, 0, 75), id="half, an eighth, three eighths"),
        pytest.param((400, 100, 1000, 0, 10**6), 240, (80, 40, 30, 0, 90), id="by the square root within"),
        pytest.param((0, 0, 1000, 10_000, 10**6), 440, (0, 0, 110, 30, 300), id="without disagreements"),
        pytest.param((6, 2, 1000, 0, 10**6), 208, (6, 2, 50, 0, 150), id="few disagreements: all of them"),
        pytest.param((1, 1, 1, 1, 1), 5, (1, 1, 1, 1, 1), id="everything"),
        pytest.param((1, 0, 0, 0, 1), 9, (1, 0, 0, 0, 1), id="more than everything"),
        pytest.param((0, 0, 0, 0, 0), 9, (0, 0, 0, 0, 0), id="nothing there"),
    ],
)
def test_where_a_budget_goes(of: tuple[int, ...], budget: int, drawn: tuple[int, ...]) -> None:
    assert allocate(sizes(*of), budget) == sizes(*drawn)


@given(SIZES, st.integers(1, 3000))
def test_all_of_the_budget_is_spent_and_no_stratum_is_overdrawn(of: dict[str, int], budget: int) -> None:
    drawn = allocate(of, budget)
    assert sum(drawn.values()) == min(budget, sum(of.values()))
    assert all(0 <= drawn[name] <= of[name] for name in STRATA)


@given(SIZES, st.integers(1, 2000), st.integers(0, 500))
def test_a_larger_budget_takes_no_draw_away(of: dict[str, int], budget: int, more: int) -> None:
    less, larger = allocate(of, budget), allocate(of, budget + more)
    assert all(less[name] <= larger[name] for name in STRATA)


def test_reach_is_what_perfect_labels_would_show() -> None:
    of = sizes(0, 0, 2000, 0, 998_000)
    told = reach(of, allocate(of, 200))["candidate"]
    # 150 clean labels among a million: the whole error on them alone would give 0.09
    assert told["recall_low"] == pytest.approx(0.078, abs=0.002)
    assert told["precision_low"] == pytest.approx(0.025 ** (1 / 50), abs=0.003)
    assert reach(of, of) == {side: {"precision_low": 1.0, "recall_low": 1.0} for side in ("baseline", "candidate")}


@pytest.mark.parametrize(
    "of", [pytest.param((7, 9, 40, 100, 4000), id="small"), pytest.param((0, 0, 2000, 0, 10**6), id="large")]
)
def test_the_budget_for_a_bound_reaches_it_and_one_less_does_not(of: tuple[int, ...]) -> None:
    for each in budgets(sizes(*of)):
        enough = reach(sizes(*of), allocate(sizes(*of), each["budget"]))["candidate"]["recall_low"]
        short = reach(sizes(*of), allocate(sizes(*of), each["budget"] - 1))["candidate"]["recall_low"]
        assert enough is not None
        assert short is not None
        assert short < each["recall_low"] <= enough


def test_no_budget_bounds_the_recall_of_who_finds_nothing() -> None:
    assert {each["budget"] for each in budgets(sizes(5, 0, 0, 5, 100))} == {None}


def test_ten_million_are_spread_at_once() -> None:
    drawn = allocate(sizes(10**6, 10**6, 10**7, 10**7, 10**8), 10**7)
    assert sum(drawn.values()) == 10**7
    assert drawn["neither_no_trigger"] / drawn["neither_trigger"] == pytest.approx(math.sqrt(10), rel=1e-3)
