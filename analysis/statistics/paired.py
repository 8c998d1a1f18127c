"""Two detectors on the same outputs: only the outputs on which they differ say which is better, and by how much."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from analysis.statistics.intervals import FEWEST_RUNS, Z

_BESIDE = 1e-12
"""How far from the estimate a limit is looked for: at the estimate itself the variance may be zero."""
_EXACT = 1e-13
"""How close a limit is found."""


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided p of McNemar's exact test: the discordant pairs are fair coin tosses if neither is better.

    1.0 without a discordant pair; ValueError for a negative count. Source: McNemar (1947), Psychometrika
    12:153-157, in its exact conditional form (Fagerland et al. 2013, BMC Med Res Methodol 13:91).
    """
    if only_first < 0 or only_second < 0:
        raise ValueError(f"{only_first} and {only_second} are no counts of pairs")
    if only_first + only_second == 0:
        return 1.0
    from scipy.special import bdtr  # takes a quarter of a second, and only labels ask for it

    # a fair coin's tails are alike, so the two-sided p is twice the smaller one
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), only_first + only_second, 0.5)))


@dataclass(frozen=True, slots=True)
class Difference:
    """The second's share less the first's, of the same `n` outputs, with a 95 % interval; None where n is 0."""

    only_first: int
    only_second: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    effective_n: float | None


def paired_difference(clusters: Iterable[tuple[int, int, int]]) -> Difference:
    """Outputs that come in runs, one (only first, only second, n) a run; see `paired_difference_from_sums`."""
    first = second = n = runs = sum_nn = sum_nd = sum_dd = 0
    for only_first, only_second, outputs in clusters:
        _check(only_first, only_second, outputs)
        first, second, n, runs = first + only_first, second + only_second, n + outputs, runs + (outputs > 0)
        more = only_second - only_first
        sum_nn, sum_nd, sum_dd = sum_nn + outputs**2, sum_nd + outputs * more, sum_dd + more**2
    return paired_difference_from_sums(first, second, n, runs, sum_nn, sum_nd, sum_dd)


def paired_difference_from_sums(
    only_first: int, only_second: int, n: int, runs: int, sum_nn: int, sum_nd: int, sum_dd: int
) -> Difference:
    """Tango's score interval on an effective n, from a rollup: with d = only second - only first in each run, the
    sums over runs of n*n, n*d and d*d.

    The effective n is as for a rate (`clustered_rate_from_sums`): n divided by the design effect of the mean of d,
    at least 1; plain under ten runs and without differing outputs. ValueError for counts that no outputs have.
    """
    _check(only_first, only_second, n)
    if n == 0:
        return Difference(0, 0, 0, None, None, None, None)
    effect = _design_effect(only_first, only_second, n, runs, sum_nn, sum_nd, sum_dd) if runs >= FEWEST_RUNS else 1.0
    low, high = tango(only_first / effect, only_second / effect, n / effect)
    value = (only_second - only_first) / n
    return Difference(only_first, only_second, n, value, min(low, value), max(high, value), n / effect)


def _design_effect(
    only_first: int, only_second: int, n: int, runs: int, sum_nn: int, sum_nd: int, sum_dd: int
) -> float:
    """Linearised variance of the mean of d over runs, divided by that of independent outputs; at least 1."""
    more = only_second - only_first
    independent = n * (only_first + only_second) - more**2
    if independent == 0:
        return 1.0
    squares = n * n * sum_dd - 2 * more * n * sum_nd + more * more * sum_nn
    if squares < 0:
        raise ValueError("no runs have these sums: the squared residuals add up to less than zero")
    # both are n^4 times a variance; integers, since in floating point the large terms cancel
    return max(1.0, runs / (runs - 1) * (squares / (n * independent)))


def tango(only_first: float, only_second: float, n: float) -> tuple[float, float]:
    """The 95 % score interval for a difference of paired proportions, second less first.

    Counts need not be whole: those of an effective n are not. Source: Tango (1998), Statistics in Medicine
    17:891-908; recommended by Fagerland, Lydersen and Laake (2014), Statistics in Medicine 33:2850-2875.
    Neither statsmodels nor scipy has it.
    """
    return _lower(only_first, only_second, n), -_lower(only_second, only_first, n)


def _lower(against: float, in_favour: float, n: float) -> float:
    """The difference below the estimate at which the score statistic reaches `Z`."""

    def beyond(delta: float) -> float:
        # q: the share of `against` that is likeliest if the difference is delta
        b = -in_favour - against + (2 * n - in_favour + against) * delta
        q = (math.sqrt(max(0.0, b * b + 8 * n * against * delta * (1 - delta))) - b) / (4 * n)
        variance = n * max(0.0, 2 * q + delta * (1 - delta))
        return in_favour - against - n * delta - Z * math.sqrt(variance)

    nearest = (in_favour - against) / n - _BESIDE
    if nearest <= -1.0 or beyond(nearest) >= 0.0:
        return max(-1.0, nearest)
    return _root(beyond, -1.0, nearest)


def _root(of: Callable[[float], float], positive: float, negative: float) -> float:
    """Where `of` goes through zero, by halving. (`scipy.optimize` takes a third of a second to load, as long as some
    replays.)"""
    while abs(positive - negative) > _EXACT:
        middle = (positive + negative) / 2
        if of(middle) > 0.0:
            positive = middle
        else:
            negative = middle
    return (positive + negative) / 2


def _check(only_first: int, only_second: int, n: int) -> None:
    if min(only_first, only_second) < 0 or only_first + only_second > n:
        raise ValueError(f"{only_first} and {only_second} differing of {n} are no counts of pairs")
