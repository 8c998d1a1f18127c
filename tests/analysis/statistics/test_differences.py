"""Differences of two groups: published intervals, which test is used where, and what runs do to both."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import boschloo_exact, fisher_exact

from analysis.statistics.differences import difference, p_value
from analysis.statistics.intervals import clustered_rate, rate
from tests.analysis.statistics.simulated_series import Line, compared


@pytest.mark.parametrize(
    ("after", "before", "low", "high"),
    [
        pytest.param((56, 70), (48, 80), 0.0524, 0.3339, id="Newcombe 1998 (a)"),
        pytest.param((9, 10), (3, 10), 0.1705, 0.8090, id="Newcombe 1998 (b)"),
        pytest.param((6, 7), (2, 7), 0.0582, 0.8062, id="Newcombe 1998 (c)"),
        pytest.param((5, 56), (0, 29), -0.0381, 0.1926, id="Newcombe 1998 (d)"),
        pytest.param((0, 10), (0, 20), -0.1611, 0.2775, id="Newcombe 1998 (e)"),
        pytest.param((0, 10), (0, 10), -0.2775, 0.2775, id="Newcombe 1998 (f)"),
        pytest.param((10, 10), (0, 20), 0.6791, 1.0, id="Newcombe 1998 (g)"),
        pytest.param((10, 10), (0, 10), 0.6075, 1.0, id="Newcombe 1998 (h)"),
    ],
)
def test_the_interval_is_the_published_one(
    after: tuple[int, int], before: tuple[int, int], low: float, high: float
) -> None:
    found = difference(rate(*before), rate(*after))
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)
    assert found.value == pytest.approx(after[0] / after[1] - before[0] / before[1])


@pytest.mark.parametrize(
    ("before", "after", "p"),
    [
        pytest.param((3, 30), (4, 40), boschloo_exact([[3, 4], [27, 36]]).pvalue, id="few hits: Boschloo"),
        pytest.param((27, 30), (36, 40), boschloo_exact([[3, 4], [27, 36]]).pvalue, id="few misses: the same"),
        # as many before as after: mid-p is the chance of both tails, less that of one table
        pytest.param((1, 5_000), (6, 5_000), 0.125 - 2 * 7 / 2**7 / 2, id="rare hits in large groups: Fisher's mid-p"),
        pytest.param((0, 9_000), (1, 1_000), fisher_exact([[0, 1], [9_000, 999]]).pvalue / 2, id="one hit: half of it"),
        pytest.param((12, 600), (30, 700), 0.0202, id="many hits: score test"),
        pytest.param((0, 50), (0, 60), 1.0, id="no hits"),
        pytest.param((50, 50), (60, 60), 1.0, id="no misses"),
        pytest.param((0, 100_000), (100, 100), 0.0, id="all against none"),
    ],
)
def test_the_test_fits_the_counts(before: tuple[int, int], after: tuple[int, int], p: float) -> None:
    assert p_value(rate(*before), rate(*after)) == pytest.approx(p, abs=1e-4)


def test_an_empty_group_says_nothing() -> None:
    empty = difference(rate(0, 0), rate(3, 10))
    assert (empty.value, empty.low, empty.high, empty.p) == (None, None, None, None)
    with pytest.raises(ValueError, match="without outputs"):
        p_value(rate(0, 0), rate(3, 10))


def test_hits_that_come_in_few_runs_prove_less() -> None:
    before = clustered_rate([(0, 10)] * 99 + [(1, 10)])
    spread = clustered_rate([(1, 10)] * 30 + [(0, 10)] * 70)
    bunched = clustered_rate([(10, 10)] * 3 + [(0, 10)] * 97)
    assert p_value(before, spread) < 1e-6 < 0.001 < p_value(before, bunched)


COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, COUNTS)
def test_swapped_groups_differ_by_the_sign_alone(one: tuple[int, int], other: tuple[int, int]) -> None:
    there, back = difference(rate(*one), rate(*other)), difference(rate(*other), rate(*one))
    assert there.value is not None
    assert there.low is not None
    assert there.high is not None
    assert back.low is not None
    assert -1.0 <= there.low <= there.value <= there.high <= 1.0
    assert there.high == pytest.approx(-back.low)
    assert there.p is not None
    assert 0.0 <= there.p <= 1.0
    assert there.p == pytest.approx(back.p, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [pytest.param(False, id="independent"), pytest.param(True, id="clustered")])
@pytest.mark.parametrize("leaks", [0.002, 0.02, 0.2])
def test_two_versions_that_leak_alike_seldom_look_different(leaks: float, clustered: bool) -> None:
    got = compared(Line(leaks, 100, clustered), times=1_000)
    bunched = clustered and leaks == 0.002
    assert got.covered >= (0.88 if bunched else 0.93)
    assert got.below_5 <= 0.08
    assert got.below_1 <= 0.03


@pytest.mark.slow
def test_a_threefold_rate_is_seen() -> None:
    assert compared(Line(0.02, 100, clustered=True, after=0.06), times=300).below_1 >= 0.95


def test_a_true_difference_of_nothing_is_in_the_interval_of_equal_groups() -> None:
    chance = np.random.default_rng(1)
    for hits in chance.binomial(200, 0.1, 20).tolist():
        found = difference(rate(hits, 200), rate(hits, 200))
        assert found.value == 0.0
        assert found.p == pytest.approx(1.0)
