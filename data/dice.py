"""Seeded chance that falls the same way on every machine and Python version."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """A stream of chance named by its seed. Only `random()` is used: Python keeps its numbers."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, each as likely."""
        return items[self.between(0, len(items) - 1)]

    def weighted(self, weights: Mapping[Item, float]) -> Item:
        """One of the keys, by weight."""
        point = self._random.random() * sum(weights.values())
        for item, weight in weights.items():
            point -= weight
            if point < 0:
                return item
        return item
