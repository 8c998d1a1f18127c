"""Two groups of outputs, as before and after an upgrade: how far apart their rates are, and whether that is real.

Both groups may come in runs: then what counts is what their outputs are worth, the effective n of `Rate`.

Sources: Newcombe (1998), Statistics in Medicine 17:873-890 (method 10, the hybrid score interval; its examples are
checked); Farrington and Manning (1990), Statistics in Medicine 9:1447-1454, for the score test; Boschloo (1970),
Statistica Neerlandica 24:1-9; Lydersen, Fagerland and Laake (2009), Statistics in Medicine 28:1159-1175 (Fisher's
mid-p, where Boschloo's test takes too long).
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import boschloo_exact, hypergeom, norm

from analysis.statistics.intervals import Rate

SMALL = 5.0
"""Under so many expected hits, or misses, in a group the normal distribution is no guide (Cochran 1954)."""
BOSCHLOO_PAIRS = 10_000
"""Boschloo's test goes through all pairs of outcomes: a tenth of a second for so many."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The rate after less the rate before, with a 95 % interval and a two-sided p; None where a group is empty."""

    value: float | None
    low: float | None
    high: float | None
    p: float | None


def difference(before: Rate, after: Rate) -> Difference:
    """How the rate moved: Newcombe's interval from both Wilson intervals; `p_value` for whether it moved at all."""
    b, a = before, after
    if b.value is None or b.low is None or b.high is None or a.value is None or a.low is None or a.high is None:
        return Difference(None, None, None, None)
    value = a.value - b.value
    below = math.hypot(a.value - a.low, b.high - b.value)
    above = math.hypot(a.high - a.value, b.value - b.low)
    return Difference(value, max(-1.0, value - below), min(1.0, value + above), p_value(before, after))


def p_value(before: Rate, after: Rate) -> float:
    """Two-sided. The score test; where few hits or few misses are expected Boschloo's exact test, or in large groups
    Fisher's mid-p. Hits that come in runs are counted as what they are worth, rounded for the two exact tests.

    ValueError where a group is empty.
    """
    if before.effective_n is None or after.effective_n is None:
        raise ValueError("a group without outputs has no rate to compare")
    effects = _effects(before, after)
    sizes = before.n / effects[0], after.n / effects[1]
    hits = before.hits / effects[0], after.hits / effects[1]
    share = sum(hits) / sum(sizes)
    if share > 0.5:  # misses are the rare ones
        hits, share = (sizes[0] - hits[0], sizes[1] - hits[1]), 1 - share
    if min(sizes) * share >= SMALL:
        return _score_test(hits, sizes, share)
    return _small_counts(hits, sizes)


def _effects(before: Rate, after: Rate) -> tuple[float, float]:
    """The design effect of each group, at least that of both by their hits: if nothing changed runs bunch hits alike,
    and a group of few hits cannot tell by itself how they bunch."""
    own = [each.n / each.effective_n if each.effective_n else 1.0 for each in (before, after)]
    hits = before.hits + after.hits
    both = (before.hits * own[0] + after.hits * own[1]) / hits if hits else 1.0
    return max(own[0], both), max(own[1], both)


def _score_test(hits: tuple[float, float], sizes: tuple[float, float], share: float) -> float:
    error = math.sqrt(share * (1 - share) * (1 / sizes[0] + 1 / sizes[1]))
    return float(2 * norm.sf(abs(hits[0] / sizes[0] - hits[1] / sizes[1]) / error))


def _small_counts(hits: tuple[float, float], sizes: tuple[float, float]) -> float:
    first, second = (round(each) for each in hits)
    outputs = [max(round(size), hit) for size, hit in zip(sizes, (first, second), strict=True)]
    if first + second in (0, sum(outputs)):
        return 1.0
    if outputs[0] * outputs[1] > BOSCHLOO_PAIRS:
        return _mid_p(first, second, *outputs)
    table = [[first, second], [outputs[0] - first, outputs[1] - second]]
    return min(1.0, float(boschloo_exact(table).pvalue))


def _mid_p(first: int, second: int, n_first: int, n_second: int) -> float:
    """Fisher's test, with half the chance of tables as likely as the one seen."""
    total = first + second
    fewest, most = max(0, total - n_second), min(total, n_first)
    chances = hypergeom.pmf(np.arange(fewest, most + 1), n_first + n_second, n_first, total)
    seen = chances[first - fewest]
    alike = np.isclose(chances, seen, rtol=1e-7)
    return min(1.0, float(chances[(chances < seen) & ~alike].sum() + chances[alike].sum() / 2))
