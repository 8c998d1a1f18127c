"""Adjusted p values: the published example, and what holds of any."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.statistics.multiplicity import benjamini_hochberg, holm

PUBLISHED = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0,
]  # fmt: skip
"""The fifteen hypotheses of Benjamini and Hochberg (1995), section 4."""


def test_the_published_example_rejects_four_at_5_percent() -> None:
    assert [q <= 0.05 for q in benjamini_hochberg(PUBLISHED)] == [True] * 4 + [False] * 11


def test_holm_rejects_three_of_them_as_bonferroni_does() -> None:
    assert [p <= 0.05 for p in holm(PUBLISHED)] == [True] * 3 + [False] * 12


@pytest.mark.parametrize("adjust", [benjamini_hochberg, holm])
def test_nothing_asked_nothing_adjusted(adjust: Callable[[list[float]], list[float]]) -> None:
    assert adjust([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_adjusting_never_makes_a_p_smaller_and_holm_is_the_stricter(given_: list[float]) -> None:
    q, adjusted = benjamini_hochberg(given_), holm(given_)
    assert all(p <= each * (1 + 1e-12) <= 1 + 1e-9 for p, each in zip(given_, q, strict=True))
    assert all(a >= b * (1 - 1e-12) for a, b in zip(adjusted, q, strict=True))
