"""`leakdown label sample`: draws what is worth a label, says what it can show, and what its labels show in `replay`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.store import Store
from tests.api.conftest import Leakdown, small_history, write
from tests.api.service import Service, served

PAIR = ("--baseline", "openrouter-net@1", "--candidate", "openrouter-net-tight@1")
KEYS = {
    "sample", "baseline", "candidate", "where", "seed", "budget", "created_at", "generations", "errors", "drawn",
    "outputs", "labelled", "strata", "reach", "budgets",
}  # fmt: skip
ESTIMATES = {
    "sample", "seed", "created_at", "generations", "drawn", "labelled", "unsure", "conflicts", "gone", "waiting",
    "behind_a_gap", "outputs", "errors", "population_changed", "unlabelled", "strata", "baseline", "candidate",
}  # fmt: skip
DETECTOR = {
    "precision", "precision_low", "precision_high", "precision_n", "recall_low", "recall_n", "leaks_found_low",
    "leaks_missed_high",
}  # fmt: skip


def test_a_sample_is_drawn_and_its_reach_told_before_anything_is_labelled(
    leakdown: Leakdown, sample_store: Path
) -> None:
    ran = leakdown("label", "sample", *PAIR, "--budget", "100", "--store", sample_store, "--json")
    assert (ran.code, ran.err) == (0, "")
    told = ran.json
    assert told.keys() == KEYS
    assert (told["sample"], told["drawn"], told["seed"], told["generations"]) == (1, 100, 1, 1358)
    assert {row["stratum"]: row["generations"] for row in told["strata"]} == {
        "baseline_only": 18, "candidate_only": 0, "both": 62, "neither_trigger": 34, "neither_no_trigger": 1244,
    }  # fmt: skip
    assert told["reach"]["candidate"]["recall_low"] < 0.9
    assert told["budgets"][-1]["budget"] > 100


def test_a_sample_on_a_terminal(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("label", "sample", *PAIR, "--budget", "5", "--store", small_store)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "sample 1: 5 of 5 generations drawn, 5 different outputs, 2 of them labelled",
        "found by             generations  drawn   chance",
        "the baseline alone             1      1  100.00%",
        "both                           2      2  100.00%",
        "neither, no trigger            2      2  100.00%",
        "",
        "What these labels can show at best (95 %), if all that is found are leaks and nothing else is:",
        "           precision at least  recall at least",
        "baseline               100.0%           100.0%",
        "candidate              100.0%           100.0%",
        "Labels that a bound on the candidate's recall takes at best: 4 for 50%, 4 for 80%, 4 for 90%.",
    ]


KNOWN = "SELECT g.generation_id, coalesce(t.leak, false) FROM generations g LEFT JOIN truth t USING (verdict_key)"
DRAWN = "SELECT g.generation_id FROM sample_items i JOIN generations g ON g.key = i.generation"


def test_the_labels_of_a_sample_bound_the_truth_of_the_whole_history(leakdown: Leakdown, sample_store: Path) -> None:
    """Every leak of the sample runs is labelled, so that all others are none: what 300 labels say can be checked."""
    leakdown("label", "sample", *PAIR, "--budget", "300", "--store", sample_store)
    with Store.open(sample_store) as store, store.cursor() as cursor:
        leaks = dict(cursor.execute(KNOWN).fetchall())
        drawn = [name for (name,) in cursor.execute(DRAWN).fetchall()]
        cursor.execute("DELETE FROM labels")

    def labelled(names: Iterable[str]) -> Any:
        said = [{"type": "label", "generation_id": name, "leak": leaks[name], "by": "ana"} for name in names]
        assert leakdown("ingest", write("labels.jsonl", *said), "--store", sample_store).code == 0
        return leakdown("replay", *PAIR, "--store", sample_store, "--json", "-").json

    told = labelled(drawn)["estimates"]
    assert told.keys() == ESTIMATES
    assert (told["labelled"], told["waiting"], told["unlabelled"]) == (300, 0, [])
    whole = labelled(leaks.keys() - set(drawn))["labelled"]
    assert whole["n"] == told["generations"] == 1358
    for side in ("baseline", "candidate"):
        assert told[side].keys() == DETECTOR
        assert told[side]["precision_low"] <= whole[side]["precision"] <= told[side]["precision_high"]
        assert 0.3 < told[side]["recall_low"] <= whole[side]["recall"]
        assert told[side]["precision_high"] - told[side]["precision_low"] < 0.2


def test_the_estimates_stand_in_the_report_on_a_terminal(leakdown: Leakdown, small_store: Path) -> None:
    leakdown("label", "sample", *PAIR, "--budget", "5", "--store", small_store)
    told = leakdown("replay", *PAIR, "--store", small_store).out
    assert "Estimated for all 5 generations from sample 1: " in told
    assert "found by             generations  drawn  labelled" in told


@pytest.mark.parametrize(
    ("call", "said"),
    [
        pytest.param(("--budget", "6"), "--budget 6: there are only 5 generations to label", id="more than there are"),
        pytest.param(("--budget", "0"), "--budget 0: ask for at least one output", id="no budget"),
        pytest.param(("--budget", "x"), "Invalid value for '--budget'", id="no number"),
        pytest.param((), "Missing option '--budget'", id="the budget is missing"),
        pytest.param(("--budget", "1", "--where", "model=none"), "no generation to draw", id="nothing matches"),
        pytest.param(("--budget", "1", "--where", "modle=x"), "--where modle=x", id="an unknown filter"),
        pytest.param(("--budget", "1", "--seed", "-1"), "--seed -1: give a number from 0", id="a negative seed"),
    ],
)
def test_a_wrong_call_is_one_line(leakdown: Leakdown, small_store: Path, call: tuple[str, ...], said: str) -> None:
    ran = leakdown("label", "sample", *PAIR, *call, "--store", small_store)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service with the small history."""
    with served(tmp_path / "http.duckdb") as running:
        running.upload(*small_history())
        yield running


WANTED = {"baseline": PAIR[1], "candidate": PAIR[3]}


def test_a_sample_over_http(service: Service) -> None:
    answer = service.http.post("/v1/samples", json={**WANTED, "budget": 3, "where": ["run_id=?"]})
    assert answer.status_code == 201
    drawn = answer.json()
    assert drawn.keys() == KEYS
    assert (drawn["drawn"], drawn["where"]) == (3, ["run_id=?"])
    assert service.http.get("/v1/samples/1").json() == drawn
    service.http.post("/v1/samples", json={**WANTED, "budget": 4})
    assert [each["sample"] for each in service.http.get("/v1/samples").json()] == [2, 1]
    assert "no sample 9" in service.refused(404, "GET", "/v1/samples/9")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        pytest.param({"budget": 9}, "only 5 generations", id="more than there are"),
        pytest.param({"budget": 0}, "budget", id="no budget"),
        pytest.param({"budget": 1, "where": ["model=none"]}, "no generation to draw", id="nothing matches"),
        pytest.param({"budget": 1, "candidate": "x@1"}, "unknown detector", id="an unknown detector"),
        pytest.param({"budget": 1, "seeds": 2}, "seeds", id="an unknown field"),
    ],
)
def test_a_wrong_request_is_refused(service: Service, wanted: dict[str, Any], said: str) -> None:
    assert said in service.refused(400, "POST", "/v1/samples", json={**WANTED, **wanted})
