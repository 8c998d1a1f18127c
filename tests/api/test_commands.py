"""Every command: its result on stdout, its talk on stderr, its exit code."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.api.conftest import SAMPLE, Leakdown, generation, small_history, spawn, write

RATE_KEYS = {
    "model", "engine", "template", "detector", "tools_known", "eligible", "leaks", "leak_rate", "leak_low",
    "leak_high", "printed", "runs", "retried", "recovered", "recovery_rate", "recovery_low", "recovery_high",
    "answered", "passed_off",
}  # fmt: skip


def only(values: list[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    return [{key: value[key] for key in keys} for value in values]


def test_ingest_says_what_became_of_every_line(leakdown: Leakdown) -> None:
    ran = leakdown("ingest", write("history.jsonl", *small_history()), "--json")
    [upload] = ran.json["uploads"]
    assert (ran.code, ran.err) == (0, "")
    assert upload == upload | {
        "path": "history.jsonl",
        "format": "native",
        "lines": 8,
        "mapped": 8,
        "skipped": 0,
        "duplicate": 0,
        "quarantined": 0,
        "generations": 5,
        "new_generations": 5,
        "events": 1,
    }
    assert Path("leakdown.duckdb").exists()


def test_the_first_ingest_tells_what_to_do_next_and_the_second_does_not(leakdown: Leakdown) -> None:
    one, two = write("one.jsonl", generation("a", 0, "x")), write("two.jsonl", generation("b", 0, "y"))
    first, second = (leakdown("ingest", each, "--store", "my store.duckdb") for each in (one, two))
    assert "leakdown rates --store 'my store.duckdb'" in first.err
    assert second.err == ""
    assert second.out.splitlines()[1].split()[:2] == ["two.jsonl", "native"]


def test_the_same_file_again_changes_nothing_and_that_is_said(leakdown: Leakdown, small_store: Path) -> None:
    before = leakdown("rates", "--store", small_store, "--json").json
    again = leakdown("ingest", "history.jsonl", "--store", small_store, "--json")
    assert again.json["uploads"][0]["duplicate"] == 8
    assert again.err == "leakdown: history.jsonl: brought nothing new; the store is as it was\n"
    assert leakdown("rates", "--store", small_store, "--json").json == before
    assert len(leakdown("uploads", "list", "--store", small_store, "--json").json) == 1


def test_set_names_what_the_file_does_not_say(leakdown: Leakdown) -> None:
    record = {"type": "generation", "run_id": "a", "content": "x", "tools": [{"name": "ls"}]}
    given = ("--set", "engine=vllm", "--set", "template=a=b")
    assert leakdown("ingest", write("x.jsonl", record), *given).code == 0
    rows = leakdown("rates", "--by", "engine,template", "--json").json
    assert only(rows, "engine", "template", "eligible") == [{"engine": "vllm", "template": "a=b", "eligible": 1}]


def test_format_overrides_what_the_content_says(leakdown: Leakdown) -> None:
    talk = {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}
    path = write("x.jsonl", talk)
    assert leakdown("ingest", path, "--format", "messages", "--json").json["uploads"][0]["format"] == "messages"
    other = leakdown("ingest", path, "--format", "native", "--store", "other.duckdb")
    assert other.code == 2
    assert "nothing was kept" in other.err


def test_rates_count_leaks_and_what_followed_them(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("rates", "--store", small_store, "--json")
    [row] = ran.json
    assert (ran.code, ran.err) == (0, "")
    assert row.keys() >= RATE_KEYS
    assert 0 < row["leak_low"] < 0.5 < row["leak_high"] < 1
    assert 0 < row["recovery_low"] < 0.5 < row["recovery_high"] < 1
    assert row == row | {
        "model": "m-1",
        "engine": "vllm",
        "template": "t-1",
        "detector": "leakdown@1",
        "tools_known": True,
        "eligible": 4,
        "leaks": 2,
        "leak_rate": 0.5,
        "printed": 0,
        "runs": 3,
        "retried": 1,
        "recovered": 1,
        "recovery_rate": 0.5,
        "answered": 0,
        "passed_off": 1,
    }


def test_rates_on_a_terminal_show_hits_and_n_beside_each_rate(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("rates", "--store", small_store, "--by", "model")
    assert ran.out.splitlines()[1].split()[:5] == ["m-1", "yes", "3", "2/4", "50.0%"]
    assert " 1/2 " in ran.out
    assert ran.err.startswith("by leakdown@1;")


@pytest.mark.parametrize(
    ("options", "eligible"),
    [
        pytest.param(("--where", "run_id=[ab]"), 2, id="a glob"),
        pytest.param(("--where", "run_id=*", "--where", "generation_id=c.1"), 1, id="two filters, both hold"),
        pytest.param(("--since", "2026-11-02"), 1, id="since a date"),
        pytest.param(("--since", "2026-11-02T11:00+02:00"), 1, id="since a time elsewhere"),
        pytest.param(("--since", "2026-11-03"), 0, id="since later: generations without a time are left out too"),
    ],
)
def test_rates_of_a_part(leakdown: Leakdown, small_store: Path, options: tuple[str, ...], eligible: int) -> None:
    timed = generation("d", 0, "x", started_at="2026-11-02T09:30:00Z", model="m-2")
    leakdown("ingest", write("timed.jsonl", timed), "--store", small_store)
    rows = leakdown("rates", "--store", small_store, *options, "--json").json
    assert sum(row["eligible"] for row in rows) == eligible


@pytest.mark.parametrize(
    ("records", "said"),
    [
        pytest.param([generation("a", 0, "x", tools=[])], "1 had no tools to call", id="no tools"),
        pytest.param([generation("a", 0, "x", call_mode="text")], "1 have calls as text by design", id="text calls"),
        pytest.param([generation("a", 0, "x", attempt=1)], "1 are retries", id="retries"),
        pytest.param([generation("a", 0, "x", role="judge")], "1 are not of an agent", id="a judge"),
        pytest.param([generation("a", 0, None, status="error")], "1 ended without output", id="an error"),
        pytest.param(
            [{"Markup": "<tool_call>", "Leak": 1, "Retried": True}],
            "holds 1 events and no generation",
            id="events alone",
        ),
    ],
)
def test_rates_without_an_eligible_generation_say_why(
    leakdown: Leakdown, records: list[dict[str, Any]], said: str
) -> None:
    assert leakdown("ingest", write("x.jsonl", *records)).code == 0
    ran = leakdown("rates")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("no rate: ")
    assert said in ran.err
    assert leakdown("rates", "--json").json == []


def test_rates_that_a_filter_empties_say_so(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("rates", "--store", small_store, "--where", "model=no-such")
    assert "none of 5 generations is eligible (5 do not match the filter)" in ran.err


def test_detectors_list_marks_the_current_one(leakdown: Leakdown, small_store: Path) -> None:
    rows = leakdown("detectors", "list", "--json").json
    assert [row["detector"] for row in rows if row["current"]] == ["leakdown@1"]
    assert leakdown("detectors", "promote", "goat@1", "--store", small_store).err == "goat@1 is current\n"
    assert [row["detector"] for row in leakdown("rates", "--store", small_store, "--json").json] == ["goat@1"]
    table = leakdown("detectors", "list", "--store", small_store).out.splitlines()
    assert [line.split()[0] for line in table if "  *  " in line] == ["goat@1"]


def test_detectors_show_explains_one_by_its_examples(leakdown: Leakdown) -> None:
    out = leakdown("detectors", "show", "openrouter-net-tight@1").out
    assert out.startswith("openrouter-net-tight@1\nopenrouter-net, but <function=NAME> counts only when")
    assert "triggers  <tool_call>\n          <tool_calls>\n" in out
    assert (
        "A leak: the function is closed\n"
        "  (tools offered: get_weather, read_file)\n"
        "    So:\n"
        "    <function=read_file>\n"
        "    <parameter=path>\n"
    ) in out
    assert "No leak: a leak cut before its closer: the price of the change\n" in out
    assert "structured call: get_weather" in out


def test_uploads_are_listed_corrected_and_deleted(leakdown: Leakdown, small_store: Path) -> None:
    [upload] = leakdown("uploads", "list", "--store", small_store, "--json").json
    assert (upload["upload_id"], upload["path"], upload["settings"]) == (1, "history.jsonl", {})
    ran = leakdown("uploads", "set", "1", "engine=sglang", "template=x", "--store", small_store)
    assert (ran.code, ran.out, ran.err) == (0, "", "upload 1: set engine=sglang, template=x\n")
    assert only(leakdown("rates", "--store", small_store, "--json").json, "engine", "template") == [
        {"engine": "sglang", "template": "x"}
    ]
    assert "engine=sglang (corrected) template=x (corrected)" in leakdown("uploads", "list", "--store", small_store).out
    assert leakdown("uploads", "delete", "1", "--store", small_store).err == "upload 1 is deleted\n"
    assert leakdown("uploads", "list", "--store", small_store, "--json").json == []


def test_export_gives_back_what_ingest_reads(leakdown: Leakdown, small_store: Path) -> None:
    ran = leakdown("export", "--jsonl", "-", "--store", small_store)
    assert ran.err == "wrote 8 records\n"
    assert sorted(line["type"] for line in ran.lines) == sorted(record["type"] for record in small_history())
    assert leakdown("export", "--jsonl", "out.jsonl", "--store", small_store).out == ""
    assert leakdown("ingest", "out.jsonl", "--store", "again.duckdb").code == 0
    before, after = (leakdown("rates", "--store", each, "--json").json for each in (small_store, "again.duckdb"))
    assert after == before


def test_export_writes_parquet(leakdown: Leakdown, small_store: Path) -> None:
    assert leakdown("export", "--parquet", "out", "--store", small_store).code == 0
    assert pl.read_parquet("out/generations.parquet")["generation_id"].to_list() == ["a.0", "a.0b", "b.0", "c.0", "c.1"]


def test_the_schema_is_that_of_the_records(leakdown: Leakdown) -> None:
    from jsonschema_rs import validator_for

    valid = validator_for(leakdown("schema").json)
    assert all(valid.is_valid(record) for record in small_history())
    assert not valid.is_valid({"type": "generation", "run_id": 3, "content": "x"})


def test_the_store_is_the_options_else_the_environments(
    leakdown: Leakdown, small_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEAKDOWN_STORE", str(small_store))
    assert len(leakdown("uploads", "list", "--json").json) == 1
    leakdown("ingest", write("x.jsonl", generation("z", 0, "x")), "--store", "other.duckdb")
    assert leakdown("uploads", "list", "--store", "other.duckdb", "--json").json[0]["path"] == "x.jsonl"
    assert len(leakdown("uploads", "list", "--json").json) == 1
    monkeypatch.setenv("LEAKDOWN_STORE", "")
    assert "leakdown.duckdb: no store here" in leakdown("uploads", "list").err


def test_the_script_does_the_same_as_a_process() -> None:
    ran = spawn("ingest", SAMPLE / "pairs.jsonl", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["uploads"][0]["new_generations"] == 30
    assert spawn("rates", "--json").json[0]["model"] == "qwen3-coder-30b"
    assert spawn("rates", "--json", LEAKDOWN_STORE="none.duckdb").code == 2
