"""McNemar's exact test against published examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.statistics.paired import mcnemar_exact

COUNT = st.integers(0, 300)


@pytest.mark.parametrize(
    ("only_first", "only_second", "p", "digits"),
    [
        pytest.param(12, 2, 0.0129, 4, id="two culture media, Armitage and Berry 1994 p. 127, after Liddell 1983"),
        pytest.param(1, 7, 0.070, 3, id="airway responsiveness, Bentur 2009 in Fagerland 2013"),
        pytest.param(70, 59, 0.378688, 6, id="VassarStats, as quoted by statsmodels: 70 and 59"),
        pytest.param(80, 59, 0.089452, 6, id="VassarStats, as quoted by statsmodels: 80 and 59"),
        pytest.param(10, 30, 0.002221, 6, id="VassarStats, as quoted by statsmodels: 10 and 30"),
    ],
)
def test_published_examples(only_first: int, only_second: int, p: float, digits: int) -> None:
    assert round(mcnemar_exact(only_first, only_second), digits) == p


@pytest.mark.parametrize("each", [pytest.param(0, id="no discordant pair"), pytest.param(10, id="ten on each side")])
def test_an_even_split_says_nothing(each: int) -> None:
    assert mcnemar_exact(each, each) == 1.0


def test_five_against_none_cannot_reach_five_percent() -> None:
    assert mcnemar_exact(5, 0) == pytest.approx(2 / 2**5)
    assert mcnemar_exact(6, 0) == pytest.approx(2 / 2**6)


@pytest.mark.parametrize("pair", [pytest.param((-1, 3), id="first"), pytest.param((3, -1), id="second")])
def test_negative_counts_are_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no counts of pairs"):
        mcnemar_exact(*pair)


@given(COUNT, COUNT)
def test_it_takes_no_side(first: int, second: int) -> None:
    assert mcnemar_exact(first, second) == mcnemar_exact(second, first)
    assert 0 < mcnemar_exact(first, second) <= 1


@given(COUNT, st.integers(0, 300))
def test_a_wider_gap_is_never_less_sure(each: int, gap: int) -> None:
    """Two pairs moved from the smaller side to the larger, their number held: p falls or stays."""
    total = 2 * each + gap + 2
    assert mcnemar_exact(each, total - each) <= mcnemar_exact(each + 1, total - each - 1)
