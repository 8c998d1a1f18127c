"""A file as batches: bounded, balanced, hashed the same way every time."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.batch import Batch, Judgeable
from ingest.batches import BYTES, ROWS, read
from ingest.errors import UnknownFormat, UsageError
from ingest.files.containers import Source
from ingest.files.segments import FIRST, UNREADABLE_IN_A_ROW
from ingest.records import SERIES
from tests.ingest.loading import Row, event, generation, label, run, written

PAIR = {
    "request": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "response": {"id": "c1", "choices": [{"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}]},
}


def batches(source: Source, settings: dict[str, str] | None = None) -> list[Batch]:
    return list(read(source, settings=settings).batches)


def of(tmp_path: Path, *rows: Row | str, settings: dict[str, str] | None = None) -> list[Judgeable]:
    source = written(tmp_path / "log.jsonl", rows)
    return [each for batch in batches(source, settings) for each in batch.generations]


def test_a_batch_ends_at_its_rows(tmp_path: Path) -> None:
    source = written(tmp_path / "log.jsonl", [json.dumps(generation())] * (ROWS + 1))
    assert [batch.lines for batch in batches(source)] == [ROWS, 1]


def test_a_batch_ends_at_its_rows_of_quarantined_lines_too(tmp_path: Path) -> None:
    source = written(tmp_path / "log.jsonl", [json.dumps(generation()), *["{"] * ROWS])
    assert [len(batch.quarantined) for batch in batches(source)] == [ROWS - 1, 1]


def test_a_batch_ends_at_its_bytes(tmp_path: Path) -> None:
    line = json.dumps(generation(content="x" * (BYTES // 4)))
    source = written(tmp_path / "log.jsonl", [line] * 9)
    assert [batch.lines for batch in batches(source)] == [4, 4, 1]


def test_records_of_each_kind_stand_apart_with_their_lines(tmp_path: Path) -> None:
    source = written(tmp_path / "log.jsonl", [run(), generation(), "", event(), label(), "{"])
    (batch,) = batches(source)
    assert [each.entry.line for each in batch.generations] == [2]
    assert [line for line, _ in (*batch.runs, *batch.events, *batch.labels)] == [1, 4, 5]
    assert [item.line for item in batch.quarantined] == [6]
    assert (batch.lines, batch.skipped) == (6, Counter({"blank line": 1}))


GOOD, BAD, BLANK, WRONG = json.dumps(generation()), '{"type":', " ", json.dumps(run(run_id=1))


@given(st.lists(st.sampled_from([GOOD, BAD, BLANK, WRONG]), max_size=3 * FIRST).filter(lambda lines: GOOD in lines))
def test_lines_balance_and_keep_their_order(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    source = written(tmp_path_factory.mktemp("lines") / "log.jsonl", lines)
    found = batches(source)
    count = Counter(lines)
    assert sum(batch.lines for batch in found) == len(lines)
    assert sum(batch.skipped.total() for batch in found) == count[BLANK]
    mapped = [each.entry.line for batch in found for each in batch.generations]
    quarantined = [item.line for batch in found for item in batch.quarantined]
    assert mapped == [number for number, line in enumerate(lines, 1) if line == GOOD]
    assert quarantined == [number for number, line in enumerate(lines, 1) if line in (BAD, WRONG)]


CALLS_LS = generation(tool_calls=[{"name": "ls", "arguments": "{}"}])
CALLS_CAT = generation(tool_calls=[{"name": "cat", "arguments": "{}"}])


@pytest.mark.parametrize(
    ("rows", "inferred"),
    [
        pytest.param([generation(), CALLS_LS], [("ls",), ("ls",)], id="a name called later in the batch"),
        pytest.param([CALLS_LS, CALLS_CAT], [("cat", "ls")] * 2, id="all names of the run, sorted"),
        pytest.param([generation(run_id="other"), CALLS_LS], [(), ("ls",)], id="none of another run"),
        pytest.param([generation(tools=[]), CALLS_LS], [(), ("ls",)], id="none where the tools are known"),
        pytest.param(
            [generation(), {**CALLS_LS, "tools": [{"name": "ls"}]}], [(), ()], id="none from where they are known"
        ),
        pytest.param([generation()], [()], id="nothing called"),
    ],
)
def test_the_inferred_names(tmp_path: Path, rows: list[Row], inferred: list[tuple[str, ...]]) -> None:
    assert [each.inferred_names for each in of(tmp_path, *rows)] == inferred


def test_names_are_inferred_up_to_the_end_of_the_batch(tmp_path: Path) -> None:
    fill = json.dumps(generation(run_id="other"))
    found = of(tmp_path, CALLS_LS, *[fill] * (ROWS - 1), generation(), CALLS_CAT)
    assert found[0].inferred_names == ("ls",)
    assert found[ROWS].inferred_names == ("cat", "ls")


def test_settings_override_what_the_file_says(tmp_path: Path) -> None:
    settings = {name: f"my {name}" for name in SERIES}
    (told,) = of(tmp_path, generation(model="theirs"), settings=settings)
    start = told.entry.row.index("my model")
    assert told.entry.row[start : start + len(SERIES)] == tuple(settings.values())


def test_settings_make_no_other_generation(tmp_path: Path) -> None:
    (plain,) = of(tmp_path, generation(model="theirs"))
    (told,) = of(tmp_path, generation(model="theirs"), settings={"model": "mine", "engine": "vllm"})
    assert told.entry.key == plain.entry.key


BASE = generation(generation_id="g", turn=1, round=2, attempt=0, tools=[{"name": "ls"}], finish_reason="stop")


@pytest.mark.parametrize(
    ("start", "fields", "same"),
    [
        pytest.param(BASE, {}, True, id="the same"),
        pytest.param(BASE, {"started_at": "2026-11-01T00:00:00Z"}, True, id="logged at another time"),
        pytest.param(BASE, {"engine": "vllm", "template": "t"}, True, id="logged with its engine"),
        pytest.param(BASE, {"usage": {"input_tokens": 1}, "tags": {"a": 1}, "seed": 1}, True, id="logged with more"),
        pytest.param(BASE, {"raw_text": "x"}, True, id="logged with the raw text"),
        pytest.param(BASE, {"generation_id": "h"}, False, id="another id"),
        pytest.param(BASE, {"run_id": "s"}, False, id="another run"),
        pytest.param(BASE, {"turn": 0}, False, id="another turn"),
        pytest.param(BASE, {"round": 0}, False, id="another round"),
        pytest.param(BASE, {"attempt": 1}, False, id="another attempt"),
        pytest.param(BASE, {"model": "m"}, False, id="another model"),
        pytest.param(BASE, {"tools": [{"name": "cat"}]}, False, id="other tools"),
        pytest.param(BASE, {"tools": None}, False, id="no tools"),
        pytest.param(BASE, {"tool_choice": "auto"}, False, id="another tool choice"),
        pytest.param(BASE, {"content": "y"}, False, id="another text"),
        pytest.param(BASE, {"content": None}, False, id="no text"),
        pytest.param(BASE, {"content": None, "reasoning": "x"}, False, id="the text in another channel"),
        pytest.param(BASE, {"tool_calls": []}, False, id="no calls, told"),
        pytest.param(BASE, {"finish_reason": "length"}, False, id="another finish"),
        pytest.param(BASE, {"status": "error"}, False, id="another status"),
        pytest.param(generation(), {"started_at": "2026-11-01T00:00:00Z"}, False, id="no id, another time"),
        pytest.param(generation(run_id="None"), {"generation_id": "None"}, False, id="no id, or one that says None"),
    ],
)  # fmt: skip
def test_what_makes_a_generation_the_same(tmp_path: Path, start: Row, fields: Row, same: bool) -> None:
    first, second = of(tmp_path, start, {**start, **fields})
    assert (first.entry.key == second.entry.key) is same


@pytest.mark.parametrize(
    ("place", "fields", "same"),
    [
        pytest.param("request", {"messages": [{"role": "user", "content": "ho"}]}, False, id="another request"),
        pytest.param("request", {"model": "n"}, False, id="another model"),
        pytest.param("response", {"id": "c2"}, False, id="another id"),
        pytest.param("response", {"created": 1790000000}, True, id="another time"),
    ],
)
def test_a_request_outside_the_record_counts(tmp_path: Path, place: str, fields: Row, same: bool) -> None:
    pair: dict[str, Any] = {**PAIR, "run_id": "a"}
    other = {**PAIR, "run_id": "b", place: {**PAIR[place], **fields}}
    first, second = of(tmp_path, pair, other)
    assert (first.entry.key == second.entry.key) is same


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        pytest.param({"run_id": "s", "generation_id": "g", "model": "m", "attempt": 1}, True, id="where it stood"),
        pytest.param({"status": "error", "started_at": 1, "raw_text": "r"}, True, id="how it went"),
        pytest.param({"reasoning": ""}, True, id="an empty channel is an absent one"),
        pytest.param({"tool_calls": []}, True, id="so is an empty list of calls"),
        pytest.param({"content": "y"}, False, id="another text"),
        pytest.param({"content": None, "reasoning": "x"}, False, id="in another channel"),
        pytest.param({"tools": []}, False, id="tools known to be none"),
        pytest.param({"tools": [{"name": "ls"}]}, False, id="tools offered"),
        pytest.param({"tool_calls": [{"name": "ls"}]}, False, id="a call"),
        pytest.param({"finish_reason": "stop"}, False, id="a finish"),
        pytest.param({"call_mode": "text"}, False, id="a mode"),
    ],
)
def test_what_verdicts_stick_to(tmp_path: Path, fields: Row, same: bool) -> None:
    (first,) = of(tmp_path, generation())
    (second,) = of(tmp_path, generation(**fields))
    assert (first.verdict_key == second.verdict_key) is same


def test_the_inferred_names_count_for_the_verdict(tmp_path: Path) -> None:
    (alone,) = of(tmp_path, generation())
    beside, _ = of(tmp_path, generation(), CALLS_LS)
    assert alone.entry.key == beside.entry.key
    assert alone.verdict_key != beside.verdict_key


def test_texts_and_tools_of_a_batch_stand_once(tmp_path: Path) -> None:
    row = generation(tools=[{"name": "ls"}], reasoning="x", raw_text="x")
    (batch,) = batches(written(tmp_path / "log.jsonl", [row, row]))
    assert list(batch.texts.values()) == ["x"]
    assert list(batch.tool_lists.values()) == ['[{"name":"ls"}]']


def test_blank_lines_before_the_first_record_are_counted(tmp_path: Path) -> None:
    source = written(tmp_path / "log.jsonl", ["", " ", generation(), ""])
    (batch,) = batches(source)
    assert (batch.lines, batch.skipped["blank line"]) == (4, 3)
    assert batch.generations[0].entry.line == 3


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("", "log: empty; nothing was read", id="an empty file"),
        pytest.param("\n \n", "in no format that leakdown reads", id="blank lines"),
        pytest.param("hello\nworld\n", "log:1: not JSON", id="no JSON"),
        pytest.param('{"a":1}\n', "in no format that leakdown reads", id="JSON of another kind"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "log").write_text(text)
    with pytest.raises(UnknownFormat, match=why):
        read(Source(tmp_path / "log", "log"))


def test_an_endless_stretch_without_json_is_refused(tmp_path: Path) -> None:
    reading = read(written(tmp_path / "log.jsonl", [generation(), *["{"] * (UNREADABLE_IN_A_ROW + 1)]))
    with pytest.raises(UnknownFormat, match="100,000 lines in a row hold no JSON"):
        list(reading.batches)


def test_an_unknown_format_name_is_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no format 'mine'"):
        read(written(tmp_path / "log.jsonl", [generation()]), format_name="mine")
