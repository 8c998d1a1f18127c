"""A replay accounts for every output, and its figures agree with a recount in plain Python."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.detectors import Detector, detector
from analysis.filters import Filters
from analysis.replay import Replay, replay
from analysis.statistics.intervals import clustered_rate
from analysis.statistics.paired import mcnemar_exact
from tests.analysis.stories import BOOM, LEAK, WORDS, Json, called, dice, finds, label, rows, said, store_of

FIRST = finds("first", WORDS)
SECOND = finds("second", {"PRINTED": ("printed_call", "certain"), "MAYBE": ("leaked_call", "likely")})
OPENROUTER, GOAT = detector("openrouter-net@1"), detector("goat@1")


def of(folder: Path, records: list[Json], *pair: Detector, where: str = "", **period: str) -> Replay:
    baseline, candidate = pair or (FIRST, SECOND)
    with store_of(folder, records) as store:
        return replay(store, baseline, candidate, Filters.parse(where.split(), **period))


@pytest.mark.parametrize(
    ("content", "cell"),
    [
        pytest.param("PRINTED", "both", id="both; a printed call is a leak here"),
        pytest.param("LEAK", "baseline_only", id="the baseline alone"),
        pytest.param("MAYBE", "candidate_only", id="the candidate alone: a possible finding of the baseline is none"),
        pytest.param("hello", "neither", id="neither"),
        pytest.param(BOOM, None, id="both fail: an error, in none of the cells"),
    ],
)
def test_each_output_stands_in_one_cell(content: str, cell: str | None, tmp_path: Path) -> None:
    report = of(tmp_path, [said(content)])
    cells = ("both", "baseline_only", "candidate_only", "neither")
    assert {name: getattr(report, name) for name in cells} == {name: int(name == cell) for name in cells}
    assert (report.generations, report.baseline_errors, report.candidate_errors) == (1, *[int(cell is None)] * 2)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        pytest.param(said("hello", model="b"), "filtered", id="filtered"),
        pytest.param(said("hello"), "filtered", id="filtered for what is missing"),
        pytest.param(said("hello", model="a", role="judge"), "other_role", id="another role"),
        pytest.param(said("", model="a"), "no_output", id="empty text"),
        pytest.param(said(" \n", model="a"), "no_output", id="blank text"),
        pytest.param(said(None, model="a", status="error"), "no_output", id="an error without output"),
        pytest.param(said("", model="b", role="judge"), "filtered", id="several reasons: the first of them"),
        pytest.param(said("hello", 0, 3, model="a"), None, id="a retry is compared"),
        pytest.param(said("hello", model="a", tools=[]), None, id="no tools: compared"),
        pytest.param(said("hello", model="a", role="subagent"), None, id="a subagent: compared"),
        pytest.param(said(None, model="a", reasoning="Hm."), None, id="reasoning alone: compared"),
        pytest.param(called(model="a"), None, id="a structured call: compared"),
    ],
)
def test_what_is_left_out_and_why(record: Json, reason: str | None, tmp_path: Path) -> None:
    report = of(tmp_path, [record, said("LEAK", model="a")], where="model=a")
    assert report.left_out == ({reason: 1} if reason else {})
    assert report.generations == (1 if reason else 2)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        pytest.param(said("hello"), "no_time", id="no time, so in no period"),
        pytest.param(said("hello", started_at="2026-10-31T23:59:59Z"), "out_of_period", id="before"),
        pytest.param(said("hello", started_at="2026-11-03T00:00:00Z"), "out_of_period", id="after the last day"),
        pytest.param(said("hello", started_at="2026-11-02T23:59:59Z"), None, id="at the end of the last day"),
        pytest.param(said("hello", started_at="2026-11-01T00:00:00Z"), None, id="at the first moment"),
        pytest.param(said("", started_at="2026-11-02T00:00:00Z"), "no_output", id="in time, but empty"),
        pytest.param(said("", run="x"), "filtered", id="several reasons: the filters come first"),
    ],
)
def test_a_period_says_what_it_leaves_out(record: Json, reason: str | None, tmp_path: Path) -> None:
    matching = said("hello", 9, started_at="2026-11-01T12:00:00Z")
    report = of(tmp_path, [record, matching], where="run_id=r", since="2026-11-01", until="2026-11-02")
    assert report.left_out == ({reason: 1} if reason else {})
    assert report.as_json()["population"] == {
        "generations": 1 + int(reason is None),
        "left_out": report.left_out,
        "stored": 2,
        "where": ["run_id=r"],
        "since": "2026-11-01T00:00:00Z",
        "until": "2026-11-03T00:00:00Z",
    }


def test_one_detector_may_fail_where_the_other_does_not(tmp_path: Path) -> None:
    whole = finds("whole", {BOOM: ("leaked_call", "certain")})
    calm = Detector("calm", 1, "", "", ("x",), lambda _: None, (), ())
    report = of(tmp_path, [said(BOOM), said("x"), said("LEAK")], whole, calm)
    assert (report.baseline_errors, report.candidate_errors) == (1, 0)
    assert (report.generations, report.neither, report.disagreements) == (3, 2, [])


@pytest.mark.parametrize(
    ("labels", "labelled"),
    [
        pytest.param([label("g0", True)], 1, id="one label"),
        pytest.param([label("g0", True), label("g0", True, by="bob")], 1, id="two people agree"),
        pytest.param([label("g0", True), label("g0", False, by="bob")], 0, id="two people contradict each other"),
        pytest.param([label("g0", None)], 0, id="unsure"),
        pytest.param([label("g0", True), label("g0", None)], 0, id="unsure after all"),
        pytest.param([label("g0", None), label("g0", True)], 1, id="sure after all"),
        pytest.param([label("g0", True), label("g0", None, by="bob")], 1, id="another person is unsure"),
        pytest.param(
            [label("g0", True), label("g0", False, by="bob"), label("g0", True, by="bob", note="I see")],
            1,
            id="a conflict resolved",
        ),
        pytest.param([label("g9", True)], 0, id="an output that is not here"),
        pytest.param([], 0, id="no label"),
    ],
)
def test_truth_is_what_people_agree_on(labels: list[Json], labelled: int, tmp_path: Path) -> None:
    found = of(tmp_path, [said("LEAK"), said("hello"), *labels]).labelled
    assert (found.n, found.baseline.tp, found.candidate.fn) == (labelled,) * 3


def test_without_labels_and_without_hits_the_figures_are_undefined(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    none = of(tmp_path / "none", [said("LEAK")]).labelled.as_json()
    assert none["mcnemar_p"] is None
    silent = of(tmp_path, [said("hello"), label("g0", False)]).labelled.as_json()
    assert silent["mcnemar_p"] == 1.0
    assert none["differences"]["recall"]["value"] is none["differences"]["false_alarms"]["low"] is None
    for side in (none["baseline"], none["candidate"], silent["baseline"], silent["candidate"]):
        assert {name for name, value in side.items() if value is None} == {
            "precision", "precision_low", "precision_high", "recall", "recall_low", "recall_high"
        }  # fmt: skip


def test_precision_without_a_missed_leak_is_defined_and_recall_without_a_leak_is_not(tmp_path: Path) -> None:
    found = of(tmp_path, [said("LEAK"), label("g0", False)]).labelled
    assert (found.baseline.precision.value, found.baseline.recall.value) == (0.0, None)


@pytest.mark.parametrize(
    ("content", "truth", "figure"),
    [
        pytest.param("MAYBE", True, "new_tp", id="the candidate finds a leak"),
        pytest.param("MAYBE", False, "new_fp", id="the candidate cries wolf"),
        pytest.param("LEAK", True, "lost_tp", id="the candidate loses a leak"),
        pytest.param("LEAK", False, "lost_fp", id="the candidate cries wolf no more"),
        pytest.param("PRINTED", True, None, id="both are right"),
        pytest.param("hello", False, None, id="neither finds a clean output"),
    ],
)
def test_what_the_candidate_gains_and_loses(content: str, truth: bool, figure: str | None, tmp_path: Path) -> None:
    found = of(tmp_path, [said(content), label("g0", truth)]).labelled.as_json()
    names = ("new_tp", "new_fp", "lost_tp", "lost_fp")
    assert {name: found[name] for name in names} == {name: int(name == figure) for name in names}


def test_an_output_on_which_a_detector_failed_is_not_among_the_labelled(tmp_path: Path) -> None:
    assert of(tmp_path, [said(BOOM), label("g0", True)]).labelled.n == 0


@pytest.mark.parametrize(
    ("content", "leak"),
    [pytest.param(LEAK, 1, id="a leak of both"), pytest.param("hello", 0, id="no leak")],
)
def test_a_detector_agrees_with_itself(content: str, leak: int, tmp_path: Path) -> None:
    report = of(tmp_path, [said(content), label("g0", True)], GOAT, GOAT)
    assert (report.both, report.neither, report.disagreements) == (leak, 1 - leak, [])
    assert report.labelled.mcnemar_p == 1.0


def test_a_disagreement_carries_both_verdicts_with_their_spans(tmp_path: Path) -> None:
    text = "😀 It is <tool_call>, says the template."
    records = [said("hello"), said(text, run="b"), said(text, call_mode="text"), said("MAYBE"), label("g1", False)]
    [found] = of(tmp_path, records, OPENROUTER, GOAT).disagreements
    assert (found.generation_id, found.run_id, found.truth, found.candidate) == ("g1", "b", False, None)
    assert found.baseline is not None
    assert text[found.baseline["start"] : found.baseline["end"]] == "<tool_call>, says the template."
    assert found.baseline["markup"] == "<tool_call>, says the template."


def test_a_verdict_has_the_keys_of_a_scan(tmp_path: Path) -> None:
    [found] = of(tmp_path, [said("a MAYBE")]).disagreements
    shared: Json = {"family": None, "tool": None, "channel": "content", "start": 2, "end": 7, "markup": "MAYBE",
              "reason": "MAYBE stands there", "calls": []}  # fmt: skip
    assert found.baseline == {"leak": False, "kind": "orphan_markup", "tier": "possible", **shared}
    assert found.candidate == {"leak": True, "kind": "leaked_call", "tier": "likely", **shared}


def test_disagreements_stand_in_the_order_in_which_the_outputs_came(tmp_path: Path) -> None:
    report = of(tmp_path, [said("LEAK", run=f"r{9 - at}", generation_id=f"x{9 - at}") for at in range(5)])
    assert [each.generation_id for each in report.disagreements] == ["x9", "x8", "x7", "x6", "x5"]


def test_the_json_has_the_keys_of_the_command_line(tmp_path: Path) -> None:
    found = of(tmp_path, [said("MAYBE"), said("", model="m"), label("g0", True)]).as_json()
    assert {
        "population", "both", "baseline_only", "candidate_only", "neither", "errors", "labelled", "disagreements",
        "seconds",
    } <= found.keys()  # fmt: skip
    assert found["population"] == {
        "generations": 1, "left_out": {"no_output": 1}, "stored": 2, "where": [], "since": None, "until": None,
    }  # fmt: skip
    assert found["errors"] == {"baseline": 0, "candidate": 0}
    side = {
        "tp", "fp", "fn", "tn", "precision", "precision_low", "precision_high", "recall", "recall_low", "recall_high",
    }  # fmt: skip
    assert found["labelled"].keys() == {
        "n", "baseline", "candidate", "new_tp", "new_fp", "lost_tp", "lost_fp", "mcnemar_p",
        "differences", "coverage",
    }  # fmt: skip
    assert found["labelled"]["baseline"].keys() == found["labelled"]["candidate"].keys() == side
    [difference] = found["disagreements"]
    assert {"generation_id", "baseline", "candidate"} <= difference.keys()
    assert found["disagreements_left_out"] == 0
    assert 0 < found["seconds"] < 60


def test_of_too_many_disagreements_the_first_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    with store_of(tmp_path, [said(f"LEAK {at}") for at in range(5)]) as store:
        report = replay(store, FIRST, SECOND, kept=3)
    assert [each.generation_id for each in report.disagreements] == ["g0", "g1", "g2"]
    assert (report.differing, report.as_json()["disagreements_left_out"]) == (5, 2)


def test_recompute_judges_anew_and_nothing_else_does(tmp_path: Path) -> None:
    shown = Counter[str]()
    counted = finds("counted", WORDS, lambda output: shown.update([output.content or ""]))
    with store_of(tmp_path, [said("LEAK a"), said("LEAK a", run="b"), said("CUT b"), said("hello")], counted) as store:
        assert shown == {"LEAK a": 1, "CUT b": 1}
        first = replay(store, counted, SECOND)
        assert shown == {"LEAK a": 1, "CUT b": 1}
        again = replay(store, counted, counted, recompute=True)
        assert shown == {"LEAK a": 2, "CUT b": 2}
        assert rows(store, "SELECT count(*) FROM verdicts WHERE detector = 'counted@1'") == [(2,)]
    assert (first.baseline_only, again.both) == (3, 3)


def invented(thrown: random.Random) -> Iterator[Json]:
    """Outputs of clustered runs, a third of them labelled, some by two people."""
    for at in range(500):
        text = thrown.choice([*WORDS, "LEAK", BOOM, "hello", "bye"])
        role = {"role": "judge"} if thrown.random() < 0.1 else {}
        yield said(f"{text} {at}" if thrown.random() < 0.9 else " ", run=f"r{at // 7}", **role)
        if thrown.random() < 0.4:
            leak = thrown.random() < (0.1 if text in ("hello", "bye") else 0.7)
            yield label(f"g{at}", leak)
            if thrown.random() < 0.3:
                yield label(f"g{at}", thrown.choice([leak, not leak, None]), by="bob")


Row = tuple[str, bool | None, bool, bool]


def recount(records: list[Json]) -> tuple[Counter[tuple[bool, bool]], list[Row], int]:
    """Cells, labelled rows of (run, truth, baseline, candidate), and errors."""
    words: dict[str, set[bool]] = {}
    for each in records:
        if each["type"] == "label" and each["leak"] is not None:
            words.setdefault(each["generation_id"], set()).add(each["leak"])
    found: list[Row] = []
    errors = 0
    for at, each in enumerate(record for record in records if record["type"] == "generation"):
        word = each["content"].split()[:1]
        if not word or each.get("role") == "judge":
            continue
        if word == [BOOM]:
            errors += 1
            continue
        said_so = words.get(f"g{at}", set())
        truth = said_so == {True} if len(said_so) == 1 else None
        found.append((each["run_id"], truth, word[0] in ("LEAK", "CUT", "PRINTED"), word[0] in ("PRINTED", "MAYBE")))
    return Counter((row[2], row[3]) for row in found), [row for row in found if row[1] is not None], errors


@pytest.mark.parametrize("seed", range(5))
def test_the_figures_are_those_of_a_recount(seed: int, tmp_path: Path) -> None:
    records = list(invented(dice(seed)))
    report = of(tmp_path, records)
    cells, labelled, errors = recount(records)
    found = report.labelled
    assert report.both == cells[True, True] > 0
    assert report.baseline_only == cells[True, False] > 0
    assert report.candidate_only == cells[False, True] > 0
    assert report.neither == cells[False, False] > 0
    assert report.baseline_errors == report.candidate_errors == errors > 0
    assert report.generations == cells.total() + errors
    assert report.generations + sum(report.left_out.values()) == 500
    assert len(report.disagreements) == report.differing == cells[True, False] + cells[False, True]
    assert found.n == len(labelled) > 100
    for judged, said_leak in ((found.baseline, 2), (found.candidate, 3)):
        counts = Counter((row[1], row[said_leak]) for row in labelled)
        assert (judged.tp, judged.fp) == (counts[True, True], counts[False, True])
        assert (judged.fn, judged.tn) == (counts[True, False], counts[False, False])
        runs = {row[0] for row in labelled}
        tp = {run: sum(r[0] == run and r[1] is True and r[said_leak] is True for r in labelled) for run in runs}
        positives = [(tp[run], sum(r[0] == run and r[said_leak] is True for r in labelled)) for run in runs]
        leaks = [(tp[run], sum(r[0] == run and r[1] is True for r in labelled)) for run in runs]
        assert judged.precision == clustered_rate(positives)
        assert judged.recall == clustered_rate(leaks)
    only_first = sum(row[1] == row[2] != row[3] for row in labelled)
    only_second = sum(row[1] == row[3] != row[2] for row in labelled)
    assert only_first == found.lost_tp + found.new_fp
    assert only_second == found.new_tp + found.lost_fp
    assert found.mcnemar_p == mcnemar_exact(only_first, only_second)
