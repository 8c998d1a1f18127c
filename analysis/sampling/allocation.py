"""How a budget of labels is spread over the strata: pure, and the same for the same sizes.

Half goes to the disagreements, an eighth to what both find, three eighths to the outputs on which both are silent;
within these by the square root of the stratum's size, which makes the sum of the silent strata's bounds smallest
(power allocation: Bankier 1988, The American Statistician 42:174-177). What a small stratum cannot take goes to the
others. One draw after the other goes where it is due by D'Hondt's divisors, so that a larger budget never takes a
draw away.
"""

import math
from collections.abc import Mapping

from analysis.sampling.cells import BOTH, DISAGREEMENTS, SILENT

Sizes = Mapping[str, int]
SHARES = {DISAGREEMENTS: 1 / 2, (BOTH,): 1 / 8, SILENT: 3 / 8}
"""Of a budget."""


def allocate(sizes: Sizes, budget: int) -> dict[str, int]:
    """The draws from each stratum, `budget` in all, or everything where it holds less."""
    weights = _weights(sizes)
    wanted = min(budget, sum(sizes.values()))
    drawn = _whole_seats(sizes, weights, wanted)
    for _ in range(wanted - sum(drawn.values())):
        open_ones = [name for name in weights if drawn[name] < sizes[name]]
        drawn[max(open_ones, key=lambda name: weights[name] / (drawn[name] + 1))] += 1
    return drawn


def _weights(sizes: Sizes) -> dict[str, float]:
    """The share due to each stratum that is not empty."""
    roots = {name: math.sqrt(size) for name, size in sizes.items() if size}
    return {
        name: share * roots[name] / sum(roots.get(each, 0.0) for each in names)
        for names, share in SHARES.items()
        for name in names
        if name in roots
    }


def _whole_seats(sizes: Sizes, weights: Mapping[str, float], wanted: int) -> dict[str, int]:
    """What D'Hondt's divisors give at the smallest divisor that does not exceed `wanted`: all but a few draws."""

    def at(inverse: float) -> dict[str, int]:
        return {name: min(size, int(weights.get(name, 0.0) * inverse)) for name, size in sizes.items()}

    low, high = 0.0, 1.0
    while sum(at(high).values()) < wanted:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if sum(at(middle).values()) <= wanted else (low, middle)
    return at(low)
