"""Many questions asked at once: some look significant by chance alone.

Sources: Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57:289-300 (the expected share of
false discoveries); Holm (1979), Scandinavian Journal of Statistics 6:65-70 (the chance of any false one).
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import false_discovery_control


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """q of each: the smallest false discovery rate at which it counts as a discovery."""
    return [float(q) for q in false_discovery_control(p_values, method="bh")] if p_values else []


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p adjusted so that the chance of any false alarm among them all is what is asked for.

    Own code: `scipy` has none, and that of `statsmodels` takes a tenth of a second.
    """
    order = np.argsort(p_values)
    left = np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(np.asarray(p_values)[order] * left), 1.0)
    return [float(p) for p in adjusted]
