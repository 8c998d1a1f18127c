"""Bounds from a random draw per stratum: known values, what they must never do, and how often they hold."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, hypergeom

from analysis.sampling.cells import FOUND
from analysis.statistics.stratified import Stratum, error_shares, fewest, precision, recall_bound
from tests.analysis.statistics.simulated_labels import BUDGETS, PREVALENCES, simulate, table

DOCUMENT = Path(__file__).parents[3] / "docs" / "statistics.md"
MILLION = 1_000_000


@st.composite
def strata(draw: st.DrawFn) -> Stratum:
    """Any stratum, empty and labelled throughout among them."""
    size = draw(st.integers(0, 60))
    looked = draw(st.integers(0, size))
    leaks = draw(st.integers(0, looked))
    unknown = draw(st.integers(0, looked - leaks))
    more_leaks = draw(st.integers(0, size - looked))
    return Stratum(size, looked, leaks, unknown, more_leaks, draw(st.integers(0, size - looked - more_leaks)))


@pytest.mark.parametrize(
    ("looked", "leaks"),
    [
        pytest.param(150, 0, id="0 of 150"),
        pytest.param(150, 150, id="150 of 150"),
        pytest.param(75, 0, id="0 wrong of 75 still allows about 4 %"),
        pytest.param(200, 17, id="17 of 200"),
    ],
)
def test_a_small_draw_of_many_has_the_bounds_of_clopper_and_pearson(looked: int, leaks: int) -> None:
    told = binomtest(leaks, looked).proportion_ci(0.95, "exact")
    stratum = Stratum(MILLION, looked, leaks)
    assert stratum.least(0.025) / MILLION == pytest.approx(told.low, abs=2e-4)
    assert stratum.most(0.025) / MILLION == pytest.approx(told.high, abs=2e-4)


def test_none_of_n_bounds_a_stratum_at_about_three_in_n() -> None:
    assert Stratum(MILLION, 300, 0).most(0.05) / MILLION == pytest.approx(3 / 300, rel=0.01)


@pytest.mark.parametrize(
    ("prevalence", "low"), [pytest.param(0.002, 0.09, id="0.2 %"), pytest.param(0.01, 0.33, id="1 %")]
)
def test_what_150_clean_labels_among_a_million_silent_outputs_say(prevalence: float, low: float) -> None:
    leaks = round(prevalence * MILLION)
    told = recall_bound([Stratum(leaks, leaks, leaks)], [Stratum(MILLION, 150, 0)])
    assert told.low == pytest.approx(low, abs=0.01)


@pytest.mark.parametrize(
    ("size", "drawn"), [pytest.param(12, 5, id="5 of 12"), pytest.param(30, 29, id="all but one of 30")]
)
def test_a_bound_fails_as_rarely_as_it_says_whatever_the_truth(size: int, drawn: int) -> None:
    """Every number of leaks that there can be, and every draw, by its exact chance."""
    for error in (0.2, 0.05):
        for truth in range(size + 1):
            for bound in ("least", "most"):
                failing = 0.0
                for hits in range(max(0, drawn - size + truth), min(drawn, truth) + 1):
                    of = Stratum(size, drawn, hits)
                    holds = of.least(error) <= truth if bound == "least" else truth <= of.most(error)
                    failing += 0.0 if holds else hypergeom.pmf(hits, size, truth, drawn)
                assert failing <= error


def test_a_bound_is_the_tightest_of_its_kind() -> None:
    """One leak fewer would show so many hits in at most 5 % of draws."""
    least = fewest(500, 40, 9, 0.05)
    assert hypergeom.sf(8, 500, least, 40) > 0.05 >= hypergeom.sf(8, 500, least - 1, 40)


def test_what_is_labelled_throughout_is_known() -> None:
    found, silent = [Stratum(20, 20, 15), Stratum(5, 5, 0)], [Stratum(40, 40, 3)]
    share, bound = precision(found), recall_bound(found, silent)
    assert (share.n, share.value, share.low, share.high) == (25, 0.6, 0.6, 0.6)
    assert (bound.n, bound.low, bound.found, bound.missed) == (65, 15 / 18, 15, 3)


def test_each_label_weighs_one_over_its_chance() -> None:
    """Leaks: 9 of 10 in 1,000 outputs, 1 of 4 in 8."""
    assert precision([Stratum(1000, 10, 9), Stratum(8, 4, 1)]).value == pytest.approx((900 + 2) / 1008)


@pytest.mark.parametrize(
    "found",
    [
        pytest.param([], id="no stratum"),
        pytest.param([Stratum(0, 0, 0)], id="nothing is found"),
        pytest.param([Stratum(10, 0, 0)], id="nothing is looked at"),
    ],
)
def test_without_a_label_nothing_is_said(found: Sequence[Stratum]) -> None:
    share, bound = precision(found), recall_bound(found, [Stratum(9, 0, 0)])
    assert (share.n, share.value, share.low, share.high, bound.low) == (0, None, None, None, None)


def test_a_stratum_without_a_label_may_hold_anything() -> None:
    found = [Stratum(100, 100, 80), Stratum(100, 0, 0)]
    share = precision(found)
    assert (share.value, share.low, share.high) == (None, 0.4, 0.9)
    bound = recall_bound(found, [Stratum(1000, 0, 0)])
    assert (bound.found, bound.missed, bound.low) == (80, 1000, 80 / 1080)


def test_neither_a_leak_found_nor_one_missed_is_no_recall() -> None:
    assert recall_bound([Stratum(3, 3, 0)], [Stratum(9, 9, 0)]).low is None


def test_what_people_cannot_tell_counts_against_a_bound_and_not_in_the_estimate() -> None:
    found = [Stratum(20, 20, 12, unknown=4)]
    share = precision(found)
    assert (share.n, share.value, share.low, share.high) == (16, 0.75, 0.6, 0.8)
    assert recall_bound(found, [Stratum(10, 10, 0, unknown=3)]).low == 12 / 15


def test_what_is_known_beside_the_draw_tightens_a_bound_and_not_the_estimate() -> None:
    share = precision([Stratum(20, 4, 2, more_leaks=8, more_clean=6)])
    assert (share.n, share.value, share.low, share.high) == (4, 0.5, 0.5, 0.6)


def test_an_estimate_does_not_pass_what_is_known() -> None:
    """One draw says leak, and ten others are known to be none; five draws say none, and three others are leaks."""
    for of, known in ((Stratum(20, 1, 1, more_clean=10), 0.5), (Stratum(8, 5, 0, more_leaks=3), 3 / 8)):
        share = precision([of])
        assert (share.value, share.high) == (known, known)


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param((5, 6, 0), id="more looked at than there are"),
        pytest.param((5, 2, 3), id="more leaks than looked at"),
        pytest.param((5, 2, 1, 2), id="more answers than looked at"),
        pytest.param((5, 4, 0, 0, 2), id="more known than there are"),
        pytest.param((5, 4, -1), id="negative leaks"),
        pytest.param((5, 2, 0, -1), id="negative unknown ones"),
    ],
)
def test_counts_that_cannot_be_are_refused(counts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="is no draw"):
        Stratum(*counts)


@given(st.lists(strata(), max_size=5))
def test_the_errors_of_the_strata_add_up_to_that_of_the_whole(each: list[Stratum]) -> None:
    shares = error_shares(each, 0.05)
    assert sum(shares) == pytest.approx(0.05 if any(one.unsure for one in each) else 0.0)
    assert [share > 0 for share in shares] == [one.unsure for one in each]


@given(st.lists(strata(), max_size=3), st.lists(strata(), max_size=3))
def test_bounds_hold_the_estimate_and_stay_proportions(found: list[Stratum], silent: list[Stratum]) -> None:
    share, bound = precision(found), recall_bound(found, silent)
    if share.low is not None and share.high is not None:
        assert 0 <= share.low <= (share.low if share.value is None else share.value) <= share.high <= 1
    assert bound.low is None or 0 <= bound.low <= 1
    assert bound.found <= sum(each.size for each in found)
    assert bound.missed <= sum(each.size for each in silent)


@given(strata(), st.sampled_from([0.001, 0.05, 0.5]))
def test_no_bound_passes_what_is_known(of: Stratum, error: float) -> None:
    assert of.leaks + of.more_leaks <= of.least(error)
    assert of.most(error) <= of.size - (of.known - of.leaks) - of.more_clean


@pytest.mark.parametrize("prevalence", [pytest.param(each, id=f"{each:.1%} leaks") for each in PREVALENCES])
@pytest.mark.parametrize("unsure", [pytest.param(0.0, id="all sure"), pytest.param(0.3, id="unsure of leaks")])
def test_the_bounds_hold_in_a_short_simulation(prevalence: float, unsure: float) -> None:
    got = simulate(prevalence, BUDGETS[0], "candidate", 60, unsure)
    assert got.precision_covered >= 0.94
    assert got.recall_covered >= 0.94
    assert got.recall_low > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("prevalence", [pytest.param(each, id=f"{each:.1%} leaks") for each in PREVALENCES])
@pytest.mark.parametrize("budget", [pytest.param(each, id=f"{each} labels") for each in BUDGETS])
@pytest.mark.parametrize("unsure", [pytest.param(0.0, id="all sure"), pytest.param(0.3, id="unsure of leaks")])
def test_the_bounds_hold_in_at_least_94_of_100_draws(prevalence: float, budget: int, unsure: float) -> None:
    for side in FOUND:
        got = simulate(prevalence, budget, side, 1_000, unsure)
        print(f"{side}: {got}")
        assert got.precision_covered >= 0.94
        assert got.recall_covered >= 0.94


@pytest.mark.slow
def test_the_document_shows_the_table_of_the_simulation() -> None:
    assert table() in DOCUMENT.read_text("utf-8")
