"""What retries that no record holds would have brought: the trees of a policy, weighed by observed retries."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.recovery.turns import Line
from analysis.recovery.walk import KINDS, End, Kind, Tree
from analysis.statistics.estimates import Estimate, Pool, share, summed

Stratum = tuple[Line, str]
"""A line, and the kind of the leak that is retried."""
FIGURES: tuple[End, ...] = ("recovered", "answered", "errored", "passed_off", "cancelled", "unknown")
Gradient = dict[Kind, float]


@dataclass(frozen=True, slots=True)
class Expected:
    """Rounds whose next retry no record holds, in `n`; `unestimated`: no retry of the same line and kind was seen."""

    n: int
    unestimated: int
    figures: Mapping[str, Estimate | None]

    def as_json(self) -> dict[str, Any]:
        """Each figure with its interval; all null where nothing is estimated."""
        found: dict[str, Any] = {"n": self.n}
        for name, figure in self.figures.items():
            found |= _bounded(name, figure)
        return found


def _bounded(name: str, figure: Estimate | None) -> dict[str, float | None]:
    if figure is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    return {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}


def expected(waiting: Mapping[tuple[Stratum, Tree], int], pools: Mapping[Stratum, Pool[Kind]]) -> Expected:
    """The figures of the rounds that are `waiting` for a retry."""
    strata: dict[Stratum, Counter[Tree]] = {}
    unestimated = 0
    for (stratum, tree), n in waiting.items():
        if stratum in pools:
            strata.setdefault(stratum, Counter())[tree] += n
        else:
            unestimated += n
    n = sum(trees.total() for trees in strata.values())
    figures: dict[str, Estimate | None] = {"extra_rounds": _total(strata, pools, _extra_rounds) if n else None}
    for figure in FIGURES:
        figures[figure] = _total(strata, pools, _ending(figure)) if n else None
    return Expected(n, unestimated, figures)


Worth = Callable[[Tree, Mapping[Kind, float]], tuple[float, Gradient]]
"""The figure of one round, and how it grows with the share of each kind."""


def _total(strata: Mapping[Stratum, Counter[Tree]], pools: Mapping[Stratum, Pool[Kind]], worth: Worth) -> Estimate:
    return summed((trees.total(), _of_stratum(trees, pools[stratum], worth)) for stratum, trees in strata.items())


def _of_stratum(trees: Counter[Tree], pool: Pool[Kind], worth: Worth) -> Estimate:
    """The mean over the rounds of a stratum: they share the same observed retries."""
    value, gradient, most = 0.0, dict.fromkeys(KINDS, 0.0), max(len(tree) for tree in trees)
    for tree, n in trees.items():
        one, slopes = worth(tree, pool.shares)
        value += one * n / trees.total()
        for kind, slope in slopes.items():
            gradient[kind] += slope * n / trees.total()
    return _rounds(value, gradient, most, pool) if worth is _extra_rounds else share(value, gradient, pool)


def _rounds(value: float, gradient: Gradient, most: int, pool: Pool[Kind]) -> Estimate:
    """Rounds beyond the first are a proportion of those that there can be at most."""
    if most == 1:
        return Estimate(value, value, value)
    beyond = share((value - 1) / (most - 1), {kind: each / (most - 1) for kind, each in gradient.items()}, pool)
    return Estimate(value, 1 + beyond.low * (most - 1), 1 + beyond.high * (most - 1))


def _ending(figure: End) -> Worth:
    def worth(tree: Tree, shares: Mapping[Kind, float]) -> tuple[float, Gradient]:
        return _folded(tree, shares, lambda branch: 1.0 if branch == figure else 0.0, each=0.0)

    return worth


def _extra_rounds(tree: Tree, shares: Mapping[Kind, float]) -> tuple[float, Gradient]:
    return _folded(tree, shares, lambda _: 0.0, each=1.0)


def _folded(
    tree: Tree, shares: Mapping[Kind, float], ends: Callable[[str], float], each: float
) -> tuple[float, Gradient]:
    """From the last retry to the first: what a retry costs (`each`), and what its kinds lead to."""
    value, gradient = 0.0, dict.fromkeys(KINDS, 0.0)
    for level in reversed(tree):
        worth = {kind: value if branch == "retry" else ends(branch) for kind, branch in level}
        again = sum(shares.get(kind, 0.0) for kind, branch in level if branch == "retry")
        gradient = {kind: worth[kind] + again * gradient[kind] for kind in KINDS}
        value = each + sum(shares.get(kind, 0.0) * worth[kind] for kind in KINDS)
    return value, gradient
