"""An upload becomes visible all at once or not at all, its lines balance, and the same again changes nothing."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.batch import Batch
from ingest.batches import ROWS
from ingest.errors import InputError, UnknownFormat, UsageError
from ingest.files.containers import Source
from ingest.pipeline import Progress, UploadResult, ingest
from ingest.store import Store
from ingest.uploads import uploads
from ingest.verdict_rows import Judge, StoredVerdict
from tests.ingest.loading import (
    MARK,
    MARK_JUDGE,
    Row,
    event,
    everything,
    generation,
    label,
    load,
    rows,
    run,
    written,
)

MIXED: list[Row] = [
    run(engine="vllm"),
    generation(generation_id="g1", content=f"a {MARK}", tools=[{"name": "ls"}], round=0),
    generation(content="no id"),
    generation(content="no id"),
    event(run_id="r", round=0),
    label("g1"),
]


def long(count: int = ROWS + 10) -> list[str]:
    """More lines than a batch, each with a text of its own."""
    return [json.dumps(generation(generation_id=f"g{at}", content=f"text {at} {MARK}")) for at in range(count)]


def test_nothing_is_visible_before_all_is(store: Store) -> None:
    seen: list[tuple[Any, ...]] = []

    def look(_: Progress) -> None:
        tables = ("generations", "quarantine", "coverage", "uploads WHERE state = 'done'")
        seen.append(tuple(rows(store, f"SELECT count(*) FROM {table}")[0][0] for table in tables))  # noqa: S608

    source = written(store.path.parent / "log.jsonl", ["{", *long()])
    ingest(store, source, MARK_JUDGE, progress=look)
    assert seen == [(0, 0, 0, 0)] * 2
    look(Progress(0, 0, None))
    assert seen[-1] == (ROWS + 10, 1, 1, 1)


class Failure(Exception):
    """What goes wrong in the middle of a file."""


def failing_judge() -> Judge:
    """A judge that fails on its second batch, after verdicts on the first."""
    calls: list[int] = []

    def verdicts(batch: Batch) -> Iterator[StoredVerdict]:
        calls.append(1)
        yield from MARK_JUDGE.verdicts(batch)
        if len(calls) > 1:
            raise Failure

    return Judge(MARK_JUDGE.detector, verdicts)


def test_a_judge_that_fails_in_mid_file_leaves_nothing(store: Store) -> None:
    load(store, *MIXED)
    before = everything(store)
    with pytest.raises(Failure):
        load(store, *long(), judge=failing_judge())
    assert everything(store) == before
    assert load(store, *long()).new_generations == ROWS + 10


def test_a_reader_that_fails_in_mid_file_leaves_nothing(store: Store) -> None:
    before = everything(store)
    with pytest.raises(UnknownFormat, match="hold no JSON"):
        load(store, *long(), *["{"] * 100_001)
    assert everything(store) == before


def test_an_interruption_in_mid_file_leaves_nothing(store: Store) -> None:
    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    source = written(store.path.parent / "log.jsonl", MIXED)
    before = everything(store)
    with pytest.raises(KeyboardInterrupt):
        ingest(store, source, MARK_JUDGE, progress=interrupt)
    assert everything(store) == before


@pytest.mark.parametrize("name", [pytest.param("log.jsonl", id="under its name"), pytest.param("b", id="renamed")])
def test_the_same_upload_twice_changes_nothing(store: Store, name: str) -> None:
    first = load(store, *MIXED, "{", "")
    before = everything(store)
    again = load(store, *MIXED, "{", "", name=name)
    assert everything(store) == before
    assert (first.mapped, first.duplicate) == (6, 0)
    assert (again.upload_id, again.mapped, again.duplicate, again.new_generations) == (None, 0, 6, 0)
    assert len(uploads(store)) == 1


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"raw_text": "another evidence"}, id="a raw text that was not there"),
        pytest.param({"usage": {"output_tokens": 9}}, id="a usage that was not there"),
        pytest.param({}, id="without the names that its run called"),
    ],
)
def test_an_upload_without_news_leaves_no_trace(store: Store, fields: Row) -> None:
    one = generation(generation_id="g1", content=MARK)
    load(store, one, generation(generation_id="g2", tool_calls=[{"name": "ls", "arguments": "{}"}]))
    before = everything(store)
    assert load(store, {**one, **fields}).upload_id is None
    assert everything(store) == before


def test_a_grown_file_brings_its_new_lines(store: Store) -> None:
    load(store, *MIXED)
    grown = load(store, *MIXED, generation(content="no id"), event(run_id="r", round=0), generation(generation_id="g2"))
    assert (grown.mapped, grown.duplicate, grown.new_generations) == (3, 6, 2)
    assert rows(store, "SELECT count(*), count(DISTINCT key), count(DISTINCT generation_id) FROM generations") == [
        (5, 5, 5)
    ]
    assert rows(store, "SELECT count(*) FROM events") == [(2,)]


@pytest.mark.parametrize(
    ("lines", "mapped", "duplicate", "new"),
    [
        pytest.param([generation(generation_id="g")] * 3, 1, 2, 1, id="the same id and content"),
        pytest.param([generation(generation_id="g", content=c) for c in "abab"], 2, 2, 2, id="other content"),
        pytest.param([generation()] * 3, 3, 0, 3, id="no id: each is another"),
        pytest.param([generation(), generation(generation_id="g")], 2, 0, 2, id="with and without an id"),
        pytest.param([generation(), event(), event()], 3, 0, 1, id="each event is another"),
        pytest.param([generation(), run(), run()], 2, 1, 1, id="a run told twice"),
        pytest.param([generation(), label(), label(), label(by="bob")], 3, 1, 1, id="a label told twice"),
    ],
)
def test_repetitions_in_a_file(store: Store, lines: list[Row], mapped: int, duplicate: int, new: int) -> None:
    result = load(store, *lines)
    assert (result.mapped, result.duplicate, result.new_generations) == (mapped, duplicate, new)
    before = everything(store)
    assert load(store, *lines).duplicate == len(lines)
    assert everything(store) == before


def conversation(*answers: str, run_id: str = "t") -> str:
    question = {"role": "user", "content": "?"}
    messages = [[question, {"role": "assistant", "content": text}] for text in answers]
    return json.dumps({"id": run_id, "messages": list(chain.from_iterable(messages))})


def test_a_line_with_old_and_new_generations_is_mapped_once(store: Store) -> None:
    source = written(store.path.parent / "a.jsonl", [conversation("a", "b")])
    assert ingest(store, source, MARK_JUDGE).new_generations == 2
    grown = written(store.path.parent / "b.jsonl", [conversation("a", "b", "c"), conversation("a", "b")])
    result = ingest(store, grown, MARK_JUDGE)
    assert (result.lines, result.mapped, result.duplicate) == (2, 1, 1)
    assert (result.generations, result.new_generations) == (5, 1)


GOOD = [generation(generation_id=name, content=name) for name in "abc"] + [generation(content="no id")]
OTHER = [event(), run(), label(), "{", "", "[]", '{"type":"generation"}']
some_lines = st.lists(st.sampled_from([*GOOD, *OTHER]), max_size=12)


@given(st.lists(some_lines, min_size=1, max_size=3))
@settings(max_examples=25, deadline=None)
def test_lines_balance(tmp_path_factory: pytest.TempPathFactory, files: list[list[Row | str]]) -> None:
    with Store.open(tmp_path_factory.mktemp("balance") / "s.duckdb", create=True) as store:
        for lines in files:
            result = load(store, GOOD[0], *lines)
            assert result.lines == len(lines) + 1
            assert result.mapped + result.skipped + result.duplicate + result.quarantined == result.lines
            assert result.skipped == sum(result.skipped_why.values()) == lines.count("")
            assert result.quarantined == sum(result.quarantined_why.values())
        listed = sum(upload.new_generations for upload in uploads(store))
        assert rows(store, "SELECT count(*), count(DISTINCT key) FROM generations") == [(listed, listed)]


@pytest.mark.parametrize(
    ("bad", "warned"),
    [pytest.param(5, False, id="five per cent"), pytest.param(6, True, id="more than five per cent")],
)
def test_a_warning_stands_above_five_per_cent(store: Store, bad: int, warned: bool) -> None:
    result = load(store, *["{"] * bad, *long(100 - bad))
    assert (result.warning is not None) is warned
    if result.warning:
        assert result.warning.startswith("6 of 100 lines were not understood")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        pytest.param(["{", '{"type":"span"}'], "no record in 2 lines", id="nothing understood"),
        pytest.param(["", " "], r"no record in 2 lines .*\(blank line\)", id="nothing there"),
        pytest.param([json.dumps({"type": "run"})] * 3, "run_id: Field required", id="its commonest reason is told"),
    ],
)
def test_a_file_without_a_record_is_refused_and_nothing_kept(store: Store, lines: list[str], why: str) -> None:
    before = everything(store)
    with pytest.raises(UnknownFormat, match=why):
        load(store, *lines)
    assert everything(store) == before


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(run(engine="vllm"), id="runs"),
        pytest.param(label(), id="labels"),
        pytest.param(event(), id="events"),
    ],
)
def test_a_file_of_one_kind_alone_is_accepted(store: Store, row: Row) -> None:
    result = load(store, row)
    assert (result.mapped, result.generations) == (1, 0)


def test_a_missing_file_and_a_wrong_setting_leave_the_store_alone(store: Store) -> None:
    before = everything(store)
    with pytest.raises(InputError):
        ingest(store, Source(store.path.parent / "no", "no"), MARK_JUDGE)
    with pytest.raises(UsageError, match="cannot set colour"):
        load(store, generation(), settings={"colour": "red"})
    assert everything(store) == before


def test_quarantined_lines_are_kept_with_number_reason_and_excerpt(store: Store) -> None:
    load(store, generation(), "", "{" * 500, '{"type":"generation","run_id":"r"}', generation())
    assert rows(store, "SELECT line, excerpt FROM quarantine ORDER BY line") == [
        (3, "{" * 200),
        (4, '{"type":"generation","run_id":"r"}'),
    ]
    [(broken,), (silent,)] = rows(store, "SELECT reason FROM quarantine ORDER BY line")
    assert broken == "not JSON: key must be a string at byte 2"
    assert "needs one of content" in silent
    assert rows(store, "SELECT reason, lines FROM skipped") == [("blank line", 1)]


def test_texts_and_tool_lists_stand_once(store: Store) -> None:
    row = generation(content="same", reasoning="same", tools=[{"name": "ls"}])
    load(store, row, row)
    load(store, {**row, "generation_id": "h"}, name="b.jsonl")
    assert rows(store, "SELECT text FROM texts") == [("same",)]
    assert rows(store, "SELECT tools FROM tool_lists") == [('[{"name":"ls"}]',)]
    assert rows(store, "SELECT count(*), count(DISTINCT content) FROM generations") == [(3, 1)]


def test_texts_are_compressed_with_zstd(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with Store.open(path, create=True) as store:
        load(store, *(generation(content=f"{at} words and more words " * 20) for at in range(ROWS)))
    with Store.open(path) as store:
        used = rows(
            store,
            "SELECT DISTINCT compression FROM pragma_storage_info('texts') "
            "WHERE column_name = 'text' AND segment_type = 'VARCHAR'",
        )
    assert [(name.lower(),) for (name,) in used] == [("zstd",)]


def test_verdicts_are_stored_under_the_judge_and_coverage_is_noted(store: Store) -> None:
    result = load(store, generation(generation_id="a", content=f"a {MARK}"), generation(generation_id="b"))
    found = rows(
        store,
        "SELECT v.detector, g.generation_id, v.kind, v.markup, v.start_at, v.end_at "
        "FROM verdicts v JOIN generations g USING (verdict_key)",
    )
    assert found == [("mark@1", "a", "leaked_call", MARK, 2, 2 + len(MARK))]
    assert rows(store, "FROM coverage") == [("mark@1", result.upload_id)]


def test_a_verdict_stands_once_for_all_outputs_that_are_alike(store: Store) -> None:
    load(store, *(generation(generation_id=f"g{at}", content=MARK) for at in range(5)))
    load(store, generation(generation_id="later", content=MARK), name="b.jsonl")
    assert rows(store, "SELECT count(*) FROM verdicts") == [(1,)]
    assert rows(store, "SELECT count(*) FROM generations g JOIN verdicts USING (verdict_key)") == [(6,)]


def test_the_failure_of_a_detector_is_a_verdict(store: Store) -> None:
    def fall(batch: Batch) -> Iterator[StoredVerdict]:
        return (StoredVerdict(each.verdict_key, error="it fell") for each in batch.generations)

    judge = Judge("bad@1", fall)
    load(store, generation(), judge=judge)
    assert rows(store, "SELECT detector, kind, error FROM verdicts") == [("bad@1", None, "it fell")]


def test_a_result_as_json_has_the_keys_of_the_command_line(store: Store) -> None:
    result: UploadResult = load(store, *MIXED, "{", "")
    keys = ["path", "format", "lines", "mapped", "skipped", "duplicate", "quarantined"]
    assert [result.as_json()[key] for key in keys] == ["log.jsonl", "native", 8, 6, 1, 0, 1]
    assert [result.as_json()[key] for key in ("generations", "new_generations", "events")] == [3, 3, 1]


def test_series_fields_come_from_the_run_where_a_generation_has_none(store: Store) -> None:
    load(store, generation(generation_id="a", engine="sglang"), generation(generation_id="b"), run(engine="old"))
    load(store, run(engine="vllm", template="t"), name="b.jsonl")
    found = rows(store, "SELECT generation_id, engine, template FROM facts ORDER BY ALL")
    assert found == [("a", "sglang", "t"), ("b", "vllm", "t")]
