"""Intervals: published values, what clusters do to them, and how often they hold the true rate."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from analysis.statistics.intervals import Rate, clustered_rate, clustered_rate_from_sums, rate, wilson

Runs = list[tuple[int, int]]

RUN = st.integers(0, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
RUNS = st.lists(RUN, max_size=60)


def bounds(of: Rate) -> tuple[float, float]:
    assert of.low is not None
    assert of.high is not None
    return of.low, of.high


def width(of: Rate) -> float:
    low, high = bounds(of)
    return high - low


def sums(runs: Runs) -> tuple[int, int, int, int, int, int]:
    kept = [(y, n) for y, n in runs if n]
    return (
        sum(y for y, _ in kept),
        sum(n for _, n in kept),
        len(kept),
        sum(n * n for _, n in kept),
        sum(n * y for y, n in kept),
        sum(y * y for y, _ in kept),
    )


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        pytest.param(81, 263, 0.2553, 0.3662, id="Newcombe 1998 table I, 81 of 263"),
        pytest.param(15, 148, 0.0624, 0.1605, id="Newcombe 1998 table I, 15 of 148"),
        pytest.param(0, 20, 0.0, 0.1611, id="Newcombe 1998 table I, 0 of 20"),
        pytest.param(1, 29, 0.0061, 0.1718, id="Newcombe 1998 table I, 1 of 29"),
        pytest.param(2, 300, 0.0018, 0.0240, id="2 of 300"),
    ],
)
def test_wilson_gives_the_published_bounds(hits: int, n: int, low: float, high: float) -> None:
    assert bounds(rate(hits, n)) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 10_000), st.floats(0.5, 1e7))
def test_wilson_is_that_of_statsmodels(hits: int, n: float) -> None:
    value = hits / 10_000
    low, high = proportion_confint(value * n, n, alpha=0.05, method="wilson")
    assert wilson(value, n) == pytest.approx((min(low, value), max(high, value)), abs=1e-12)


@pytest.mark.parametrize(
    "nothing",
    [
        pytest.param(rate(0, 0), id="no outputs"),
        pytest.param(clustered_rate([]), id="no runs"),
        pytest.param(clustered_rate([(0, 0)] * 20), id="twenty runs without an output"),
    ],
)
def test_no_tries_are_no_rate(nothing: Rate) -> None:
    assert nothing == Rate(0, 0, None, None, None, None)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda: rate(3, 2), id="more hits than outputs"),
        pytest.param(lambda: rate(-1, 2), id="negative hits"),
        pytest.param(lambda: rate(0, -1), id="negative outputs"),
        pytest.param(lambda: clustered_rate([(3, 2), (0, 10)]), id="one run with more hits than outputs"),
        pytest.param(lambda: clustered_rate_from_sums(9, 4, 12, 4, 4, 4), id="sums with more hits than outputs"),
        pytest.param(lambda: clustered_rate_from_sums(5, 20, 12, 1, 90, 1), id="sums that no runs have"),
    ],
)
def test_counts_that_cannot_be_are_refused(call: Callable[[], Rate]) -> None:
    with pytest.raises(ValueError, match=r"is no rate|no runs have these sums"):
        call()


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param([(5, 5), (0, 5)] * 4 + [(0, 5)], id="nine runs"),
        pytest.param([(5, 5), (0, 5)] * 4 + [(0, 5), (0, 0)], id="nine runs with outputs and an empty one"),
        pytest.param([(0, 5)] * 40, id="no hits"),
        pytest.param([(5, 5)] * 40, id="all hits"),
    ],
)
def test_plain_wilson_where_runs_cannot_tell(runs: Runs) -> None:
    hits, n, *_ = sums(runs)
    assert clustered_rate(runs) == rate(hits, n)


def test_runs_that_hit_in_all_or_none_are_worth_about_one_output_each() -> None:
    found = clustered_rate([(5, 5)] * 10 + [(0, 5)] * 30)
    assert (found.hits, found.n) == (50, 200)
    assert found.effective_n == pytest.approx(39.0)  # m - 1 of m = 40 runs
    assert bounds(found) == pytest.approx(bounds(rate(10, 40)), abs=0.003)


def test_a_design_effect_worked_by_hand() -> None:
    """Ten runs of 4 with 0, 0, 0, 0, 0, 1, 1, 2, 2, 4 hits: p 0.25, squares 16, variance 10/9 * 16/40^2."""
    found = clustered_rate([(y, 4) for y in (0, 0, 0, 0, 0, 1, 1, 2, 2, 4)])
    variance = 10 / 9 * 16 / 40**2
    assert found.value == 0.25
    assert found.effective_n == pytest.approx(0.25 * 0.75 / variance)


def test_runs_of_one_output_are_nearly_independent_outputs() -> None:
    found = clustered_rate([(1, 1)] * 12 + [(0, 1)] * 88)
    assert found.effective_n == pytest.approx(99.0)
    assert bounds(found) == pytest.approx(bounds(rate(12, 100)), abs=0.001)


def test_runs_more_alike_than_chance_never_narrow_the_interval() -> None:
    assert clustered_rate([(1, 10)] * 40) == rate(40, 400)


@given(RUNS)
def test_the_interval_holds_its_value_and_stays_a_proportion(runs: Runs) -> None:
    found = clustered_rate(runs)
    assume(found.n > 0)
    low, high = bounds(found)
    assert found.value is not None
    assert found.effective_n is not None
    assert 0 <= low <= found.value <= high <= 1
    assert 0 < found.effective_n <= found.n


@given(RUNS)
def test_the_clustered_interval_is_never_narrower_than_the_plain_one(runs: Runs) -> None:
    found = clustered_rate(runs)
    assume(found.n > 0)
    plain = rate(found.hits, found.n)
    assert width(found) >= width(plain) - 1e-12


@given(RUNS)
def test_the_sums_of_a_rollup_say_the_same_as_the_runs(runs: Runs) -> None:
    assert clustered_rate_from_sums(*sums(runs)) == clustered_rate(runs)


@given(st.integers(1, 39), st.integers(2, 12))
def test_the_larger_the_runs_the_less_each_output_says(hitting: int, size: int) -> None:
    """All-or-none runs: the same outputs in larger runs have a wider interval."""
    small = clustered_rate([(1, 1)] * (hitting * size) + [(0, 1)] * ((40 - hitting) * size))
    large = clustered_rate([(size, size)] * hitting + [(0, size)] * (40 - hitting))
    assert small.value == large.value
    assert width(large) > width(small)


def test_sums_past_double_precision_keep_their_design_effect() -> None:
    """Forty million runs of ten, half of them with two hits: a design effect of 10/9."""
    hits, n, runs, sum_nn, sum_ny, sum_yy = (10**6 * part for part in sums([(2, 10), (0, 10)] * 20))
    found = clustered_rate_from_sums(hits, n, runs, sum_nn, sum_ny, sum_yy)
    assert found.effective_n == pytest.approx(0.9 * n, rel=1e-6)


def coverage(runs: int, size: int, p: float, correlation: float, times: int) -> tuple[float, float]:
    """Share of beta-binomial samples whose interval holds p: clustered, and plain."""
    chance = np.random.default_rng(20261128)
    weight = 1 / correlation - 1
    hits = chance.binomial(size, chance.beta(p * weight, (1 - p) * weight, (times, runs)))
    clustered = [bounds(clustered_rate([(int(y), size) for y in sample])) for sample in hits]
    plain = [bounds(rate(int(sample.sum()), runs * size)) for sample in hits]
    return (
        sum(low <= p <= high for low, high in clustered) / times,
        sum(low <= p <= high for low, high in plain) / times,
    )


def test_clustered_runs_are_covered_where_plain_wilson_fails() -> None:
    clustered, plain = coverage(runs=40, size=10, p=0.1, correlation=0.2, times=2000)
    assert 0.93 <= clustered <= 0.99
    assert plain < 0.80


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "size", "p", "correlation", "least"),
    [
        pytest.param(40, 10, 0.1, 0.2, 0.93, id="the usual case"),
        pytest.param(200, 10, 0.1, 0.2, 0.94, id="many runs"),
        pytest.param(40, 5, 0.05, 0.05, 0.94, id="hardly clustered"),
        pytest.param(100, 5, 0.02, 0.1, 0.93, id="rare hits, many runs"),
        pytest.param(10, 10, 0.1, 0.2, 0.90, id="fewest runs"),
        pytest.param(40, 10, 0.01, 0.2, 0.84, id="rare hits that come bunched: known to be short"),
    ],
)
def test_coverage_of_a_nominal_95_percent(runs: int, size: int, p: float, correlation: float, least: float) -> None:
    clustered, plain = coverage(runs, size, p, correlation, times=40_000)
    assert least <= clustered <= 0.99
    assert clustered > plain
