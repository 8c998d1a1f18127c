"""Lines with a known truth that are looked at every day: how often flat ones raise an alarm, and how soon changes do.

`python -m tests.analysis.statistics.simulated_alerts` prints the tables of docs/statistics.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.alerts.alarms import RATE
from analysis.statistics.e_values import day_growth, day_weights, e_bh, stakes
from analysis.statistics.run_shares import upper_share
from tests.analysis.statistics.simulated_series import CALLS, RATES, RELATED, RUN

BASELINE, LOOKS, QUIET = 28, 60, 30
"""Days that make the baseline, days of looking, and quiet days before a change."""
TIMES = 1_000
ONE, MANY = 20.0, 2_000.0
"""The evidence that an alarm takes at a false discovery rate of 5 %: on one line, and on one alone of a hundred."""
LINES, FLEETS = 100, 100
"""Lines of a fleet, and fleets a row."""
CHANGES = ((0.002, 0.01), (0.02, 0.04), (0.02, 0.06))
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Line:
    """`calls` a day, leaking by `rate`, and after baseline and `quiet` further days by `after`. Clustered: in runs of
    `RUN` calls whose own rates vary (beta-binomial)."""

    rate: float
    calls: int
    clustered: bool
    after: float | None = None
    quiet: int = 0
    baseline: int = BASELINE

    @property
    def size(self) -> int:
        """Calls of a run."""
        return RUN if self.clustered else 1

    def hits(self, chance: np.random.Generator) -> Counts:
        """One history: how many runs have 0, 1, … leaks, one row a day."""
        days = self.baseline + self.quiet + LOOKS
        changed = np.arange(days) >= self.baseline + self.quiet
        rates = np.where(changed, self.rate if self.after is None else self.after, self.rate)
        runs = np.repeat(rates[:, None], self.calls // self.size, axis=1)
        if self.clustered:
            tightness = 1 / RELATED - 1
            runs = chance.beta(runs * tightness, (1 - runs) * tightness)
        hits = chance.binomial(self.size, runs)
        return np.stack([(hits == each).sum(axis=1) for each in range(self.size + 1)], axis=1)

    def __str__(self) -> str:
        kind = f"runs of {RUN}" if self.clustered else "independent"
        return f"{self.rate:.1%} | {self.calls:,} | {kind}"


def looks(counts: Counts, size: int, usual: float) -> Floats:
    """The e-value after each day, as `analysis.statistics.e_values` has it after the last: what bets begun on earlier
    days have won is kept, instead of being counted anew on each look."""
    each, weights = stakes(usual), day_weights(len(counts))
    growth = np.stack([day_growth(np.array([hits / size]), each, usual) for hits in range(size + 1)])
    won, found = np.zeros(len(each)), np.empty(len(counts))
    for day, runs in enumerate(counts):
        won = np.minimum((won + weights[day]) * np.exp(np.minimum(runs @ growth, 300.0)), 1e150)
        found[day] = won.mean() + 1 - weights[: day + 1].sum()
    return found


def watched(line: Line, times: int = TIMES) -> Iterator[Floats]:
    """The e-values of `times` histories, each against the bound that its own baseline gives."""
    chance, hits = np.random.default_rng(20261130), np.arange(line.size + 1)
    for _ in range(times):
        counts = line.hits(chance)
        runs = counts[: line.baseline].sum(axis=0)
        seen = runs > 0
        usual = upper_share(np.full(seen.sum(), line.size), hits[seen], runs[seen])
        yield looks(counts[line.baseline :], line.size, usual)


def alarms(line: Line, times: int = TIMES) -> float:
    """The share of flat histories with an alarm on any of the days."""
    return float(np.mean([each.max() >= ONE for each in watched(line, times)]))


@dataclass(frozen=True, slots=True)
class Found:
    """The share of histories whose change is found, and after how many days, the median of all of them; None where
    fewer than half are. A history with an alarm before its change has not found it."""

    share: float
    days: float | None


def found(line: Line, times: int = TIMES) -> tuple[Found, Found]:
    """With as much evidence as one line needs, and one of a hundred."""
    histories = [*watched(line, times)]
    one, many = ([_days(each, line.quiet, needed) for each in histories] for needed in (ONE, MANY))
    return _found(one), _found(many)


def _found(days: list[float]) -> Found:
    median = float(np.median(days))
    return Found(float(np.mean(np.isfinite(days))), median if np.isfinite(median) else None)


def _days(e_values: Floats, quiet: int, needed: float) -> float:
    """From the first day of the change, which is 1, to the alarm; infinite without one, and for a false one."""
    crossed = np.flatnonzero(e_values >= needed)
    return float(crossed[0] - quiet + 1) if len(crossed) and crossed[0] >= quiet else np.inf


@dataclass(frozen=True, slots=True)
class Fleet:
    """Many lines watched at once: the mean share of alarms that are false (0 where there are none), the share of
    fleets with a false one, and the share of changed lines that are found."""

    false: float
    any_false: float
    found: float


def fleets(line: Line, changed: int, times: int = FLEETS) -> Fleet:
    """`times` fleets of `LINES` lines, of which `changed` change as `line` does and the others stay flat. An alarm is
    what is one on any of the days, each with the e-values of that day."""
    flat = watched(replace(line, after=None), times * (LINES - changed))
    moved = watched(line, times * changed)
    rows = [
        _fleet([next(moved) for _ in range(changed)], [next(flat) for _ in range(LINES - changed)])
        for _ in range(times)
    ]
    false, hits = np.array(rows).T
    return Fleet(float(np.mean(false / np.maximum(false + hits, 1))), float(np.mean(false > 0)),
                 float(hits.mean() / changed) if changed else 0.0)  # fmt: skip


def _fleet(moved: list[Floats], flat: list[Floats]) -> tuple[int, int]:
    """False alarms, and changed lines that were found."""
    days = np.stack([*moved, *flat], axis=1)
    alarms = np.any([e_bh(day.tolist(), RATE) for day in days], axis=0)
    return int(alarms[len(moved) :].sum()), int(alarms[: len(moved)].sum())


FLAT = tuple(Line(rate, calls, clustered) for rate in RATES for calls in CALLS for clustered in (False, True))
FEW = tuple(Line(rate, RUN, clustered=True, baseline=10) for rate in RATES)
"""One run a day, and the fewest runs that make a baseline."""
CHANGED = tuple(Line(rate, 100, clustered, after, QUIET) for rate, after in CHANGES for clustered in (False, True))


FLEET = tuple((Line(0.02, 100, clustered, 0.06, QUIET), changed) for clustered in (False, True) for changed in (0, 10))


def alarms_table(times: int = TIMES) -> str:
    """Flat lines: every alarm is a false one."""
    head = "| rate | calls a day | calls | days of baseline | lines with an alarm in sixty looks |"
    rows = [f"| {line} | {line.baseline} | {alarms(line, times):.1%} |" for line in (*FLAT, *FEW)]
    return "\n".join([head, "|---|--:|---|--:|--:|", *rows])


def power_table(times: int = TIMES) -> str:
    """Lines that change after thirty quiet days."""
    head = "| rate | calls a day | calls | to | found, of one line | median days | found, of a hundred | median days |"
    every = (*CHANGED, *(replace(line, calls=1_000) for line in CHANGED))
    rows = [f"| {line} | {line.after:.1%} | {_cells(line, times)} |" for line in every]
    return "\n".join([head, "|---|--:|---|---|--:|--:|--:|--:|", *rows])


def _cells(line: Line, times: int) -> str:
    return " | ".join(
        f"{each.share:.1%} | {'–' if each.days is None else f'{each.days:.0f}'}" for each in found(line, times)
    )


def fleet_table(times: int = FLEETS) -> str:
    """Fleets of a hundred lines."""
    head = "| rate | calls a day | calls | to | lines that change | false alarms | fleets with a false one | found |"
    rows = [f"| {line} | {line.after:.1%} | {changed} | {_shares(line, changed, times)} |" for line, changed in FLEET]
    return "\n".join([head, "|---|--:|---|---|--:|--:|--:|--:|", *rows])


def _shares(line: Line, changed: int, times: int) -> str:
    got = fleets(line, changed, times)
    return f"{got.false:.1%} | {got.any_false:.1%} | {f'{got.found:.1%}' if changed else '–'}"


if __name__ == "__main__":
    print(f"{TIMES:,} lines a row:", alarms_table(), power_table(), fleet_table(), sep="\n\n")
