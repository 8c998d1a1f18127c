"""The sample files: reproducible, valid, and with the cases that they promise."""

import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import jsonschema_rs
import pytest

from data import generate
from data.markup import MARKERS
from ingest.records import Generation, Label, LeakedToolCall, Run
from tests.data.sample import (
    CLOSERS,
    SAMPLE,
    generations,
    leaking,
    records,
    truth,
)


@pytest.mark.parametrize("name", ["runs.jsonl", "pairs.jsonl", "truth.json"])
def test_the_generator_writes_the_files_that_stand_here(name: str, tmp_path: Path) -> None:
    generate.write(tmp_path)
    assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes()


def test_two_generations_in_one_process_are_the_same() -> None:
    assert generate.files() == generate.files()


def test_the_sample_is_small_and_has_unix_lines() -> None:
    contents = [path.read_bytes() for path in SAMPLE.iterdir()]
    assert len(contents) == 3
    assert sum(map(len, contents)) < 3_000_000
    assert all(b"\r" not in content and content.endswith(b"\n") for content in contents)


def test_generation_ids_are_unique_and_events_and_labels_point_at_the_sample() -> None:
    made = [one for one in records() if isinstance(one, Generation)]
    assert len(generations()) == len(made)
    runs = {one.run_id for one in made}
    assert {one.run_id for one in records() if isinstance(one, Run)} == runs
    assert {one.generation_id for one in records() if isinstance(one, Label)} <= generations().keys()
    assert {one.run_id for one in records() if isinstance(one, LeakedToolCall)} <= runs


def test_every_generation_has_its_place_in_the_run() -> None:
    for one in generations().values():
        assert None not in (one.turn, one.round, one.attempt, one.started_at)


def test_the_days_are_those_of_the_truth() -> None:
    days = {one.started_at.date() for one in generations().values() if one.started_at}
    assert (f"{min(days)}", f"{max(days)}") == (truth()["first_day"], truth()["last_day"])
    assert datetime(2026, 11, 28, tzinfo=UTC).date() == max(days)
    assert (max(days) - min(days)).days + 1 == truth()["days"] == 60


def test_markup_stands_in_leaks_quotes_and_text_mode_alone() -> None:
    known = leaking() | set(truth()["quotes"]) | set(truth()["text_mode"])
    for one in generations().values():
        text = f"{one.content or ''} {one.reasoning or ''}"
        marked = any(mark in text for mark in (*MARKERS, *CLOSERS)) or '"parameters":' in text
        assert marked <= (one.generation_id in known), one.generation_id
        if one.generation_id in leaking():
            assert marked
            assert one.tool_calls == []
            assert one.finish_reason in ("stop", "length")


def test_structured_calls_fit_the_schema_of_an_offered_tool() -> None:
    made = [(one, call) for one in generations().values() if one.tools for call in one.tool_calls or ()]
    assert len(made) > 500
    for one, call in made:
        [tool] = [tool for tool in one.tools or () if tool.name == call.name]
        assert tool.parameters is not None
        jsonschema_rs.validate(tool.parameters, json.loads(call.arguments))
        assert one.finish_reason == "tool_calls"


def test_labels_are_true_but_for_one_conflict_and_two_unsure() -> None:
    labels = [one for one in records() if isinstance(one, Label)]
    assert {one.by for one in labels} == {"ana", "ben"}
    assert sum(one.leak is None for one in labels) == 2
    wrong = [one for one in labels if one.leak is not None and one.leak != (one.generation_id in leaking())]
    assert len(wrong) == 1
    beside = [one for one in labels if one.generation_id == wrong[0].generation_id]
    assert {(one.leak, one.by) for one in beside} == {
        (True, wrong[0].by),
        (False, ({"ana", "ben"} - {wrong[0].by}).pop()),
    }
    assert len({one.generation_id for one in labels}) == len(labels) - 1


def test_events_come_from_one_client_and_count_up_within_their_run() -> None:
    clients = {one.run_id: one.client for one in generations().values()}
    counted: Counter[str | None] = Counter()
    for event in (one for one in records() if isinstance(one, LeakedToolCall)):
        assert event.run_id is not None
        assert clients[event.run_id] == "openrouter-net"
        counted[event.run_id] += 1
        assert event.leak == counted[event.run_id]
        assert len(event.markup) <= 200
        texts = [
            one.content or ""
            for one in generations().values()
            if (one.run_id, one.round) == (event.run_id, event.round)
        ]
        assert sum(event.markup in text for text in texts) >= 1


@pytest.mark.parametrize(
    "holds",
    [
        pytest.param(
            lambda one: one.status in ("error", "cancelled") and not one.content,
            id="an error or a cancellation without output",
        ),
        pytest.param(lambda one: one.tools == [], id="an empty list of tools"),
        pytest.param(lambda one: one.call_mode == "text", id="calls as text by design"),
        pytest.param(lambda one: "tools" not in one.model_fields_set, id="tools that the source does not tell"),
        pytest.param(lambda one: "<function=" in (one.reasoning or ""), id="a leak in the reasoning"),
        pytest.param(lambda one: one.raw_text is not None, id="the text before the parser"),
        pytest.param(lambda one: one.finish_reason == "length", id="a leak cut at the limit"),
    ],
)
def test_the_sample_holds_the_hard_cases(holds: Callable[[Generation], bool]) -> None:
    assert sum(map(holds, generations().values())) >= 2


def test_detectors_of_the_function_marker_disagree_both_ways() -> None:
    """Cut leaks that a closer would be needed for, and quoted markers that have none."""
    contents = {name: one.content or "" for name, one in generations().items()}
    loose = {name for name, text in contents.items() if "<function=" in text}
    tight = {name for name in loose if re.search(r"</function>|\{", contents[name])}
    assert len((loose - tight) & set(truth()["leaks"])) >= 3
    assert len((loose - tight) & set(truth()["quotes_outside_code"])) >= 3


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        pytest.param(r"(?i)\b(sk|pk|ghp|gho|xox[abp]|hf|glpat)[-_][A-Za-z0-9_-]{8,}", "a key", id="prefixed key"),
        pytest.param(r"(?i)bearer\s|api[-_]?key|password|secret", "a credential's name", id="credential"),
        pytest.param(r"https?://|www\.", "an address", id="address"),
        pytest.param(r"\b\d{1,3}(\.\d{1,3}){3}\b", "an IP address", id="IP address"),
        pytest.param(r"[\w.+-]+@[\w-]+\.\w+", "a mail address", id="mail"),
        pytest.param(r"(?i)\b[\w-]+\.(com|org|net|io|dev|ai|local|internal)\b", "a host", id="host"),
        pytest.param(r"(?<![\w.])/(home|root|Users|work|tmp|etc|var)/", "a path of a machine", id="machine path"),
    ],
)
def test_no_key_and_no_host_stands_in_the_sample(pattern: str, what: str) -> None:
    for path in SAMPLE.iterdir():
        found = re.search(pattern, path.read_text(encoding="utf-8"))
        assert found is None, f"{what} in {path.name}: {found}"
