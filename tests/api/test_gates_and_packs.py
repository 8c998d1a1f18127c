"""`replay --fail-on` and `--pack`, and `label export --pack`: exit codes, files, one clear line."""

import json
import zipfile
from pathlib import Path

import pytest

from tests.api.conftest import LEAK, Leakdown, Ran, generation, write

PAIR = ("--baseline", "openrouter-net@1", "--candidate", "openrouter-net-tight@1")


@pytest.mark.parametrize(
    ("expression", "code", "said"),
    [
        pytest.param("labelled.new_fp > 0", 0, "passed: labelled.new_fp > 0 (labelled.new_fp is 0)", id="passed"),
        pytest.param("labelled.lost_fp > 0", 1, "failed: labelled.lost_fp > 0 (labelled.lost_fp is 1)", id="failed"),
        pytest.param(
            "labelled.lost_fpp > 0", 1,
            "failed: labelled.lost_fpp > 0 (column 1: no figure labelled.lost_fpp; labelled has n, ", id="a typo",
        ),
        pytest.param(
            "population.left_out.no_output > 0", 1, "left_out.no_output; population.left_out has none)", id="no reason"
        ),
        pytest.param("disagreements_left_out > 0", 0, "(disagreements_left_out is 0)", id="a figure at the top"),
    ],
)  # fmt: skip
def test_the_gate_decides_the_exit_code(
    leakdown: Leakdown, small_store: Path, expression: str, code: int, said: str
) -> None:
    ran = leakdown("replay", *PAIR, "--store", small_store, "--fail-on", expression)
    assert ran.code == code
    [line] = ran.err.splitlines()
    assert line.startswith("leakdown: the gate ")
    assert said in line
    assert ran.out.startswith("5 generations, openrouter-net@1 (baseline)")


def test_a_null_figure_fails_the_gate(leakdown: Leakdown) -> None:
    leakdown("ingest", write("x.jsonl", generation("a", 0, LEAK)))
    ran = leakdown("replay", *PAIR, "--fail-on", "labelled.candidate.recall_low < 0.9")
    assert (ran.code, ran.err) == (
        1,
        "leakdown: the gate failed: labelled.candidate.recall_low < 0.9 "
        "(labelled.candidate.recall_low is null: there was nothing to compute it from)\n",
    )


def test_the_reports_are_written_and_tell_of_the_gate_when_it_fails(leakdown: Leakdown, small_store: Path) -> None:
    gate = ("--fail-on", "labelled.lost_fp > 0 or labelled.new_tp > 5")
    assert leakdown("replay", *PAIR, "--store", small_store, *gate, "--json", "r.json", "--markdown", "r.md").code == 1
    assert json.loads(Path("r.json").read_text())["gate"] == {
        "expression": "labelled.lost_fp > 0 or labelled.new_tp > 5",
        "failed": True,
        "figures": {"labelled.lost_fp": 1, "labelled.new_tp": 0},
        "faults": [],
    }
    assert Path("r.md").read_text().endswith(
        "\n\n**The gate failed**: `labelled.lost_fp > 0 or labelled.new_tp > 5` "
        "(`labelled.lost_fp` is 1; `labelled.new_tp` is 0).\n"
    )  # fmt: skip


def test_without_a_gate_the_report_has_none(leakdown: Leakdown, small_store: Path) -> None:
    assert "gate" not in leakdown("replay", *PAIR, "--store", small_store, "--json", "-").json


@pytest.mark.parametrize("where", [("--store", "none.duckdb"), ("--pack", "none.jsonl")])
def test_a_wrong_expression_is_refused_before_any_work(leakdown: Leakdown, where: tuple[str, str]) -> None:
    ran = leakdown("replay", *PAIR, *where, "--fail-on", "labelled.new_fp > 0 and")
    assert (ran.code, ran.out, ran.err) == (
        2,
        "",
        "leakdown: --fail-on, column 24 (at the ^): expected a figure, such as labelled.new_fp, or a number, found the "
        "end: labelled.new_fp > 0 and^\n",
    )


@pytest.mark.parametrize("name", ["pack.jsonl", "pack.zip", "PACK.ZIP"])
def test_a_pack_is_replayed_without_a_store(leakdown: Leakdown, small_store: Path, name: str) -> None:
    whole = leakdown("replay", *PAIR, "--store", small_store, "--json", "-").json
    ran = leakdown("label", "export", "--pack", name, "--store", small_store)
    assert (ran.code, ran.out, ran.err) == (0, "", f"wrote 2 outputs and 2 labels to {name}\n")
    assert zipfile.is_zipfile(name) == name.lower().endswith(".zip")
    small_store.unlink()
    report = leakdown("replay", *PAIR, "--pack", name, "--json", "-").json
    assert {**report["labelled"], "coverage": None} == {**whole["labelled"], "coverage": None}
    assert report["labelled"]["coverage"]["all"]["of"] == 2
    assert (report["population"]["generations"], report["population"]["left_out"]) == (2, {})
    assert [each["generation_id"] for each in report["disagreements"]] == ["c.0"]
    assert {path.name for path in Path().iterdir()} == {"history.jsonl", name}


@pytest.mark.parametrize("name", ["pack.jsonl", "pack.zip"])
def test_the_same_labels_are_the_same_bytes(leakdown: Leakdown, small_store: Path, name: str) -> None:
    written = []
    for folder in ("one", "two"):
        Path(folder).mkdir()
        assert leakdown("label", "export", "--pack", f"{folder}/{name}", "--store", small_store).code == 0
        written.append(Path(folder, name).read_bytes())
    assert written[0] == written[1]


def test_filters_hold_on_a_pack(leakdown: Leakdown, small_store: Path) -> None:
    leakdown("label", "export", "--pack", "p.jsonl", "--store", small_store)
    report = leakdown("replay", *PAIR, "--pack", "p.jsonl", "--where", "run_id=a", "--json", "-").json
    assert (report["population"]["generations"], report["population"]["left_out"]) == (1, {"filtered": 1})


def test_a_pack_on_stdout_is_all_that_is_there(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("label", "export", "--pack", "-", "--redact", "--store", small_store)
    assert ran.err == "wrote 2 outputs and 2 labels\n"
    assert ran.lines[0] == {"type": "pack", "version": 1, "redacted": True, "generations": 2, "labels": 2}
    assert [each.get("by") for each in ran.lines[1:]] == [None, None, "reviewer-1", "reviewer-1"]


def one_line(ran: Ran) -> str:
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.err.splitlines()
    return line


@pytest.mark.parametrize(
    ("call", "said"),
    [
        pytest.param("replay {pair} --pack p.jsonl --store s.duckdb", "name one of --pack and --store", id="two"),
        pytest.param("replay {pair} --pack none.jsonl", "none.jsonl: no such file", id="no such pack"),
        pytest.param("replay {pair} --pack .", ".: cannot be read (Is a directory)", id="a folder"),
        pytest.param("replay {pair} --pack history.jsonl", "history.jsonl: no pack; the first line of", id="no pack"),
        pytest.param("replay {pair} --pack p.jsonl --json p.jsonl", "p.jsonl: this is the pack", id="over the pack"),
        pytest.param("replay {pair} --pack p.jsonl --where model=x", "none of 2 generations matches; model is m-1",
                     id="a filter that matches nothing"),
        pytest.param("replay {pair} --store s.duckdb --where model=x", "none of 5 generations matches; model is m-1",
                     id="a filter that matches nothing in the store"),
        pytest.param("label export --pack q --csv r --store s.duckdb", "name one of --jsonl F", id="two forms"),
        pytest.param("label export --redact --store s.duckdb", "--redact is for --pack", id="labels redacted"),
        pytest.param("label export --pack s.duckdb --store s.duckdb", "this is the store", id="over the store"),
        pytest.param("label export --pack no/f --store s.duckdb", "no/f: cannot be written", id="no such folder"),
        pytest.param("label export --pack no/f.zip --store s.duckdb", "no/f.zip: cannot be written", id="nor a zip"),
        pytest.param("label export --pack q --redact-pattern ( --store s.duckdb", "--redact-pattern '('", id="("),
        pytest.param("label export --pack q --store empty.duckdb", "no output here is labelled", id="nothing labelled"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(leakdown: Leakdown, small_store: Path, call: str, said: str) -> None:
    leakdown("ingest", write("e.jsonl", generation("a", 0, LEAK)), "--store", "empty.duckdb")
    assert leakdown("label", "export", "--pack", "p.jsonl", "--store", small_store).code == 0
    before = Path("p.jsonl").read_bytes()
    assert said in one_line(leakdown(*call.format(pair=" ".join(PAIR)).split()))
    assert Path("p.jsonl").read_bytes() == before
    assert not Path("q").exists()
