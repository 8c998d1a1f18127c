"""Alarms that may be looked at every day: evidence that holds whenever it is read.

A p-value is for one look; looked at daily, one in twenty soon comes up by itself. An e-process does not: the chance
that it *ever* reaches 1/a is at most a while nothing is wrong. It is the wealth of a bettor who stakes a part of what
they have on each run leaking more than the baseline: they cannot expect to grow rich unless it does. A run is one bet,
with its share of leaks from 0 to 1, so that how leaks bunch within runs needs no model. Bets begin on every day, each
with its part of the stake, so that a change is noticed as well after a long quiet time.

Sources: Ville (1939), Étude critique de la notion de collectif (the bound that holds at all times); Waudby-Smith and
Ramdas (2024), Journal of the Royal Statistical Society B 86:1-27 (bets on bounded means); Shin, Ramdas and Rinaldo
(2024), The Annals of Statistics 52 (bets that begin on every day); Wang and Ramdas (2022), Journal of the Royal
Statistical Society B 84:822-852 (e-BH: the false discovery rate of many e-values, however they depend on each other).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STAKES = 8
"""Fractions that are bet at once: from cautious ones for small rises to bold ones for rare leaks."""
CAUTIOUS, BOLDEST = 0.1, 0.5
"""The least of them, and what the largest loses of itself on a run without a leak."""
LEAST = 1e-9
"""The smallest share that bets are made on."""

Floats = NDArray[np.float64]
Shares = Sequence[float] | Floats


@dataclass(frozen=True, slots=True)
class Evidence:
    """How much there is to be said, and the place of the day from which on most of it was won; None without a day."""

    e_value: float
    since: int | None


NOTHING = Evidence(1.0, None)
"""Before anything was seen."""


def e_value(days: Sequence[Shares], usual: float) -> float:
    """How much there is to be said, after the last of `days`, for shares above `usual` since some day.

    `days`: the shares of each day's runs, from 0 to 1. `usual`: the mean share while nothing is wrong, or an upper
    bound of it; ValueError unless it is `LEAST` or more, and under 1.
    """
    return evidence(days, usual).e_value


def evidence(days: Sequence[Shares], usual: float) -> Evidence:
    """The same, and since which of the `days`, counted from 0."""
    if not LEAST <= usual < 1.0:
        raise ValueError(f"{usual} is no share that bets can be made on")
    if not days:
        return NOTHING
    each = stakes(usual)
    growth = np.array([day_growth(np.asarray(shares, np.float64), each, usual) for shares in days])
    # what was won from each day on, up to the last
    since = np.cumsum(growth[::-1], axis=0)[::-1]
    weights = day_weights(len(days))
    won = weights * np.exp(np.minimum(since, 700.0)).mean(axis=1)
    return Evidence(float(won.sum()) + 1.0 - float(weights.sum()), int(np.argmax(won)))


def stakes(usual: float) -> Floats:
    """The fractions that are bet."""
    fractions: Floats = np.geomspace(CAUTIOUS, BOLDEST / usual, STAKES)
    return fractions


def day_growth(shares: Floats, stakes: Floats, usual: float) -> Floats:
    """The logarithm of what a day multiplies each stake by."""
    growth: Floats = np.log1p(stakes[None, :] * (shares[:, None] - usual)).sum(axis=0)
    return growth


def day_weights(days: int) -> Floats:
    """1 / (k (k + 1)) for the k-th day: in all 1 over an endless time, so what has not begun is still held."""
    number = np.arange(1, days + 1, dtype=np.float64)
    return 1 / (number * (number + 1))


def e_bh(e_values: Sequence[float], rate: float) -> list[bool]:
    """Which of them are alarms, with a false discovery rate of at most `rate` at any time and under any dependence."""
    if not e_values:
        return []
    order = np.argsort(e_values)[::-1]
    needed = len(e_values) / (rate * np.arange(1, len(e_values) + 1))
    held = np.flatnonzero(np.asarray(e_values)[order] >= needed)
    alarms = np.zeros(len(e_values), bool)
    alarms[order[: held[-1] + 1 if len(held) else 0]] = True
    return [bool(each) for each in alarms]
