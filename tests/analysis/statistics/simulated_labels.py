"""How often the bounds from a drawn sample hold, by simulation. `python -m tests.analysis.statistics.simulated_labels`
prints the table of docs/statistics.md."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from analysis.sampling.allocation import allocate
from analysis.sampling.cells import FOUND, STRATA
from analysis.statistics.stratified import Precision, RecallBound, Stratum, precision, recall_bound

GENERATIONS = 100_000
PREVALENCES = (0.002, 0.01, 0.1)
BUDGETS = (200, 2_000)
TIMES = 1_000
LEAKS = {
    "baseline_only": 0.05,
    "candidate_only": 0.15,
    "both": 0.7,
    "neither_trigger": 0.08,
    "neither_no_trigger": 0.02,
}
"""Where the leaks stand: the baseline finds 75 % of them, the candidate 85 %."""
FALSE_ALARMS = {"baseline_only": 0.1, "candidate_only": 0.05, "both": 0.05}
"""False positives, as shares of the leaks."""
WITH_TRIGGER = 0.02
"""Of the clean outputs on which both are silent."""


@dataclass(frozen=True, slots=True)
class Population:
    """Sizes and leaks of each stratum."""

    sizes: dict[str, int]
    leaks: dict[str, int]

    @classmethod
    def of(cls, prevalence: float) -> "Population":
        """A hundred thousand generations."""
        total = round(prevalence * GENERATIONS)
        leaks = {name: round(LEAKS[name] * total) for name in STRATA}
        clean = {name: round(share * total) for name, share in FALSE_ALARMS.items()}
        silent = GENERATIONS - sum(leaks.values()) - sum(clean.values())
        clean |= {"neither_trigger": round(WITH_TRIGGER * silent)}
        clean |= {"neither_no_trigger": silent - clean["neither_trigger"]}
        return cls({name: leaks[name] + clean[name] for name in STRATA}, leaks)

    def recall(self, side: str) -> float:
        return sum(self.leaks[name] for name in FOUND[side]) / sum(self.leaks.values())

    def precision(self, side: str) -> float:
        return sum(self.leaks[name] for name in FOUND[side]) / sum(self.sizes[name] for name in FOUND[side])


@dataclass(frozen=True, slots=True)
class Outcome:
    """How often the bounds of one detector held, and how wide they were."""

    precision_covered: float
    precision_width: float
    recall_covered: float
    recall_low: float


_precision, _recall_bound = cache(precision), cache(recall_bound)
Labels = dict[str, Stratum]


def labelled(of: Population, budget: int, chance: np.random.Generator, unsure: float = 0.0) -> Labels:
    """The strata with the labels of a random draw. Of the leaks in it, a share `unsure` gets no truth, and of the
    others none: the worst that people can do."""
    drawn = allocate(of.sizes, budget)
    strata = {}
    for name, size in of.sizes.items():
        leaks = int(chance.hypergeometric(of.leaks[name], size - of.leaks[name], drawn[name]))
        unknown = int(chance.binomial(leaks, unsure)) if unsure else 0
        strata[name] = Stratum(size, drawn[name], leaks - unknown, unknown)
    return strata


def figures(labels: Labels, side: str) -> tuple[Precision, RecallBound]:
    """What a report says of a detector."""
    found = tuple(labels[name] for name in FOUND[side])
    silent = tuple(labels[name] for name in STRATA if name not in FOUND[side])
    return _precision(found), _recall_bound(found, silent)


def simulate(prevalence: float, budget: int, side: str, times: int, unsure: float = 0.0) -> Outcome:
    """`times` draws from one population, each labelled and reported."""
    of, chance = Population.of(prevalence), np.random.default_rng(20261130)
    rows = []
    for _ in range(times):
        share, bound = figures(labelled(of, budget, chance, unsure), side)
        assert share.low is not None
        assert share.high is not None
        assert bound.low is not None
        covered = share.low <= of.precision(side) <= share.high
        rows.append((covered, share.high - share.low, bound.low <= of.recall(side), bound.low))
    return Outcome(*(float(each) for each in np.mean(rows, axis=0)))


def table(times: int = TIMES) -> str:
    """The table of the document."""
    lines = [
        "| leaks | labels | detector | precision | held | mean width | recall | bound held | mean bound |",
        "|---|--:|---|---|---|---|---|---|---|",
    ]
    for prevalence in PREVALENCES:
        for budget in BUDGETS:
            lines += [_row(prevalence, budget, side, times) for side in FOUND]
    return "\n".join(lines)


def _row(prevalence: float, budget: int, side: str, times: int) -> str:
    of, got = Population.of(prevalence), simulate(prevalence, budget, side, times)
    cells = (
        f"{prevalence:.1%}",
        f"{budget:,}",
        side,
        f"{of.precision(side):.1%}",
        f"{got.precision_covered:.1%}",
        f"{got.precision_width:.3f}",
        f"{of.recall(side):.1%}",
        f"{got.recall_covered:.1%}",
        f"{got.recall_low:.3f}",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print(table())
