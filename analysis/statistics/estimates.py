"""What an event that was not observed would have been, by others of its kind that were; and sums of such figures.

A figure is a function of the shares of the categories that were observed, such as the share that recovers at once
plus the share that leaks again and recovers then. Its variance is linearised (the delta method), with the runs as
clusters where there are enough of them, and becomes a design effect for Wilson's interval. Figures of independent
strata are added with their intervals by MOVER.

Sources: Korn and Graubard (1998), Survey Methodology 24:193-201 (an interval on an effective sample size); Zou and
Donner (2008), Statistics in Medicine 27:1693-1702 (MOVER: limits of a sum recovered from those of its parts).
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Generic, TypeVar

from analysis.statistics.intervals import FEWEST_RUNS, wilson

Category = TypeVar("Category", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with a 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(slots=True)
class Pool(Generic[Category]):
    """What was observed, by category; runs arrive one after the other, and are kept only as sums."""

    counts: Counter[Category] = field(default_factory=Counter)
    runs: int = 0
    _products: Counter[tuple[Category, Category]] = field(default_factory=Counter)
    _run: Hashable = None
    _of_run: Counter[Category] = field(default_factory=Counter)

    def add(self, run: Hashable, category: Category) -> None:
        """One observation; those of a run must follow one another."""
        if run != self._run or not self._of_run:
            self._close_run()
            self._run = run
        self._of_run[category] += 1
        self.counts[category] += 1

    def _close_run(self) -> None:
        self.runs += bool(self._of_run)
        for one, times in self._of_run.items():
            for other, others in self._of_run.items():
                self._products[one, other] += times * others
        self._of_run.clear()

    @property
    def shares(self) -> dict[Category, float]:
        """The share of each category that was observed."""
        n = self.counts.total()
        return {category: count / n for category, count in self.counts.items()}

    def variance(self, gradient: Mapping[Category, float]) -> float:
        """Of a figure that grows by `gradient` with the share of each category, linearised."""
        self._close_run()
        n, shares = self.counts.total(), self.shares
        mean = sum(share * gradient[category] for category, share in shares.items())
        rest = {category: gradient[category] - mean for category in shares}
        if self.runs < FEWEST_RUNS:
            return sum(share * rest[category] ** 2 for category, share in shares.items()) / n
        squares = sum(rest[one] * rest[other] * times for (one, other), times in self._products.items())
        return max(0.0, squares) * self.runs / (self.runs - 1) / n**2


def share(value: float, gradient: Mapping[Category, float], pool: Pool[Category]) -> Estimate:
    """A figure from 0 to 1 with its interval; `gradient` as in `Pool.variance`, for every category observed."""
    n, independent = pool.counts.total(), value * (1 - value)
    effect = 1.0 if independent <= 0 else max(1.0, pool.variance(gradient) * n / independent)
    low, high = wilson(min(max(value, 0.0), 1.0), n / effect)
    return Estimate(value, low, high)


def proportion(pool: Pool[bool]) -> Estimate | None:
    """How many of the observed are true; None of none."""
    if not pool.counts:
        return None
    return share(pool.shares.get(True, 0.0), {True: 1.0, False: 0.0}, pool)


def summed(parts: Iterable[tuple[float, Estimate]]) -> Estimate:
    """The sum of independent figures, each times its weight of 0 or more."""
    value = below = above = 0.0
    for weight, part in parts:
        value += weight * part.value
        below += (weight * (part.value - part.low)) ** 2
        above += (weight * (part.high - part.value)) ** 2
    return Estimate(value, value - sqrt(below), value + sqrt(above))
