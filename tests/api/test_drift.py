"""`leakdown drift`, its gate, what the service answers, and the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.routes.answers.drift import Drift
from tests.analysis.drift.histories import history
from tests.api.conftest import LEAK, Leakdown, write
from tests.api.service import Service, served

RECORDS = [
    {**each, "content": LEAK if each["content"] == "LEAK" else each["content"]}
    for version, leaks, days in (("0.1", 1, range(30)), ("0.2", 5, range(30, 60)))
    for each in history(days, leaks, runs=10, engine_version=version)
]
"""Thirty days with 10 % of leaks, and thirty of a further version with 50 %."""
PART = {"n", "leaks", "rate", "low", "high", "runs", "first_day", "last_day"}
LINE = {"model", "provider", "engine", "client"}


@pytest.fixture
def upgraded(leakdown: Leakdown, tmp_path: Path) -> Path:
    """A store with the two versions."""
    store = tmp_path / "upgraded.duckdb"
    assert leakdown("ingest", "--store", store, write(tmp_path / "log.jsonl", *RECORDS)).code == 0
    return store


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the two versions."""
    with served(tmp_path_factory.mktemp("drift") / "s.duckdb") as running:
        running.upload(*RECORDS)
        yield running


def test_the_keys_that_stay(leakdown: Leakdown, upgraded: Path) -> None:
    found = leakdown("drift", "--store", upgraded, "--json").json
    [row], [point] = found["comparisons"], found["change_points"]
    assert row.keys() >= {*LINE, "dimension", "from", "to", "difference", "low", "high", "p", "q", "verdict"}
    assert row["before"].keys() == row["after"].keys() == PART
    assert point.keys() >= {*LINE, "at", "before", "after", "p"}
    assert (row["dimension"], row["from"], row["to"], row["verdict"]) == ("engine_version", "0.1", "0.2", "worse")
    assert (row["before"]["leaks"], row["before"]["n"], row["after"]["leaks"]) == (30, 300, 150)
    assert point["at"] == "2026-10-01"


def test_the_tables_say_the_same(leakdown: Leakdown, upgraded: Path) -> None:
    ran = leakdown("drift", "--store", upgraded)
    assert "engine_version 0.1 → 0.2" in ran.out
    assert "30/300" in ran.out
    assert "2026-10-01" in ran.out
    assert ran.err.startswith("by leakdown@1; lines: 1; versions compared: 1, of them 1 worse and 0 better")


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        pytest.param("counts.worse > 0", 1, id="a version that is worse"),
        pytest.param("counts.worse_for_sure > 0 and counts.rises > 0", 1, id="both"),
        pytest.param("counts.better > 0", 0, id="none that is better"),
        pytest.param("counts.wrose > 0", 1, id="a typo fails"),
        pytest.param("counts.worse >", 2, id="no expression"),
    ],
)
def test_the_gate_decides_the_exit_code(leakdown: Leakdown, upgraded: Path, expression: str, code: int) -> None:
    assert leakdown("drift", "--store", upgraded, "--fail-on", expression).code == code


def test_an_empty_store_has_no_drift(leakdown: Leakdown, tmp_path: Path) -> None:
    store = tmp_path / "clean.duckdb"
    leakdown("ingest", "--store", store, write(tmp_path / "one.jsonl", {**RECORDS[0], "tools": []}))
    found = leakdown("drift", "--store", store, "--json").json
    assert (found["counts"]["lines"], found["comparisons"], found["change_points"]) == (0, [], [])


def test_the_service_answers_with_all_that_it_documents(service: Service) -> None:
    declared = Drift.model_validate(service.http.get("/v1/drift").json())
    assert declared.model_extra == declared.counts.model_extra == {}
    assert all(each.model_extra == each.before.model_extra == {} for each in declared.comparisons)
    assert all(each.model_extra == {} for each in declared.change_points)


def test_the_page_says_what_changed_and_links_what_stands_behind(service: Service) -> None:
    page = service.http.get("/drift").text
    assert "<b>2026-10-01</b>" in page
    assert '<b class="leaks">worse</b>' in page
    assert "/runs?where=model%3Dm&amp;where=provider%3D&amp;where=engine%3Dvllm&amp;where=client%3D" in page
    assert "Also then" in page


def test_the_figure_has_rates_numbers_versions_and_the_change(service: Service) -> None:
    figure = service.http.get("/v1/drift/figure?where=model=m").json()
    rates, numbers = figure["data"]
    assert sum(numbers["y"]) == len(RECORDS)
    assert len(rates["y"]) == len(numbers["y"])
    assert [each["text"] for each in figure["layout"]["annotations"]] == ["0.2"]
    assert [each["type"] for each in figure["layout"]["shapes"]] == ["rect", "line"]
    assert "leakdown@1" in figure["layout"]["xaxis2"]["title"]["text"]


def test_a_line_that_is_none_has_no_figure(service: Service) -> None:
    assert service.http.get("/v1/drift/figure?where=model=none").status_code == 404
