"""`replay` and `scan`: what detectors say, with every figure and every key of the JSON."""

import json
from pathlib import Path

import pytest

from tests.api.conftest import CALL, LEAK, Leakdown, generation, small_history, write

SCAN_KEYS = {
    "generation_id", "run_id", "leak", "kind", "family", "tier", "tool", "channel", "start", "end", "markup",
    "reason", "calls",
}  # fmt: skip
REPLAY_KEYS = {
    "population", "both", "baseline_only", "candidate_only", "neither", "errors", "labelled", "disagreements",
    "difference", "segments", "policy", "operating_points", "shapes", "estimates", "seconds",
}  # fmt: skip
LABELLED_KEYS = {
    "n", "baseline", "candidate", "new_tp", "new_fp", "lost_tp", "lost_fp", "mcnemar_p", "differences",
    "coverage",
}  # fmt: skip
JUDGED_KEYS = {
    "tp", "fp", "fn", "tn", "precision", "precision_low", "precision_high", "recall", "recall_low", "recall_high",
}  # fmt: skip
PAIR = ("--baseline", "openrouter-net@1", "--candidate", "openrouter-net-tight@1")


def test_replay_compares_and_names_the_labels(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("replay", *PAIR, "--store", small_store, "--json", "-")
    report = ran.json
    assert (ran.code, ran.err) == (0, "")
    assert report.keys() >= REPLAY_KEYS
    assert report["population"] == {
        "generations": 5, "left_out": {}, "stored": 5, "where": [], "since": None, "until": None,
    }  # fmt: skip
    cells = {key: report[key] for key in ("both", "baseline_only", "candidate_only", "neither")}
    assert cells == {"both": 2, "baseline_only": 1, "candidate_only": 0, "neither": 2}
    assert report["errors"] == {"baseline": 0, "candidate": 0}
    assert report["labelled"].keys() == LABELLED_KEYS
    assert JUDGED_KEYS == report["labelled"]["baseline"].keys() == report["labelled"]["candidate"].keys()
    assert {key: report["labelled"][key] for key in ("n", "lost_fp", "lost_tp", "mcnemar_p")} == {
        "n": 2,
        "lost_fp": 1,
        "lost_tp": 0,
        "mcnemar_p": 1.0,
    }
    [one] = report["disagreements"]
    assert (one["generation_id"], one["candidate"], one["baseline"]["start"]) == ("c.0", None, 6)
    assert 0 < report["seconds"] < 60


def test_replay_on_a_terminal_lists_the_shapes_of_the_disagreements(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("replay", *PAIR, "--store", small_store)
    assert ran.out.splitlines()[-3:] == [
        "1 disagreement of 1 shape:",
        "n  says leak  kind            leaks, by people  markup          such as",
        "1  baseline   truncated call               0/1  <function=…> …  c.0",
    ]
    assert "1 fewer round, where only the baseline does\n    1 of them labelled: 0 leaks passed off" in ran.out


def test_replay_on_a_terminal_lists_five_shapes_and_says_how_to_get_the_rest(
    leakdown: Leakdown, sample_store: Path
) -> None:
    pair = ("--baseline", "openrouter-net@1", "--candidate", "leakdown@1")
    out = leakdown("replay", *pair, "--store", sample_store).out
    assert len(out.partition(" shapes; the first 5 (all with --json F):\n")[2].splitlines()) == 6
    assert max(map(len, out.splitlines())) < 180


def test_replay_without_labels_says_nothing_of_who_is_right(leakdown: Leakdown) -> None:
    leakdown("ingest", write("x.jsonl", generation("a", 0, LEAK)))
    out = leakdown("replay", *PAIR).out
    assert "None of them is labelled" in out
    assert "They agree on every output." in out
    assert "95 %)  recall" not in out.partition("If findings")[0]


def test_replay_writes_files_and_prints_the_tables_too(leakdown: Leakdown, small_store: Path) -> None:
    files = ("--json", "r.json", "--markdown", "r.md", "--html", "r.html")
    ran = leakdown("replay", *PAIR, "--store", small_store, *files, "--recompute")
    assert ran.out.startswith("5 generations, openrouter-net@1 (baseline)")
    assert json.loads(Path("r.json").read_text())["baseline_only"] == 1
    assert Path("r.md").read_text().startswith("## Replay")
    assert Path("r.html").read_text().startswith("<!doctype html>")


def test_replay_gives_markdown_on_stdout(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("replay", *PAIR, "--store", small_store, "--markdown", "-", "--where", "run_id=b")
    assert ran.out.startswith("## Replay")
    assert "1 generations; only where ` run_id=b `; left out: 4 outside the filters" in ran.out


def test_replay_gives_html_on_stdout(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("replay", *PAIR, "--store", small_store, "--html", "-")
    assert ran.out.startswith("<!doctype html>")
    assert ran.out.endswith("</html>")


def test_replay_of_a_period_says_what_it_leaves_out(leakdown: Leakdown) -> None:
    days = [generation(day, 0, LEAK, started_at=f"2026-11-{day}T12:00:00Z") for day in ("01", "02", "03")]
    leakdown("ingest", write("x.jsonl", *days, generation("none", 0, LEAK)))
    ran = leakdown("replay", *PAIR, "--since", "2026-11-02", "--until", "2026-11-02", "--json", "-")
    assert ran.json["population"]["generations"] == 1
    assert ran.json["population"]["left_out"] == {"no_time": 1, "out_of_period": 2}


def test_scan_answers_each_generation_with_a_line(leakdown: Leakdown) -> None:
    ran = leakdown("scan", write("history.jsonl", *small_history()))
    assert ran.code == 0
    assert all(line.keys() >= SCAN_KEYS for line in ran.lines)
    assert [(line["generation_id"], line["leak"]) for line in ran.lines] == [
        ("a.0", True),
        ("a.0b", False),
        ("b.0", True),
        ("c.0", False),
        ("c.1", False),
    ]
    assert [ran.lines[2][key] for key in ("kind", "tier", "channel", "start", "end", "line")] == [
        "leaked_call", "certain", "content", 13, 13 + len(LEAK), 3,
    ]  # fmt: skip
    clean = ran.lines[4]
    assert [clean[key] for key in ("kind", "tier", "markup", "reason", "calls")] == [None, None, None, None, []]
    assert ran.err == (
        "history.jsonl (native): 5 generations, 2 leaks by leakdown@1; 1 events of a client, which are not scanned\n"
    )
    assert not list(Path().glob("*.duckdb"))


def test_scan_by_another_detector(leakdown: Leakdown) -> None:
    path = write("x.jsonl", *small_history())
    lines = leakdown("scan", path, "--detector", "openrouter-net-tight@1").lines
    assert [line["generation_id"] for line in lines if line["leak"]] == ["a.0", "b.0"]


@pytest.mark.parametrize(
    ("tier", "leaks"),
    [
        pytest.param("certain", [True, False, False], id="certain"),
        pytest.param("likely", [True, True, False], id="likely, the default"),
        pytest.param("possible", [True, True, True], id="possible"),
    ],
)
def test_scan_counts_findings_from_a_tier_on(leakdown: Leakdown, tier: str, leaks: list[bool]) -> None:
    unknown = {"type": "generation", "run_id": "u", "content": LEAK}
    records = [generation("a", 0, LEAK), unknown, generation("t", 0, LEAK, call_mode="text")]
    lines = leakdown("scan", write("x.jsonl", *records), "--tier", tier).lines
    assert [line["tier"] for line in lines] == ["certain", "likely", "possible"]
    assert [line["leak"] for line in lines] == leaks


def test_a_structured_call_is_no_leak_whatever_the_text_says(leakdown: Leakdown) -> None:
    lines = leakdown(
        "scan", write("x.jsonl", generation("a", 0, LEAK, tool_calls=CALL)), "--detector", "openrouter-net@1"
    ).lines
    assert [line["leak"] for line in lines] == [False]
