"""Segments, operating points and consequences of a replay agree with a recount in plain Python."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.detectors import TIERS
from analysis.replay import replay
from analysis.statistics.intervals import clustered_rate
from analysis.statistics.paired import paired_difference
from tests.analysis.stories import BOOM, WORDS, Json, dice, finds, label, said, store_of

SECOND_WORDS: Any = {"PRINTED": ("printed_call", "certain"), "MAYBE": ("leaked_call", "likely")}
FIRST, SECOND = finds("first", WORDS), finds("second", SECOND_WORDS)
COUNTED = ("certain", "likely")


def invented() -> Iterator[Json]:
    """Outputs of clustered runs, some of which change their model on the way; two fifths are labelled."""
    thrown = dice(3)
    for at in range(400):
        text = thrown.choice([*WORDS, "LEAK", BOOM, "hello", "bye"])
        model = thrown.choice(["a", "b"]) if at % 3 else "c"
        yield said(f"{text} {at}", run=f"r{at // 7}", model=model if at % 11 else ..., engine="vllm")
        if thrown.random() < 0.4:
            yield label(f"g{at}", thrown.random() < (0.1 if text in ("hello", "bye") else 0.7))


RECORDS = list(invented())


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """The report of the invented outputs."""
    with store_of(tmp_path_factory.mktemp("figures"), RECORDS) as store:
        return replay(store, FIRST, SECOND).as_json()


def outputs() -> list[Json]:
    """Each output on which none fails, with its truth and both tiers."""
    truth = {each["generation_id"]: each["leak"] for each in RECORDS if each["type"] == "label"}
    found = []
    for at, each in enumerate(record for record in RECORDS if record["type"] == "generation"):
        word = each["content"].split()[0]
        first, second = WORDS.get(word), SECOND_WORDS.get(word)
        if word != BOOM:
            tiers = {"baseline": first and first[1], "candidate": second and second[1]}
            by = {side: tiers[side] in COUNTED for side in tiers}
            says = second if by["candidate"] else first if by["baseline"] else None
            kind, tier = says or (None, None)
            place = {"run": each["run_id"], "model": each.get("model"), "kind": kind, "tier": tier}
            found.append({**place, "truth": truth.get(f"g{at}"), "tiers": tiers, "by": by})
    return found


def difference_of(rows: list[Json]) -> Json:
    """What a segment must say of the difference."""
    runs: dict[str, list[int]] = {}
    for row in rows:
        run = runs.setdefault(row["run"], [0, 0, 0])
        run[0] += row["by"]["baseline"] and not row["by"]["candidate"]
        run[1] += row["by"]["candidate"] and not row["by"]["baseline"]
        run[2] += 1
    found = paired_difference((first, second, n) for first, second, n in runs.values())
    cells = {"n": found.n, "baseline_only": found.only_first, "candidate_only": found.only_second}
    return {**cells, "value": found.value, "low": found.low, "high": found.high}


def test_the_difference_is_that_of_a_recount(report: Json) -> None:
    assert report["difference"] == difference_of(outputs())


@pytest.mark.parametrize("dimension", ["model", "kind", "tier"])
def test_each_segment_is_that_of_a_recount(dimension: str, report: Json) -> None:
    rows = [row for row in outputs() if dimension == "model" or row["kind"]]
    segments = report["segments"][dimension]
    assert {row["value"] for row in segments["rows"]} == {row[dimension] for row in rows}
    assert segments["left_out"] == 0
    for segment in segments["rows"]:
        of = [row for row in rows if row[dimension] == segment["value"]]
        cells = Counter((row["by"]["baseline"], row["by"]["candidate"]) for row in of)
        assert (segment["both"], segment["neither"]) == (cells[True, True], cells[False, False])
        assert segment["difference"] == difference_of(of)
        assert segment["labelled"]["n"] == sum(row["truth"] is not None for row in of)
        alarms = [row for row in of if row["truth"] is False]
        assert segment["labelled"]["differences"]["false_alarms"] == difference_of(alarms)


def test_segments_with_the_most_disagreements_come_first(report: Json) -> None:
    for dimension in report["segments"].values():
        differing = [row["baseline_only"] + row["candidate_only"] for row in dimension["rows"]]
        assert differing == sorted(differing, reverse=True)
    assert sum(row["n"] for row in report["segments"]["model"]["rows"]) == report["difference"]["n"]


def rate_of(rows: list[Json], hit: Any) -> Json:
    """What a rate of `rows` must say."""
    runs: dict[str, list[int]] = {}
    for row in rows:
        run = runs.setdefault(row["run"], [0, 0])
        run[0] += bool(hit(row))
        run[1] += 1
    found = clustered_rate((hits, n) for hits, n in runs.values())
    return {"hits": found.hits, "n": found.n, "rate": found.value, "low": found.low, "high": found.high}


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_each_operating_point_is_that_of_a_recount(side: str, tier: str, report: Json) -> None:
    def flagged(row: Json) -> bool:
        return row["tiers"][side] in TIERS[: TIERS.index(tier) + 1]

    rows, point = outputs(), report["operating_points"][side][tier]
    leaks = [row for row in rows if row["truth"] is True]
    clean = [row for row in rows if row["truth"] is False]
    assert point["costs"] == {
        "extra_rounds": rate_of(rows, flagged),
        "thrown_away": rate_of(clean, flagged),
        "passed_off": rate_of(leaks, lambda row: not flagged(row)),
    }
    recall = rate_of(leaks, flagged)
    precision = rate_of([row for row in leaks + clean if flagged(row)], lambda row: row["truth"])
    assert [point["recall"], point["recall_low"]] == [recall["rate"], recall["low"]]
    assert [point["precision"], point["precision_high"]] == [precision["rate"], precision["high"]]
    assert (point["tp"], point["fp"]) == (recall["hits"], point["costs"]["thrown_away"]["hits"])


def test_the_point_that_counts_is_what_the_report_says(report: Json) -> None:
    for side in ("baseline", "candidate"):
        point = report["operating_points"][side]["likely"]
        assert {name: point[name] for name in report["labelled"][side]} == report["labelled"][side]
        assert point["costs"]["extra_rounds"]["hits"] == report["both"] + report[f"{side}_only"]


def test_the_consequences_are_those_of_a_recount_and_nothing_is_carried_over(report: Json) -> None:
    differing = [row for row in outputs() if row["by"]["baseline"] != row["by"]["candidate"]]
    added = [row for row in differing if row["by"]["candidate"]]
    saved = [row for row in differing if row["by"]["baseline"]]
    policy = report["policy"]
    for rows, found, hit, cost, gain in (
        (added, policy["candidate_only"], False, "thrown_away", "leaks_caught"),
        (saved, policy["baseline_only"], True, "passed_off", "answers_kept"),
    ):
        labelled = [row for row in rows if row["truth"] is not None]
        costs = sum(row["truth"] == hit for row in labelled)
        assert found[cost] == rate_of(labelled, lambda row, hit=hit: row["truth"] == hit)
        assert (found["labelled"], found["unlabelled"]) == (len(labelled), len(rows) - len(labelled))
        assert (found[cost]["hits"], found[gain]) == (costs, len(labelled) - costs)
    assert policy["candidate_only"]["extra_rounds"] == len(added)
    assert policy["net_extra_rounds"] == len(added) - len(saved)
    told = Counter(each["consequence"] for each in report["disagreements"])
    assert told["answer_thrown_away"] == policy["candidate_only"]["thrown_away"]["hits"] > 0
    assert told["passed_off"] == policy["baseline_only"]["passed_off"]["hits"] > 0
    assert told["extra_round"] + told["round_saved"] == sum(row["truth"] is None for row in differing)


def test_a_store_without_a_fitting_output_says_nothing(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("")]) as store:
        report = replay(store, FIRST, SECOND).as_json()
    assert (report["difference"]["n"], report["difference"]["value"]) == (0, None)
    assert report["segments"]["model"] == {"rows": [], "left_out": 0}
    assert report["operating_points"]["baseline"]["likely"]["costs"]["extra_rounds"]["rate"] is None
    assert report["shapes"]["rows"] == []


@pytest.mark.parametrize(
    ("content", "truth", "consequence"),
    [
        pytest.param("MAYBE", None, "extra_round", id="the candidate alone, not labelled"),
        pytest.param("MAYBE", True, "leak_caught", id="the candidate alone, a leak"),
        pytest.param("MAYBE", False, "answer_thrown_away", id="the candidate alone, a good answer"),
        pytest.param("LEAK", None, "round_saved", id="the baseline alone, not labelled"),
        pytest.param("LEAK", True, "passed_off", id="the baseline alone, a leak"),
        pytest.param("LEAK", False, "answer_kept", id="the baseline alone, a good answer"),
    ],
)
def test_what_one_disagreement_means(content: str, truth: bool | None, consequence: str, tmp_path: Path) -> None:
    with store_of(tmp_path, [said(content), label("g0", truth)]) as store:
        [found] = replay(store, FIRST, SECOND).as_json()["disagreements"]
    assert found["consequence"] == consequence


def test_of_too_many_segments_those_that_differ_most_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.replay.segments.KEPT", 2)
    records = [said(f"hello {at}", model=f"m{at}") for at in range(4)] + [said("LEAK", model="m9")]
    with store_of(tmp_path, records) as store:
        found = replay(store, FIRST, SECOND).as_json()["segments"]["model"]
    assert [row["value"] for row in found["rows"]] == ["m9", "m0"]
    assert found["left_out"] == 3
