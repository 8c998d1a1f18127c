"""Rates of leaked rounds by series, kind and family: every figure from a small story, and its n and interval."""

from pathlib import Path
from typing import Any

import pytest

from analysis.filters import Filters
from analysis.recovery.outcomes import follow
from analysis.recovery.round_rates import RoundRates, RoundSums
from analysis.statistics.intervals import clustered_mean_from_sums
from ingest.errors import UsageError
from tests.analysis.stories import WORDS, Json, called, dice, finds, label, said, store_of

BY = finds("words", WORDS)


def leak(*place: int, word: str = "LEAK", **fields: Any) -> Json:
    return said(word, *place, **fields)


def told(folder: Path, records: list[Json], *by: str, where: list[str] | None = None) -> list[RoundRates]:
    with store_of(folder, records, BY) as store, store.cursor() as cursor:
        follow(cursor, BY.id)
        sums = RoundSums(BY.id, by or ("kind",), Filters.parse(where or []))
        sums.add(cursor)
        return sums.rates()


def usage(taken: int, given: int) -> Json:
    return {"usage": {"input_tokens": taken, "output_tokens": given}}


STORY = [
    leak(0, 0), called(0, 1, **usage(100, 10)), leak(1, 0), leak(1, 1), called(1, 2),
    leak(2, 0), said("Done.", 2, 1), leak(3, 0), leak(0, 0, word="CUT", run="cut"), called(0, 0, run="clean"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "figure"),
    [
        pytest.param("leaked_rounds", 4, id="leaked rounds"),
        pytest.param("retried", 3, id="retried"),
        pytest.param("retried_rate", 0.75, id="the share that was retried"),
        pytest.param("recovered", 2, id="recovered"),
        pytest.param("recovered_rate", 0.5, id="the recovery rate"),
        pytest.param("answered", 1, id="answered"),
        pytest.param("passed_off", 1, id="passed off"),
        pytest.param("leaked_again", 1, id="rounds with a retry that leaked again"),
        pytest.param("retries", 4, id="retries"),
        pytest.param("retry_leaked_again", 1, id="retries that leaked"),
        pytest.param("retry_leaked_again_rate", 0.25, id="the share of retries that leaked"),
        pytest.param("extra_rounds", 1.5, id="retries that a recovered round took"),
        pytest.param("extra_rounds_n", 2, id="recovered rounds"),
        pytest.param("extra_tokens", 110.0, id="tokens of the retries that tell them all"),
        pytest.param("extra_tokens_n", 1, id="recovered rounds whose retries tell their tokens"),
        pytest.param("extra_rounds_low", None, id="no interval of a mean over few runs"),
        pytest.param("nudged_labelled", 0, id="no labels"),
        pytest.param("discarded_rate", None, id="undefined without labels"),
    ],
)
def test_a_figure(key: str, figure: object, tmp_path: Path) -> None:
    first, second = told(tmp_path, STORY)
    assert first.as_json()[key] == figure
    assert (first.by, second.by) == ({"kind": "leaked_call"}, {"kind": "truncated_call"})


def test_every_rate_stands_within_its_interval(tmp_path: Path) -> None:
    for row in told(tmp_path, STORY):
        for rate in row.rates.values():
            assert rate.n == 0 or (rate.low or 0) <= (rate.value or 0) <= (rate.high or 0)


def test_sampling_slips_recover_and_template_faults_repeat(tmp_path: Path) -> None:
    slips = [each for n in range(20) for each in (leak(0, 0, run=f"s{n}"), called(0, 1, run=f"s{n}"))]
    faults = [leak(0, at, word="CUT", run=f"f{n}") for n in range(20) for at in (0, 1)]
    slip, fault = told(tmp_path, [*slips, *faults])
    assert (slip.by["kind"], slip.rates["recovered"].value, slip.rates["retry_leaked_again"].value) == (
        "leaked_call", 1, 0,
    )  # fmt: skip
    assert (fault.rates["recovered"].value, fault.rates["retry_leaked_again"].value) == (0, 1)
    assert (slip.rates["recovered"].low or 0) > (fault.rates["recovered"].high or 1)
    assert (slip.rates["retry_leaked_again"].high or 1) < (fault.rates["retry_leaked_again"].low or 0)


@pytest.mark.parametrize(
    ("records", "labels", "expected"),
    [
        pytest.param([leak(0, 0), called(0, 1)], {"g0": False}, {"leaked_call": (1, 1)}, id="a wrong nudge"),
        pytest.param([leak(0, 0), called(0, 1)], {"g0": True}, {"leaked_call": (0, 1)}, id="a right one"),
        pytest.param([leak(0, 0)], {"g0": False}, {"leaked_call": (0, 0)}, id="nobody nudged"),
        pytest.param([said("Done.", 0, 0), called(0, 1)], {"g0": False}, {None: (1, 1)},
                     id="a nudge where the detector finds nothing"),
        pytest.param([said("x", 0, 0, status="error"), called(0, 1)], {"g0": False}, {}, id="a retry after an error"),
        pytest.param([said("Done.", 0, 0), called(0, 0, run="b"), called(0, 1, run="b")], {"g0": False}, {},
                     id="another run's retry"),
        pytest.param([leak(0, 0, client="a"), called(0, 1, client="b")], {"g0": False}, {"leaked_call": (0, 0)},
                     id="another client's retry"),
    ],
)  # fmt: skip
def test_good_answers_thrown_away(
    records: list[Json], labels: dict[str, bool], expected: dict[str | None, tuple[int, int]], tmp_path: Path
) -> None:
    rows = told(tmp_path, [*records, *(label(name, leak) for name, leak in labels.items())])
    assert {row.by["kind"]: (row.rates["discarded"].hits, row.rates["discarded"].n) for row in rows} == expected


def test_rows_by_several_keys(tmp_path: Path) -> None:
    records = [leak(0, 0, model="a", run="a"), leak(0, 0, model="b", run="b"), leak(1, 0, model="b", run="b")]
    found = told(tmp_path, records, "model", "kind", "family")
    assert [(tuple(row.by.values()), row.rates["retried"].n) for row in found] == [
        (("b", "leaked_call", None), 2), (("a", "leaked_call", None), 1),
    ]  # fmt: skip


def test_filters_choose_the_first_attempts(tmp_path: Path) -> None:
    records = [leak(0, 0, model="a"), called(0, 1), leak(1, 0, model="b")]
    [row] = told(tmp_path, records, "model", where=["model=a"])
    assert (row.by, row.rates["recovered"].hits, row.rates["recovered"].n) == ({"model": "a"}, 1, 1)


def test_an_order_alone_makes_no_rate(tmp_path: Path) -> None:
    assert told(tmp_path, [leak(), called()]) == []


def test_a_usage_that_is_no_number_is_none(tmp_path: Path) -> None:
    [row] = told(tmp_path, [leak(0, 0), called(0, 1, usage={"input_tokens": 3})])
    assert (row.extra_tokens.n, row.extra_tokens.value) == (0, None)


@pytest.mark.parametrize(
    "by",
    [
        pytest.param((), id="nothing"),
        pytest.param(("kind", "kind"), id="a key twice"),
        pytest.param(("run_id",), id="no key"),
        pytest.param(("kind; DROP TABLE runs",), id="SQL"),
    ],
)
def test_keys_that_are_refused(by: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="name one or more of"):
        RoundSums(BY.id, by, Filters())


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        pytest.param([], (0, None, None, None), id="no values"),
        pytest.param([(1, 2)] * 9, (9, 2.0, None, None), id="few runs"),
        pytest.param([(1, 2)] * 30, (30, 2.0, None, None), id="all alike: no variance to go by"),
        # the mean of 1 … 20 with Student's t of 19 degrees: 10.5 ± 2.0930 * sqrt(35 / 20)
        pytest.param([(1, n) for n in range(1, 21)], (20, 10.5, 7.7312, 13.2688), id="runs of one value"),
    ],
)
def test_a_mean_of_values_that_come_in_runs(runs: list[tuple[int, int]], expected: tuple[float | None, ...]) -> None:
    found = clustered_mean_from_sums(
        sum(y for _, y in runs), sum(n for n, _ in runs), len(runs),
        sum(n * n for n, _ in runs), sum(n * y for n, y in runs), sum(y * y for _, y in runs),
    )  # fmt: skip
    assert (found.n, found.value, found.low, found.high) == pytest.approx(expected, abs=1e-3)


def test_the_interval_of_a_mean_covers_it() -> None:
    """400 draws of 25 runs with two values each that share half their variance; nominally 95 %."""
    chance, covered = dice(7), 0
    for _ in range(400):
        sums = [round(200 + 2 * chance.gauss(0, 20) + chance.gauss(0, 20) + chance.gauss(0, 20)) for _ in range(25)]
        found = clustered_mean_from_sums(sum(sums), 50, 25, 100, 2 * sum(sums), sum(y * y for y in sums))
        covered += (found.low or 0) <= 100 <= (found.high or 0)
    assert 0.92 <= covered / 400 <= 0.98
