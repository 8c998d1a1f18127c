"""Which bounds a budget of labels can reach, said before anybody labels: pure."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from analysis.sampling.allocation import Sizes, allocate
from analysis.sampling.cells import FOUND, STRATA
from analysis.statistics.stratified import Stratum, precision, recall_bound

TARGETS = (0.5, 0.8, 0.9)
"""Bounds on recall for which the budget is told."""


def reach(sizes: Sizes, drawn: Mapping[str, int]) -> dict[str, dict[str, float | None]]:
    """The lower bounds on precision and recall of each detector if all goes well: every label on what it finds says
    leak, every label on what it passes over says none. No labels can lead to more."""
    return {side: _at_best(side, sizes, drawn) for side in FOUND}


def _at_best(side: str, sizes: Sizes, drawn: Mapping[str, int]) -> dict[str, float | None]:
    found = [Stratum(sizes[name], drawn[name], drawn[name]) for name in FOUND[side]]
    silent = [Stratum(sizes[name], drawn[name], 0) for name in STRATA if name not in FOUND[side]]
    return {"precision_low": precision(found).low, "recall_low": recall_bound(found, silent).low}


def budgets(sizes: Sizes, side: str = "candidate") -> list[dict[str, Any]]:
    """About the smallest budget with which the bound on recall can reach each of `TARGETS`; None if none can, since
    nothing is found."""
    told = tuple(sizes.items())
    return [{"recall_low": target, "budget": _budget(told, side, target)} for target in TARGETS]


@lru_cache(maxsize=1024)  # a list of samples asks the same again and again
def _budget(told: tuple[tuple[str, int], ...], side: str, target: float) -> int | None:
    sizes = dict(told)
    if not any(sizes[name] for name in FOUND[side]):
        return None
    low, high = 1, sum(sizes.values())
    while low < high:
        middle = (low + high) // 2
        reached = _at_best(side, sizes, allocate(sizes, middle))["recall_low"]
        low, high = (low, middle) if reached is not None and reached >= target else (middle + 1, high)
    return low
