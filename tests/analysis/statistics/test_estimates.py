"""Estimates from observed categories: their values, their intervals, their sums."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from analysis.statistics.estimates import Estimate, Pool, proportion, share, summed
from analysis.statistics.intervals import clustered_rate, rate


def pool_of(counts: Mapping[str, int]) -> Pool[str]:
    """Each observation in a run of its own."""
    found = Pool[str]()
    for at, category in enumerate(each for each, n in counts.items() for _ in range(n)):
        found.add(at, category)
    return found


def in_runs(runs: Sequence[tuple[int, int]]) -> Pool[bool]:
    """Runs of (hits, n)."""
    found = Pool[bool]()
    for at, (hits, n) in enumerate(runs):
        for number in range(n):
            found.add(at, number < hits)
    return found


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param([(1, 2), (0, 1)], id="few runs"),
        pytest.param([(n % 3, 3) for n in range(20)], id="many runs"),
        pytest.param([(0, 5)] * 10 + [(5, 5)] * 10, id="runs that agree with themselves"),
        pytest.param([(0, 4)] * 12, id="no hit"),
        pytest.param([(4, 4)] * 12, id="nothing but hits"),
    ],
)
def test_a_proportion_is_the_rate_of_the_same_runs(runs: list[tuple[int, int]]) -> None:
    found, known = proportion(in_runs(runs)), clustered_rate(runs)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((known.value, known.low, known.high))


def test_of_nothing_there_is_no_proportion() -> None:
    assert proportion(Pool()) is None


def test_a_figure_that_grows_faster_is_less_sure() -> None:
    pool = pool_of({"good": 5, "again": 2, "bad": 2})
    good, again = 5 / 9, 2 / 9
    once = share(good, {"good": 1, "again": 0, "bad": 0}, pool)
    assert (once.low, once.high) == pytest.approx((rate(5, 9).low, rate(5, 9).high))
    value = good + again * good
    flat = share(value, {"good": 1, "again": 0, "bad": 0}, pool)
    steep = share(value, {"good": 1 + again, "again": good, "bad": 0}, pool)
    assert steep.low < flat.low < value < flat.high < steep.high


def test_a_sum_is_surer_than_its_parts() -> None:
    part = Estimate(0.5, 0.3, 0.7)
    assert summed([(10, part)]) == Estimate(5, pytest.approx(3), pytest.approx(7))  # type: ignore[arg-type]
    both = summed([(10, part), (10, part)])
    assert both.value == 10
    assert (both.low, both.high) == pytest.approx((10 - 2 * 2**0.5, 10 + 2 * 2**0.5))
    assert summed([]) == Estimate(0, 0, 0)


def test_how_often_the_interval_of_a_second_try_covers() -> None:
    """Three strata of 30 observed retries, ten waiting rounds in each, two tries: nominal 95 %."""
    dice, categories = np.random.default_rng(3), ("good", "again", "bad")
    truth = {(0.6, 0.2, 0.2): 0.72, (0.3, 0.4, 0.3): 0.42, (0.8, 0.1, 0.1): 0.88}
    covered = 0
    for _ in range(300):
        parts = []
        for chances in truth:
            pool = pool_of(dict(zip(categories, dice.multinomial(30, chances).tolist(), strict=True)))
            good, again = (pool.shares.get(each, 0.0) for each in ("good", "again"))
            parts.append((10, share(good + again * good, {"good": 1 + again, "again": good, "bad": 0}, pool)))
        found = summed(parts)
        covered += found.low <= 10 * sum(truth.values()) <= found.high
    assert 0.92 <= covered / 300 <= 0.99
