"""Runs put into a random order: what a history would look like if its days made no difference.

Each run keeps its outputs and hits, and each day its number of runs. An order is needed only as far as sums up to a
day go. They come from shuffled runs, or, where many runs are alike, from how many of each sort fall on a day
(the multivariate hypergeometric distribution): the same chances, and a fraction of the time.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Orders = Callable[[np.random.Generator, int], tuple[Ints, Ints]]
"""So many orders: outputs and hits before each split, as arrays of orders by splits."""
_DRAW = 4
"""What it costs to draw a sort's runs of a day, in runs shuffled."""


@dataclass(frozen=True, slots=True)
class Series:
    """Runs in order of their day: row by row so many `runs` with `n` outputs and `hits` each; `days` are ordinals."""

    days: Ints
    n: Ints
    hits: Ints
    runs: Ints

    def part(self, first: int, last: int) -> "Series":
        """The rows from `first` up to `last`, which is not included."""
        return Series(self.days[first:last], self.n[first:last], self.hits[first:last], self.runs[first:last])

    def total(self, values: Ints) -> int:
        """The sum of `values`, one a run."""
        return int((values * self.runs).sum())


def random_orders(series: Series, starts: Ints) -> Orders:
    """Random orders of the runs of `series`, seen at the splits before the rows `starts`, one for each day but the
    first."""
    sorts, which = np.unique(np.stack([series.n, series.hits]), axis=1, return_inverse=True)
    few = _DRAW * sorts.shape[1] * (len(starts) + 1) < int(series.runs.sum())
    return _drawn(series, starts, sorts, which.reshape(-1)) if few else _shuffled(series, starts)


def _shuffled(series: Series, starts: Ints) -> Orders:
    n, hits = np.repeat(series.n, series.runs), np.repeat(series.hits, series.runs)
    last = np.cumsum(series.runs)[starts - 1] - 1

    def orders(random: np.random.Generator, times: int) -> tuple[Ints, Ints]:
        order = random.permuted(np.broadcast_to(np.arange(len(n)), (times, len(n))), axis=1)
        return np.cumsum(n[order], axis=1)[:, last], np.cumsum(hits[order], axis=1)[:, last]

    return orders


def _drawn(series: Series, starts: Ints, sorts: Ints, which: Ints) -> Orders:
    of_sort = np.bincount(which, weights=series.runs).astype(np.int64)
    of_day = np.add.reduceat(series.runs, np.concatenate(([0], starts)))[:-1]

    def orders(random: np.random.Generator, times: int) -> tuple[Ints, Ints]:
        left = np.tile(of_sort, (times, 1))
        days = np.empty((times, len(of_day), len(of_sort)), np.int64)
        for day, runs in enumerate(of_day):
            days[:, day] = _day(random, left, int(runs))
            left -= days[:, day]
        sums = np.cumsum(days, axis=1) @ sorts.T
        return sums[..., 0], sums[..., 1]

    return orders


def _day(random: np.random.Generator, left: Ints, runs: int) -> Ints:
    """How many of the `runs` of a day are of each sort, drawn from what is `left` of each."""
    drawn = np.zeros_like(left)
    wanted, others = np.full(len(left), runs), left.sum(axis=1)
    for sort in range(left.shape[1]):
        others = others - left[:, sort]
        drawn[:, sort] = random.hypergeometric(left[:, sort], others, wanted)
        wanted = wanted - drawn[:, sort]
    return drawn
