"""McNemar's exact test and Tango's interval against published examples."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from analysis.statistics.intervals import Z
from analysis.statistics.paired import mcnemar_exact, paired_difference, tango

COUNT = st.integers(0, 300)


@pytest.mark.parametrize(
    ("only_first", "only_second", "p", "digits"),
    [
        pytest.param(12, 2, 0.0129, 4, id="two culture media, Armitage and Berry 1994 p. 127, after Liddell 1983"),
        pytest.param(1, 7, 0.070, 3, id="airway responsiveness, Bentur 2009 in Fagerland 2013"),
        pytest.param(70, 59, 0.378688, 6, id="VassarStats, as quoted by statsmodels: 70 and 59"),
        pytest.param(80, 59, 0.089452, 6, id="VassarStats, as quoted by statsmodels: 80 and 59"),
        pytest.param(10, 30, 0.002221, 6, id="VassarStats, as quoted by statsmodels: 10 and 30"),
    ],
)
def test_published_examples(only_first: int, only_second: int, p: float, digits: int) -> None:
    assert round(mcnemar_exact(only_first, only_second), digits) == p


@pytest.mark.parametrize("each", [pytest.param(0, id="no discordant pair"), pytest.param(10, id="ten on each side")])
def test_an_even_split_says_nothing(each: int) -> None:
    assert mcnemar_exact(each, each) == 1.0


def test_five_against_none_cannot_reach_five_percent() -> None:
    assert mcnemar_exact(5, 0) == pytest.approx(2 / 2**5)
    assert mcnemar_exact(6, 0) == pytest.approx(2 / 2**6)


@pytest.mark.parametrize("pair", [pytest.param((-1, 3), id="first"), pytest.param((3, -1), id="second")])
def test_negative_counts_are_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no counts of pairs"):
        mcnemar_exact(*pair)


@given(COUNT, COUNT)
def test_it_is_the_exact_binomial_test_of_scipy(first: int, second: int) -> None:
    p = binomtest(first, first + second, 0.5).pvalue if first + second else 1.0
    assert mcnemar_exact(first, second) == pytest.approx(p, rel=1e-9)


@given(COUNT, COUNT)
def test_it_takes_no_side(first: int, second: int) -> None:
    assert mcnemar_exact(first, second) == mcnemar_exact(second, first)
    assert 0 < mcnemar_exact(first, second) <= 1


@given(COUNT, st.integers(0, 300))
def test_a_wider_gap_is_never_less_sure(each: int, gap: int) -> None:
    """Two pairs moved from the smaller side to the larger, their number held: p falls or stays."""
    total = 2 * each + gap + 2
    assert mcnemar_exact(each, total - each) <= mcnemar_exact(each + 1, total - each - 1)


@pytest.mark.parametrize(
    ("only_first", "only_second", "n", "low", "high", "digits"),
    [
        pytest.param(16, 6, 161, -0.1240, -0.0054, 4, id="complete response, Cavo 2012 in Fagerland 2014"),
        pytest.param(7, 1, 21, -0.517, -0.026, 3, id="airway responsiveness, Bentur 2009 in Fagerland 2014"),
    ],
)
def test_published_intervals(only_first: int, only_second: int, n: int, low: float, high: float, digits: int) -> None:
    found = tango(only_first, only_second, n)
    assert tuple(round(end, digits) for end in found) == (low, high)


def test_without_a_differing_output_the_interval_is_that_of_the_score_statistic() -> None:
    """With no discordant pair the statistic is n d^2 / (|d| (1 - |d|)), so the limit is z^2 / (n + z^2)."""
    low, high = tango(0, 0, 100)
    assert high == pytest.approx(Z**2 / (100 + Z**2), abs=1e-9)
    assert low == -high


CELLS = st.tuples(COUNT, COUNT, COUNT).filter(lambda cell: sum(cell) > 0)


@given(CELLS)
def test_an_interval_holds_its_value_and_takes_no_side(cells: tuple[int, int, int]) -> None:
    first, second, rest = cells
    n = first + second + rest
    low, high = tango(first, second, n)
    assert -1 <= low <= (second - first) / n + 1e-9
    assert (second - first) / n - 1e-9 <= high <= 1
    assert tango(second, first, n) == (-high, -low)


@given(CELLS)
def test_the_statistic_at_a_limit_is_z(cells: tuple[int, int, int]) -> None:
    """Tango's statistic, from its definition: the likeliest share of one kind of pair, the difference being given."""
    first, second, rest = cells
    n = first + second + rest
    low, _ = tango(first, second, n)
    if -1 < low < (second - first) / n - 1e-6:
        b, c = (2 * n - second + first) * low - first - second, -first * low * (1 - low)
        q = (math.sqrt(b * b - 8 * n * c) - b) / (4 * n)
        statistic = (second - first - n * low) / math.sqrt(n * (2 * q + low * (1 - low)))
        assert statistic == pytest.approx(Z, rel=1e-4)


def test_no_outputs_make_no_difference() -> None:
    found = paired_difference([])
    assert (found.n, found.value, found.low, found.high) == (0, None, None, None)


def test_outputs_that_come_in_runs_are_less_sure() -> None:
    """Twenty runs of ten, in two of which all differ: as sure as some twenty outputs, and not as two hundred."""
    runs = [(10, 0, 10) if at < 2 else (0, 0, 10) for at in range(20)]
    clustered, independent = paired_difference(runs), tango(20, 0, 200)
    assert clustered.value == -0.1
    assert clustered.low is not None
    assert clustered.low < independent[0]
    assert clustered.effective_n == pytest.approx(20 * 0.95, rel=0.01)


def test_runs_of_one_are_nearly_as_sure_as_outputs_of_their_own() -> None:
    found = paired_difference([(1, 0, 1)] * 10 + [(0, 1, 1)] * 4 + [(0, 0, 1)] * 86)
    assert found.effective_n == pytest.approx(100, rel=0.02)


@pytest.mark.parametrize(
    "cells",
    [pytest.param((-1, 0, 3), id="a negative count"), pytest.param((2, 2, 3), id="more differing than there are")],
)
def test_counts_that_no_outputs_have_are_refused(cells: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="no counts of pairs"):
        paired_difference([cells])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gained", "lost"),
    [
        pytest.param(0.02, 0.01, id="few differ"),
        pytest.param(0.1, 0.02, id="one finds more"),
        pytest.param(0.05, 0.05, id="as many either way"),
    ],
)
def test_the_interval_covers_the_difference_as_often_as_it_says(gained: float, lost: float) -> None:
    """Forty runs of ten outputs, correlated within a run; nominal 95 %, at least 90 % as for rates."""
    thrown = random.Random(7)  # noqa: S311 - no cryptography
    trials, covered = 600, 0
    for _ in range(trials):
        runs = []
        for _ in range(40):
            # beta-distributed chances with a correlation of 0.1 within the run
            both = gained + lost
            share = thrown.betavariate(both * 9, (1 - both) * 9)
            second = sum(thrown.random() < share * gained / both for _ in range(10))
            first = sum(thrown.random() < share * lost / both for _ in range(10 - second))
            runs.append((first, second, 10))
        found = paired_difference(runs)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= gained - lost <= found.high
    assert covered / trials >= 0.90
