"""Alarms that are looked at every day: hardly ever without a change, and soon after one."""

import numpy as np
import pytest

from analysis.statistics.e_values import e_value, evidence
from tests.analysis.statistics.simulated_alerts import CHANGED, FEW, FLAT, FLEET, Line, alarms, fleets, found, looks

ONE_OF_TEN = Line(0.1, 100, clustered=True)


def test_the_simulated_looks_are_those_of_the_product() -> None:
    counts = ONE_OF_TEN.hits(np.random.default_rng(1))[:20]
    days = [np.repeat(np.arange(11) / 10, runs) for runs in counts]
    expected = [e_value(days[: day + 1], 0.08) for day in range(20)]
    assert looks(counts, 10, 0.08) == pytest.approx(expected)


@pytest.mark.parametrize("day", [0, 1, 12, 29])
def test_the_day_of_a_clear_change_is_told(day: int) -> None:
    days = [[0.0] * 9 + [0.1]] * day + [[0.0] * 5 + [0.8] * 5] * 9
    assert evidence(days, 0.02).since == day


@pytest.mark.slow
@pytest.mark.parametrize("line", [pytest.param(line, id=str(line)) for line in (*FLAT, *FEW)])
def test_a_flat_line_raises_an_alarm_less_often_than_stated(line: Line) -> None:
    """5 % that e-BH allows, and 0.5 % for a baseline that is only estimated."""
    assert alarms(line, 400) <= 0.055


LEAST = ((0.45, 0.2), (0.17, 0.07), (0.68, 0.45), (0.08, 0.02), (0.99, 0.99), (0.75, 0.58))
"""The shares of `CHANGED` that are found at least: of one line, and of one of a hundred."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "least"),
    [pytest.param(*each, id=f"{each[0]} to {each[0].after}") for each in zip(CHANGED, LEAST, strict=True)],
)
def test_a_change_is_found(line: Line, least: tuple[float, float]) -> None:
    one, of_hundred = found(line, 400)
    assert (one.share >= least[0], of_hundred.share >= least[1]) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "changed"), [pytest.param(*each, id=f"{each[0]}, {each[1]} changed") for each in FLEET]
)
def test_of_the_alarms_of_a_fleet_few_are_false(line: Line, changed: int) -> None:
    """At most 5 %, over all lines and days."""
    got = fleets(line, changed, 40)
    assert got.false <= 0.05
    assert got.found >= (0.5 if changed else 0)
