"""E-values: they grow when something is wrong, never expect to grow when nothing is, and control many lines at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.statistics.e_values import e_bh, e_value

QUIET, LOUD = [[0.0] * 19 + [1.0]] * 30, [[0.0] * 8 + [1.0] * 2] * 30
"""Thirty days with one leak in twenty runs, and with one in five."""


@pytest.mark.parametrize(
    ("days", "least", "most"),
    [
        pytest.param([], 1.0, 1.0, id="nothing seen"),
        pytest.param(QUIET, 0.0, 2.0, id="as usual"),
        pytest.param(LOUD, 1e6, np.inf, id="more than usual"),
        pytest.param([*QUIET, *LOUD[:12]], 100.0, np.inf, id="more since twelve days"),
        pytest.param([[0.0] * 20] * 30, 0.0, 1.0, id="less than usual"),
        pytest.param([[0.0] * 199 + [1.0]] * 3, 0.0, 1.5, id="one bad run in a day"),
        pytest.param([[1.0]] * 2_000, 1e6, np.inf, id="so much that it would overflow"),
    ],
)
def test_evidence_grows_with_what_is_wrong(days: list[list[float]], least: float, most: float) -> None:
    assert least <= e_value(days, 0.05) <= most


@pytest.mark.parametrize("usual", [0.0, 5e-324, 1.0, -0.1, float("nan")])
def test_what_is_no_share_is_refused(usual: float) -> None:
    with pytest.raises(ValueError, match="no share"):
        e_value(QUIET, usual)


@given(st.floats(0.001, 0.9), st.lists(st.lists(st.floats(0, 1), max_size=9), max_size=9))
def test_evidence_is_never_negative(usual: float, days: list[list[float]]) -> None:
    assert e_value(days, usual) >= 0.0


@given(st.floats(0.01, 0.9), st.integers(1, 6))
def test_one_more_day_as_usual_is_expected_to_change_nothing(usual: float, day: int) -> None:
    """A fair game: the mean over what a run can be, weighed by how likely it is, is what it was before."""
    before = [[0.0, 1.0]] * (day - 1)
    leak, none = (e_value([*before, [share]], usual) for share in (1.0, 0.0))
    assert usual * leak + (1 - usual) * none == pytest.approx(e_value(before, usual))


@pytest.mark.parametrize(
    ("e_values", "alarms"),
    [
        pytest.param([], [], id="none"),
        pytest.param([19.0], [False], id="one, too little"),
        pytest.param([20.0], [True], id="one, enough"),
        pytest.param([20.0, 1.0], [False, False], id="one of two needs twice as much"),
        pytest.param([1.0, 41.0, 20.0, 30.0], [False, False, False, False], id="none of four"),
        pytest.param([27.0, 1.0, 28.0, 90.0], [True, False, True, True], id="three of four carry each other"),
    ],
)
def test_many_lines_need_more_evidence(e_values: list[float], alarms: list[bool]) -> None:
    assert e_bh(e_values, 0.05) == alarms


@pytest.mark.slow
@pytest.mark.parametrize(("share", "related"), [(0.02, 0.0), (0.02, 0.2), (0.2, 0.2)])
def test_a_line_that_is_as_usual_hardly_ever_raises_an_alarm(share: float, related: float) -> None:
    """Looked at on each of sixty days, in runs of ten calls."""
    chance, alarms, times = np.random.default_rng(20261130), 0, 200
    for _ in range(times):
        rates = np.full((60, 10), share)
        if related:
            rates = chance.beta(rates * (1 / related - 1), (1 - rates) * (1 / related - 1))
        days = (chance.binomial(10, rates) / 10).tolist()
        alarms += any(e_value(days[: day + 1], share) >= 100 for day in range(60))
    assert alarms <= 0.01 * times + 3 * (0.01 * times) ** 0.5
