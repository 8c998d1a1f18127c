"""Change points: found where they are, not found where there are none, and the two ways to shuffle agree."""

import numpy as np
import pytest

from analysis.statistics import run_orders
from analysis.statistics.change_points import LEVEL, change_point, changes
from analysis.statistics.run_orders import Series, random_orders
from tests.analysis.statistics.simulated_series import FLAT, Line, scanned

Day = tuple[int, int, int, int]
"""A day, and so many runs on it with n outputs and hits each."""


def series(*rows: Day) -> Series:
    days, runs, n, hits = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return Series(days, n, hits, runs)


FLAT_DAYS = tuple((day, 10, 10, int(part)) for day in range(30) for part in (0, 1))
STEP = (*((day, 20, 10, 0) for day in range(20)), *((day, 20, 10, 1) for day in range(20, 30)))
TWO_STEPS = (*STEP, *((day, 20, 10, 5) for day in range(30, 40)))


@pytest.mark.parametrize(
    ("rows", "days"),
    [
        pytest.param(FLAT_DAYS, [], id="flat"),
        pytest.param(STEP, [20], id="one step"),
        pytest.param(TWO_STEPS, [20, 30], id="two steps, the clearer one found first"),
        pytest.param(((0, 100, 10, 0), (1, 100, 10, 5)), [1], id="two days"),
    ],
)
def test_changes_stand_on_the_first_day_of_the_new_rate(rows: tuple[Day, ...], days: list[int]) -> None:
    found = changes(series(*rows))
    assert [each.day for each in found] == days
    assert all(each.earliest <= each.day <= each.latest and each.p <= LEVEL for each in found)
    assert [int(series(*rows).days[each.row]) for each in found] == days


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(((5, 40, 10, 3),), id="one day"),
        pytest.param(((5, 1, 1, 1),), id="one generation"),
        pytest.param(tuple((day, 9, 10, 0) for day in range(30)), id="no leaks"),
        pytest.param(tuple((day, 9, 10, 10) for day in range(30)), id="all leaks"),
        pytest.param((), id="nothing"),
    ],
)
def test_what_cannot_have_changed_has_no_change_point(rows: tuple[Day, ...]) -> None:
    none = series(*rows) if rows else Series(*(np.array([], np.int64) for _ in range(4)))
    assert change_point(none) is None
    assert changes(none) == []


def test_one_run_with_all_the_leaks_is_no_change() -> None:
    quiet = tuple((day, 10, 10, 0) for day in range(30))
    assert changes(series(*quiet[:15], (15, 1, 40, 40), *quiet[15:])) == []


def test_the_same_history_has_the_same_p() -> None:
    noisy = series(*((day, 10, 10, int(part)) for day in range(30) for part in (day % 3, day % 2)))
    first, again = change_point(noisy), change_point(noisy)
    assert first == again


@pytest.mark.parametrize("cost", [pytest.param(0, id="drawn"), pytest.param(10**9, id="shuffled")])
def test_orders_keep_the_sums_and_leave_the_days_alike(cost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_orders, "_DRAW", cost)
    history = series((0, 30, 2, 1), (0, 10, 5, 0), (1, 20, 2, 0), (2, 40, 3, 3))
    n, hits = random_orders(history, np.array([2, 3]))(np.random.default_rng(1), 4_000)
    assert n.shape == hits.shape == (4_000, 2)
    whole, hit = history.total(history.n), history.total(history.hits)
    # 40 and 60 of 100 runs stand before the splits, whichever they are
    assert n.mean(axis=0) == pytest.approx([0.4 * whole, 0.6 * whole], rel=0.02)
    assert hits.mean(axis=0) == pytest.approx([0.4 * hit, 0.6 * hit], rel=0.02)
    # the variance of a sum of 40 drawn of 100 without replacement
    outputs = np.repeat(history.n, history.runs)
    assert n[:, 0].var() == pytest.approx(40 * outputs.var() * 60 / 99, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("line", [pytest.param(line, id=str(line)) for line in FLAT])
def test_flat_series_raise_an_alarm_as_often_as_stated(line: Line) -> None:
    times = 400
    # three standard errors above the stated level
    assert scanned(line, times).found <= LEVEL + 3 * (LEVEL * (1 - LEVEL) / times) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "power"),
    [
        pytest.param(Line(0.002, 100, clustered=False, after=0.01), 0.78, id="0.2 to 1 percent"),
        pytest.param(Line(0.02, 100, clustered=False, after=0.04), 0.85, id="2 to 4 percent"),
    ],
)
def test_a_change_half_way_is_found(line: Line, power: float) -> None:
    got = scanned(line, 400)
    assert got.found >= power
    assert got.single >= 0.9 * got.found
    assert got.placed >= 0.9
