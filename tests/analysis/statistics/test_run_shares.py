"""What is usual of a line: the bound of runs' mean share, on as many outputs as they are worth."""

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from analysis.statistics.run_shares import upper_share


def bound(*rows: tuple[int, int, int]) -> float:
    n, hits, runs = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return upper_share(n, hits, runs)


def wilson(hits: float, n: float) -> float:
    return float(proportion_confint(hits, n, alpha=0.01, method="wilson")[1])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([(1, 0, 2_700), (1, 1, 300)], wilson(300, 3_000), id="runs of one output, as good as independent"),
        pytest.param([(10, 0, 100)], wilson(0, 1_000), id="no hit"),
        pytest.param([(10, 10, 100)], 1.0, id="nothing but hits"),
        pytest.param([(10, 1, 100)], wilson(100, 1_000), id="runs alike are worth no more than their outputs"),
        pytest.param([(10, 0, 900), (10, 10, 100)], wilson(100, 1_000), id="each run all or nothing: worth its number"),
        pytest.param([(1, 0, 100), (10_000, 0, 1)], wilson(0, 101**2 / 100.0001), id="one large run is one run"),
    ],
)
def test_the_bound_is_wilsons_on_an_effective_n(rows: list[tuple[int, int, int]], expected: float) -> None:
    assert bound(*rows) == pytest.approx(expected, rel=0.002)


def test_short_runs_count_as_much_as_long_ones() -> None:
    """As they do in what is compared with it: half the runs have a leak in one output, half have none in ninety."""
    assert bound((1, 1, 500), (90, 0, 500)) > 0.5


@pytest.mark.parametrize(
    "rows", [pytest.param([(0, 0, 5)], id="a run without outputs"), pytest.param([(1, 0, 0)], id="no run")]
)
def test_nothing_has_no_bound(rows: list[tuple[int, int, int]]) -> None:
    with pytest.raises(ValueError, match="no run"):
        bound(*rows)
