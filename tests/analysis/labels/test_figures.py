"""Coverage, agreement, weak evidence and history: recounted in plain Python, and against published examples."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from analysis.filters import Filters
from analysis.labels.agreement import agreement
from analysis.labels.coverage import of_store
from analysis.labels.giving import NewLabel, add, resolve, take_back
from analysis.labels.history import history
from analysis.replay import replay
from analysis.statistics.intervals import clustered_rate
from tests.analysis.stories import LEAK, WORDS, Json, dice, event_of, finds, label, rows, said, store_of

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
FIRST = finds("first", WORDS)
SECOND = finds("second", {"PRINTED": ("printed_call", "certain"), "MAYBE": ("leaked_call", "likely")})


def test_coverage_of_a_replay_is_that_of_a_recount(tmp_path: Path) -> None:
    """Each cell and each side: how many of its outputs have a truth, how many are unsure or in conflict."""
    fate = dice(3)
    words = ["LEAK", "CUT", "PRINTED", "MAYBE", "x"]
    log: list[Json] = [said(f"{fate.choice(words)} {at}", run=f"r{at % 5}") for at in range(60)]
    names: dict[str, str] = {
        "LEAK": "baseline_only",
        "CUT": "baseline_only",
        "PRINTED": "both",
        "MAYBE": "candidate_only",
        "x": "neither",
    }
    states = {at: fate.choice(["none", "leak", "clean", "unsure", "conflict"]) for at in range(60)}
    said_of: dict[str, list[bool | None]] = {
        "none": [],
        "leak": [True],
        "clean": [False],
        "unsure": [None],
        "conflict": [True, False],
    }
    labels = [
        label(f"g{at}", leak, by=f"p{n}") for at, state in states.items() for n, leak in enumerate(said_of[state])
    ]
    with store_of(tmp_path, [*log, *labels]) as store:
        report = replay(store, FIRST, SECOND, Filters()).as_json()
        counted = Counter((names[log[at]["content"].split()[0]], state) for at, state in states.items())
        coverage = report["labelled"]["coverage"]
        for cell in ("both", "baseline_only", "candidate_only", "neither"):
            of = sum(n for (name, _), n in counted.items() if name == cell)
            labelled = counted[cell, "leak"] + counted[cell, "clean"]
            assert coverage[cell] == {
                "labelled": labelled,
                "of": of,
                "share": labelled / of,
                "unsure": counted[cell, "unsure"],
                "conflict": counted[cell, "conflict"],
            }
            assert of == report[cell]
        assert coverage["all"]["labelled"] == report["labelled"]["n"]
        assert coverage["all"]["of"] == 60
        for side in ("baseline", "candidate"):
            figures = report["labelled"][side]
            assert coverage[side]["labelled"] == figures["tp"] + figures["fp"]
            assert coverage[side]["of"] == report["both"] + report[f"{side}_only"]


def test_coverage_of_nothing_is_undefined(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("", role="judge")]) as store:
        assert of_store(store) == {
            "labelled": 0, "of": 0, "share": None, "unsure": 0, "conflict": 0, "leak": 0, "clean": 0,
            "aside": {"unknown": 0, "ambiguous": 0, "deleted": 0},
        }  # fmt: skip
        report = replay(store, FIRST, SECOND, Filters()).as_json()
        assert report["labelled"]["coverage"]["all"]["share"] is None


def test_coverage_of_the_store_counts_each_output_once(tmp_path: Path) -> None:
    """Of agents, not empty; labels of deleted outputs, unknown ones and ambiguous ones stand aside."""
    log = [said("LEAK"), said("LEAK"), said("x"), said("a", generation_id="t"), said("b", generation_id="t")]
    labels = [label("g0", True), label("nope", True), label("t", False)]
    with store_of(tmp_path, [*log, said("", round=9), said("title", role="title"), *labels]) as store:
        found = of_store(store)
        assert (found["labelled"], found["of"], found["leak"]) == (1, 4, 1)
        assert found["aside"] == {"unknown": 1, "ambiguous": 1, "deleted": 0}


def test_pairs_of_people_are_counted_by_their_last_words(tmp_path: Path) -> None:
    """Those of which one is unsure stand apart; a resolution is no opinion; three people make three pairs."""
    said_of: dict[str, list[bool | None]] = {
        "ana": [True, True, False, False, None],
        "bo": [True, False, False, False, True],
        "cy": [True],
    }
    with store_of(tmp_path, [said(f"text {at}") for at in range(5)]) as store:
        for by, words in said_of.items():
            for at, leak in enumerate(words):
                add(store, NewLabel(f"g{at}", leak, by), NOON)
        resolve(store, NewLabel("g1", True, "cy", note="so"), NOON)
        found = agreement(store)
        pairs = {(each["first"], each["second"]): each for each in found["pairs"]}
        assert pairs.keys() == {("ana", "bo"), ("ana", "cy"), ("bo", "cy")}
        one = pairs["ana", "bo"]
        counts = ("n", "both_leak", "first_only", "second_only", "both_clean", "unsure")
        assert [one[name] for name in counts] == [4, 1, 1, 0, 2, 1]
        assert (one["agreement"], one["kappa"]) == (0.75, 0.5)
        assert one["agreement_low"] < 0.75 < one["agreement_high"]
        assert (pairs["bo", "cy"]["kappa"], pairs["bo", "cy"]["agreement"]) == (None, 1.0)
        assert found["people"][0] == {"by": "ana", "labels": 5, "leak": 2, "clean": 2, "unsure": 1}


def test_weak_evidence_is_set_against_truth_by_a_recount(tmp_path: Path) -> None:
    """Over generations, with intervals that know about runs."""
    fate = dice(5)
    log: list[Json] = []
    for at in range(60):
        more = {"reprimand": "Call a tool."} if fate.random() < 0.5 else {}
        log.append(said(f"text {at}", run=f"r{at % 12}", **more))
    truth = {at: fate.random() < (0.8 if "reprimand" in log[at] else 0.2) for at in range(0, 60, 2)}
    with store_of(tmp_path, [*log, *(label(f"g{at}", leak) for at, leak in truth.items())]) as store:
        reprimand, event = agreement(store)["evidence"]
        hinted = [at for at in truth if "reprimand" in log[at]]
        leaks = [at for at, leak in truth.items() if leak]
        right = clustered_rate(_by_run(log, hinted, truth))
        told = clustered_rate(_by_run(log, leaks, {at: "reprimand" in log[at] for at in leaks}))
        assert reprimand == {
            "source": "reprimand", "generations": sum("reprimand" in each for each in log),
            "labelled": len(hinted), "right": right.hits, "right_share": right.value, "right_low": right.low,
            "right_high": right.high, "leaks": len(leaks), "told": told.hits, "told_share": told.value,
            "told_low": told.low, "told_high": told.high,
        }  # fmt: skip
        assert (event["generations"], event["right_share"], event["told_share"]) == (0, None, 0.0)


def _by_run(log: list[Json], ats: list[int], hit: dict[int, bool]) -> list[tuple[int, int]]:
    runs: dict[str, list[bool]] = {}
    for at in ats:
        runs.setdefault(log[at]["run_id"], []).append(hit[at])
    return [(sum(hits), len(hits)) for hits in runs.values()]


@pytest.mark.parametrize(
    ("extra", "evidence"),
    [
        pytest.param({"reprimand": "Call a tool."}, 1, id="a reprimand"),
        pytest.param({"reprimand": None}, 0, id="none in the source"),
        pytest.param({"reprimand": ""}, 0, id="an empty one"),
        pytest.param({"note": '"reprimand": "x"'}, 0, id="a text that quotes one"),
        pytest.param({"more": {"reprimand": "x"}}, 0, id="deeper within"),
        pytest.param({"more": 1e308, "reprimand": {"code": 1}}, 1, id="an object"),
    ],
)
def test_a_reprimand_is_a_field_of_the_generation(extra: Json, evidence: int, tmp_path: Path) -> None:
    with store_of(tmp_path, [said("x", **extra)]) as store:
        assert rows(store, "SELECT count(*) FROM weak_evidence") == [(evidence,)]


def test_a_report_is_evidence_once_for_each_generation(tmp_path: Path) -> None:
    with store_of(
        tmp_path, [said(LEAK, 0), event_of(LEAK, round=0), event_of(LEAK, round=0, leak=2), event_of("z")]
    ) as s:
        assert rows(s, "SELECT source, count(*) FROM weak_evidence GROUP BY ALL") == [("event", 1)]


def test_the_history_tells_every_change(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK"), said("x"), label("g1", False, by="cy", at="2026-10-01T00:00:00Z")]) as store:
        at = [NOON + timedelta(minutes=n) for n in range(9)]
        add(store, NewLabel("g0", True, "ana"), at[0])
        add(store, NewLabel("g0", True, "ana", note="still"), at[1])
        last = add(store, NewLabel("g0", None, "ana"), at[2])
        take_back(store, last, at[3])
        add(store, NewLabel("g0", False, "ana"), at[4])
        add(store, NewLabel("g0", True, "bo"), at[5])
        resolve(store, NewLabel("g0", False, "bo", note="a quotation"), at[6])
        found = [(each["by"], each["what"], each["before"], each["verdict"]) for each in history(store)][::-1]
        assert found == [
            ("cy", "labelled", None, "clean"),
            ("ana", "labelled", None, "leak"),
            ("ana", "confirmed", "leak", "leak"),
            ("ana", "changed", "leak", "unsure"),
            ("ana", "taken back", "unsure", "unsure"),
            ("ana", "changed", "leak", "clean"),
            ("bo", "labelled", None, "leak"),
            ("bo", "resolved", None, "clean"),
        ]
        assert [each["by"] for each in history(store, "g1")] == ["cy"]
        assert [each["source"] for each in history(store, by="cy")] == ["log.jsonl"]
        assert [each["what"] for each in history(store, limit=2)] == ["resolved", "labelled"]
        assert history(store, "nope") == []
