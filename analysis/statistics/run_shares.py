"""The mean of runs' shares, and what it is at the most: what is usual of a line, as a bettor has to know it.

A run is one observation, its share of hits from 0 to 1, whatever its size and however its hits bunch.

Sources: Wilson (1927), JASA 22:209-212, on an effective sample size (Korn and Graubard 1998, Survey Methodology
24:193-201): as many independent outputs as would give the mean the variance that it has.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

Z = 2.5758293035489004
"""The 99.5 % point of the normal distribution."""
Counts = NDArray[np.int64]


def upper_share(n: Counts, hits: Counts, runs: Counts) -> float:
    """A one-sided upper bound at 99.5 % for the mean share of runs, from `runs` runs of `n` outputs and `hits` each.

    ValueError without a run, and for one without outputs.
    """
    if not runs.sum() or (n < 1).any():
        raise ValueError("no run with an output has a share to go by")
    shares = hits / n
    mean = float(np.average(shares, weights=runs))
    effective = _effective_n(n, shares, runs, mean)
    weight = 1 + Z**2 / effective
    reach = Z * sqrt(mean * (1 - mean) / effective + Z**2 / (4 * effective**2))
    return min(1.0, (mean + Z**2 / (2 * effective) + reach) / weight)


def _effective_n(n: Counts, shares: NDArray[np.float64], runs: Counts, mean: float) -> float:
    """No more than independent outputs would give: runs squared over the sum of 1/n, all of them if runs are alike."""
    count = int(runs.sum())
    independent = count**2 / float((runs / n).sum())
    squares = float((runs * (shares - mean) ** 2).sum())
    if count < 2 or squares <= 0 or mean in (0.0, 1.0):
        return independent
    return min(independent, mean * (1 - mean) * count * (count - 1) / squares)
