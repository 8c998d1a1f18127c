"""`leakdown recovery`, and what the service answers: keys that stay, figures of a small history, tables."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.routes.answers.recovery import Recovery
from tests.api.conftest import Leakdown, generation, small_history, write
from tests.api.service import Service, served

OBSERVED = {"extra_rounds", "recovered", "answered", "errored", "passed_off", "discarded"}
OUTCOMES = {"structured", "answered", "leaked_again", "passed_off", "errored", "cancelled", "unknown"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the small history, to read from."""
    with served(tmp_path_factory.mktemp("recovery") / "s.duckdb") as running:
        running.upload(*small_history())
        yield running


def test_the_keys_that_stay(leakdown: Leakdown, small_store: Path) -> None:
    found = leakdown("recovery", "--store", small_store, "--json").json
    assert set(found["outcomes"]) == OUTCOMES
    for each in found["policies"]:
        assert each.keys() >= {"policy", "handled", "observed", "estimated", "salvaged"}
        assert each["observed"].keys() >= OBSERVED
        assert each["estimated"].keys() >= {
            *OBSERVED,
            *(f"{name}_{end}" for name in OBSERVED for end in ("low", "high")),
        }


def test_the_service_answers_with_all_that_it_documents(service: Service) -> None:
    answer = service.http.get("/v1/recovery").json()
    declared = Recovery.model_validate(answer)
    assert declared.model_extra == {}
    assert all(each.model_extra == each.estimated.model_extra == {} for each in declared.policies)


def test_the_figures_of_a_small_history(leakdown: Leakdown, small_store: Path) -> None:
    """A leak that a retry mends, and one that is passed off; one of the two is labelled."""
    found = leakdown("recovery", "--store", small_store, "--policy", "goat", "--json").json
    assert {name: n for name, n in found["outcomes"].items() if n} == {"structured": 1, "passed_off": 1}
    [goat] = found["policies"]
    assert (goat["policy"], goat["rounds"], goat["handled"]) == ("goat@1", 2, 2)
    seen, unseen = goat["observed"], goat["estimated"]
    assert (seen["n"], seen["recovered"], seen["labelled"], seen["discarded"]) == (1, 1, 1, 0)
    assert (unseen["n"], unseen["recovered"]) == (1, 1.0)
    assert unseen["recovered_low"] < 0.3


def test_each_policy_once_in_the_order_asked_for(leakdown: Leakdown, small_store: Path) -> None:
    asked = ("--policy", "salvage", "--policy", "goat@1", "--policy", "goat", "--policy", "goat:round_cap=3")
    found = leakdown("recovery", "--store", small_store, *asked, "--json").json["policies"]
    assert [each["policy"] for each in found] == ["salvage@1", "goat@1", "goat@1:round_cap=3"]
    assert found[2]["parameters"] == {"max_retries": 1, "round_cap": 3}


def test_a_table_keeps_observed_and_estimated_apart(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("recovery", "--store", small_store, "--policy", "goat", "--policy", "report-only")
    outcomes, rates, observed, estimated = (part.splitlines() for part in ran.out.split("\n\n"))
    assert outcomes[0].split()[:2] == ["structured", "answered"]
    assert rates[0].split()[:3] == ["kind", "leaked", "rounds"]
    assert [line.split()[0] for line in observed] == ["policy", "goat@1", "report-only@1"]
    assert [line.split()[0] for line in estimated] == ["policy", "goat@1"]
    assert "2 rounds that began with a leak" in ran.err
    assert "strict check of 1 retries that stood" in ran.err


def test_rates_by_kind_and_family(leakdown: Leakdown, small_store: Path) -> None:
    found = leakdown("recovery", "--store", small_store, "--by", "kind, family", "--json").json["rates"]
    assert [list(row)[:2] for row in found] == [["kind", "family"]] * len(found)
    assert sum(row["leaked_rounds"] for row in found) == 2
    assert sum(row["recovered"] for row in found) == 1
    for row in found:
        assert row["recovered_low"] <= row["recovered_rate"] <= row["recovered_high"]


@pytest.mark.parametrize("by", [pytest.param("kind,sort", id="no key"), pytest.param(" ,", id="nothing")])
def test_keys_that_are_refused(by: str, leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("recovery", "--store", small_store, "--by", by)
    assert (ran.code, ran.out) == (2, "")
    assert "name one or more of model, provider" in ran.err


def test_the_service_tells_rates_and_evidence_by_the_same_keys(service: Service) -> None:
    answer = service.http.get("/v1/recovery", params={"by": "model,kind", "policy": "goat"}).json()
    assert sum(row["leaked_rounds"] for row in answer["rates"]) == 2
    assert all({"model", "kind"} <= row.keys() for row in answer["rates"])
    assert answer["evidence"] == {"structured": {"explicit_attempt": 1}, "passed_off": {"end_of_turn": 1}}
    refused = service.http.get("/v1/recovery", params={"by": "sort"})
    assert (refused.status_code, "--by sort" in refused.text) == (400, True)


def test_a_run_names_the_evidence_of_each_outcome(service: Service) -> None:
    runs = [row["run_id"] for row in service.http.get("/v1/runs", params={"leaking": True}).json()["items"]]
    told = [each for run in runs for each in service.http.get(f"/v1/runs/{run}").json()["generations"]]
    assert {(each["outcome"], each["evidence"]) for each in told} == {
        ("structured", "explicit_attempt"), ("passed_off", "end_of_turn"), (None, None),
    }  # fmt: skip


def test_a_history_without_leaks_says_so(leakdown: Leakdown, tmp_path: Path) -> None:
    log = write(tmp_path / "clean.jsonl", generation("a", 0, "All is well."))
    assert leakdown("ingest", log, "--store", "clean.duckdb").code == 0
    ran = leakdown("recovery", "--store", "clean.duckdb")
    assert (ran.code, ran.out.splitlines()[1].split()) == (0, ["0"] * 7)
    assert "no round began with a leak" in ran.err


@pytest.mark.parametrize(
    ("options", "rounds"),
    [
        pytest.param((), 2, id="all"),
        pytest.param(("--where", "run_id=b"), 1, id="one run"),
        pytest.param(("--where", "model=x"), 0, id="no model of that name"),
        pytest.param(("--since", "2026-01-01"), 0, id="what has no time is not since any"),
    ],
)
def test_recovery_of_a_part(leakdown: Leakdown, small_store: Path, options: tuple[str, ...], rounds: int) -> None:
    assert leakdown("recovery", "--store", small_store, *options, "--json").json["rounds"] == rounds


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        pytest.param("nudge", "unknown policy 'nudge'; known: foundry@1", id="an unknown policy"),
        pytest.param("goat:max_retries=many", "max_retries=many: write a number from 0 on", id="a wrong value"),
        pytest.param("salvage:x=1", "parameters of salvage: none", id="a parameter that it has not"),
    ],
)
def test_a_wrong_policy_is_one_clear_line(leakdown: Leakdown, small_store: Path, policy: str, said: str) -> None:
    ran = leakdown("recovery", "--store", small_store, "--policy", policy)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_the_service_lists_the_policies_with_their_reasons(service: Service) -> None:
    listed: list[dict[str, Any]] = service.http.get("/v1/policies").json()
    names = [each["policy"].partition("@")[0] for each in listed]
    assert names == ["foundry", "goat", "openrouter-net", "report-only", "retry-n", "salvage"]
    goat = listed[1]
    assert [each["name"] for each in goat["parameters"]] == ["max_retries", "round_cap"]
    assert {"action": "fail", "code": "second_leak"}.items() <= {
        key: value for each in goat["reasons"] if each["code"] == "second_leak" for key, value in each.items()
    }.items()
