"""Series with a known truth: how often intervals hold it, flat ones raise an alarm, and changes are found.

`python -m tests.analysis.statistics.simulated_series` prints the tables of docs/statistics.md.
"""

from dataclasses import dataclass, replace

import numpy as np

from analysis.statistics.change_points import LEVEL, changes
from analysis.statistics.differences import difference
from analysis.statistics.intervals import Rate, clustered_rate
from analysis.statistics.run_orders import Series

DAYS = 60
TIMES = 1_000
RATES = (0.002, 0.02, 0.2)
CALLS = (100, 1_000)
RUN = 10
"""Calls of a run where calls are clustered."""
RELATED = 0.2
"""The correlation of two calls of a run where they are."""
CHANGES = ((0.002, 0.01), (0.02, 0.04))


@dataclass(frozen=True, slots=True)
class Line:
    """`calls` a day for `DAYS` days, leaking by `rate`; from the day `at` on by `after`. Clustered: in runs of `RUN`
    calls whose own rates vary (beta-binomial)."""

    rate: float
    calls: int
    clustered: bool
    after: float | None = None
    at: int = DAYS // 2

    def runs(self, chance: np.random.Generator) -> Series:
        """One history."""
        size = RUN if self.clustered else 1
        days = np.repeat(np.arange(DAYS), self.calls // size)
        rates = np.where(days < self.at, self.rate, self.rate if self.after is None else self.after)
        if self.clustered:
            tightness = 1 / RELATED - 1
            rates = chance.beta(rates * tightness, (1 - rates) * tightness)
        hits = chance.binomial(size, rates)
        (days, hits), runs = np.unique(np.stack([days, hits]), axis=1, return_counts=True)
        return Series(days, np.full_like(days, size), hits, runs)

    def __str__(self) -> str:
        kind = f"runs of {RUN}" if self.clustered else "independent"
        return f"{self.rate:.1%} | {self.calls:,} | {kind}"


@dataclass(frozen=True, slots=True)
class Scanned:
    """The share of histories with a change, with exactly one, and with one whose range of days holds the true one."""

    found: float
    single: float
    placed: float


def scanned(line: Line, times: int = TIMES) -> Scanned:
    """`times` histories, each looked through for changes."""
    chance = np.random.default_rng(20261130)
    found = [changes(line.runs(chance)) for _ in range(times)]
    hits = [each for each in found if each]
    placed = [any(change.earliest <= line.at <= change.latest for change in each) for each in hits]
    return Scanned(
        len(hits) / times, sum(len(each) == 1 for each in hits) / times, float(np.mean(placed)) if placed else 0.0
    )


@dataclass(frozen=True, slots=True)
class Compared:
    """How often the interval of the difference held the true one, and p was below 5 % and 1 %."""

    covered: float
    below_5: float
    below_1: float


def compared(line: Line, times: int = TIMES) -> Compared:
    """`times` histories, the first part against the second."""
    chance = np.random.default_rng(20261130)
    true = (line.rate if line.after is None else line.after) - line.rate
    rows = []
    for _ in range(times):
        before, after = _parts(line.runs(chance), line.at)
        found = difference(before, after)
        assert found.low is not None
        assert found.high is not None
        assert found.p is not None
        rows.append((found.low <= true <= found.high, found.p <= 0.05, found.p <= 0.01))
    return Compared(*(float(each) for each in np.mean(rows, axis=0)))


def _parts(series: Series, at: int) -> tuple[Rate, Rate]:
    split = int(np.searchsorted(series.days, at))
    return _rate(series.part(0, split)), _rate(series.part(split, len(series.days)))


def _rate(series: Series) -> Rate:
    runs = zip(*(np.repeat(each, series.runs).tolist() for each in (series.hits, series.n)), strict=True)
    return clustered_rate(runs)


FLAT = tuple(Line(rate, calls, clustered) for rate in RATES for calls in CALLS for clustered in (False, True))


def alarms_table(times: int = TIMES) -> str:
    """Flat series: every change found is a false alarm."""
    rows = [f"| {line} | {scanned(line, times).found:.1%} |" for line in FLAT]
    return "\n".join(["| rate | calls a day | calls | series with an alarm |", "|---|--:|---|--:|", *rows])


def power_table(times: int = TIMES) -> str:
    """Series that change half-way."""
    head = "| rate | calls a day | calls | to | found | exactly one | true day in the range |"
    rows = [
        f"| {line} | {after:.1%} | {got.found:.1%} | {got.single:.1%} | {got.placed:.1%} |"
        for line, after, got in _power(times)
    ]
    return "\n".join([head, "|---|--:|---|---|--:|--:|--:|", *rows])


def _power(times: int) -> list[tuple[Line, float, Scanned]]:
    lines = [Line(rate, 100, clustered, after) for rate, after in CHANGES for clustered in (False, True)]
    return [(line, line.after or 0.0, scanned(line, times)) for line in lines]


def difference_table(times: int = TIMES) -> str:
    """Two versions that leak alike, and two that do not: the first thirty days against the last."""
    head = "| rate | calls a day | calls | to | interval held | p ≤ 0.05 | p ≤ 0.01 |"
    lines = [*FLAT, *(replace(line, after=line.rate * 3) for line in FLAT if line.rate < 0.2)]
    rows = [
        f"| {line} | {line.rate if line.after is None else line.after:.1%} "
        f"| {got.covered:.1%} | {got.below_5:.1%} | {got.below_1:.1%} |"
        for line, got in ((line, compared(line, times)) for line in lines)
    ]
    return "\n".join([head, "|---|--:|---|---|--:|--:|--:|", *rows])


if __name__ == "__main__":
    print(f"At {LEVEL:.0%} a series, {TIMES:,} series a row:", alarms_table(), sep="\n\n")
    print("", power_table(), "", difference_table(), sep="\n\n")
