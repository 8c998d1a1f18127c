"""What goes in comes out: native records, line by line, and Parquet files that others read."""

import json
from pathlib import Path

import polars as pl
import pytest

from ingest.export import TABLES, records, to_jsonl, to_parquet
from ingest.files.containers import Source
from ingest.pipeline import ingest
from ingest.store import Store
from tests.ingest.loading import MARK, MARK_JUDGE, Row, event, generation, label, load, rows, run

NAMED = generation(generation_id="g")
PECULIAR: dict[str, Row] = {
    "the least generation": NAMED,
    "nulls": {
        **NAMED,
        "content": None,
        "tools": None,
        "tool_calls": None,
        "usage": None,
        "tags": None,
        "tool_choice": None,
    },
    "empty values": {**NAMED, "content": "", "tools": [], "tool_calls": [], "usage": {}, "tags": {}},
    "no content": {"type": "generation", "run_id": "r", "generation_id": "g", "reasoning": "b"},
    "unknown fields": {**NAMED, "seed": 7, "extra": None, "line": {"key": []}, "nulls": ["a"]},
    "unknown fields of a tool": {**NAMED, "tools": [{"name": "a", "parameters": None, "z": {}}]},
    "unknown fields of a call": {**NAMED, "tool_calls": [{"id": None, "name": "a", "index": 0}]},
    "unknown fields of a usage": {**NAMED, "usage": {"input_tokens": None, "cached": 1}},
    "an object as arguments": {**NAMED, "tool_calls": [{"name": "a", "arguments": {"b": [1.5]}}]},
    "arguments as they came": {**NAMED, "tool_calls": [{"name": "a", "arguments": '{"b" : 1}'}]},
    "null arguments": {**NAMED, "tool_calls": [{"name": "a", "arguments": None}]},
    "big integers": {**NAMED, "seed": 2**80, "tags": {"n": -(2**70)}, "tool_choice": 2**65},
    "fractions": {**NAMED, "temperature": 1.5, "tags": {"p": 1e-9, "q": 1e22}},
    "the most tokens": {**NAMED, "usage": {"input_tokens": 2**63 - 1}},
    "peculiar characters": {**NAMED, "content": "a\u0000b\u2028\ufffd😀\r\n", "run_id": "ü"},
    "a tool choice as text": {**NAMED, "tool_choice": "auto"},
    "a tool choice as an object": {**NAMED, "tool_choice": {"type": "function"}},
    "ordinals": {**NAMED, "turn": 0, "round": 2**31 - 1, "attempt": 1},
    "a time": {**NAMED, "started_at": "2026-11-01T12:00:00Z"},
    "microseconds": {**NAMED, "started_at": "2026-11-01T12:00:00.123456Z"},
    "null words": {**NAMED, "started_at": None, "model": None, "role": None, "status": None},
    "a run": run(engine="vllm", template=None, tags={"a": None}, Host="x"),
    "an event": event(run_id=None, at=None, detector="a@1", Span=1),
    "an event with all": event(at="2026-11-01T12:00:00Z", generation_id="g", round=0, leak=0),
    "an unsure label": label("g", leak=None, note=None, confidence=0.5),
    "a label with all": label("g", kind="orphan_markup", at="2026-11-01T12:00:00Z", note="ü"),
}


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in PECULIAR.items()])
def test_a_record_comes_out_as_it_went_in(store: Store, row: Row) -> None:
    load(store, row)
    assert list(records(store)) == [row]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param({"started_at": "2026-11-01T01:30:00+02:00"}, {"started_at": "2026-10-31T23:30:00Z"}, id="offset"),
        pytest.param({"started_at": "2026-11-01T12:00:00"}, {"started_at": "2026-11-01T12:00:00Z"}, id="naive"),
        pytest.param({"started_at": 1790000000}, {"started_at": "2026-09-21T14:13:20Z"}, id="Unix"),
        pytest.param(
            {"tools": [{"type": "function", "function": {"name": "a"}}]}, {"tools": [{"name": "a"}]}, id="wrapped"
        ),
    ],
)
def test_what_comes_out_in_our_spelling(store: Store, told: Row, expected: Row) -> None:
    load(store, {**NAMED, **told})
    assert list(records(store)) == [{**NAMED, **expected}]


def test_a_generation_without_an_id_gets_one_that_stays(store: Store, tmp_path: Path) -> None:
    load(store, generation(), generation())
    one, two = records(store)
    assert one["generation_id"] != two["generation_id"]
    with Store.open(tmp_path / "other.duckdb", create=True) as other:
        load(other, generation(), generation())
        assert list(records(other)) == [one, two]


def exported(store: Store, path: Path) -> int:
    """The number of records written to `path`."""
    with path.open("wb") as out:
        return to_jsonl(store, out)


EVERYTHING: list[Row] = [
    run(engine="vllm"),
    generation(content=f"no id {MARK}", round=0),
    generation(content="no id"),
    generation(content="no id"),
    *({**row, "generation_id": f"g{at}"} for at, row in enumerate(PECULIAR.values()) if "generation_id" in row),
    *(row for row in PECULIAR.values() if "generation_id" not in row),
]


def test_exported_again_from_a_second_store_the_bytes_are_the_same(store: Store, tmp_path: Path) -> None:
    load(store, *EVERYTHING)
    load(store, generation(generation_id="late"), label("late"), run(template="t"), name="b.jsonl")
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    exported(store, first)
    with Store.open(tmp_path / "other.duckdb", create=True) as other:
        result = ingest(other, Source(first, "first.jsonl"), MARK_JUDGE)
        assert (result.mapped, result.duplicate, result.quarantined) == (result.lines, 0, 0)
        written = exported(other, second)
        bindings = "SELECT count(generation), (SELECT count(verdict_key) FROM labels) FROM events"
        assert rows(other, bindings) == rows(store, bindings)
    assert second.read_bytes() == first.read_bytes()
    assert written == result.lines


def test_each_line_of_an_export_is_json(store: Store, tmp_path: Path) -> None:
    load(store, *EVERYTHING)
    exported(store, tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text().split("\n")
    assert [json.loads(line) for line in lines[:-1]] == list(records(store))
    assert lines[-1] == ""


@pytest.mark.parametrize(
    "folder", [pytest.param("out", id="a folder"), pytest.param('it\'s/"deep"', id="with quotes in its name")]
)
def test_parquet_files_are_read_by_others(store: Store, tmp_path: Path, folder: str) -> None:
    load(store, *EVERYTHING, "{")
    assert to_parquet(store, tmp_path / folder) == len(TABLES)
    for name in TABLES:
        frame = pl.read_parquet(tmp_path / folder / f"{name}.parquet", glob=False)
        assert rows(store, f"SELECT count(*) FROM {name}") == [(len(frame),)], name  # noqa: S608
    texts = pl.read_parquet(tmp_path / folder / "generations.parquet", glob=False)
    assert f"no id {MARK}" in texts["content"].to_list()


def test_a_folder_that_cannot_be_made_says_so(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        to_parquet(store, tmp_path / "file" / "out")
