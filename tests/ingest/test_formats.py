"""What holds for every log format of the registry, and how one is chosen."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from ingest.detection import by_name, choose
from ingest.errors import UnknownFormat, UsageError
from ingest.files.containers import Source, read_lines
from ingest.files.jsonlines import decode
from ingest.formats import Format, Line, Mapped, Quarantined, Skipped, formats
from tests.ingest.samples import decoded, json_values, raw_lines, read_text, shared_log
from tests.ingest.test_openai_chat import chat_like

EVERY = pytest.mark.parametrize("chosen", [pytest.param(each, id=each.name) for each in formats()])


def values_of(text: str) -> list[Any]:
    return [line.value for line in decode(raw_lines(*text.splitlines())) if isinstance(line, Line)]


@EVERY
def test_a_format_understands_all_of_its_example(chosen: Format) -> None:
    items = read_text(chosen, chosen.example)
    assert not [item for item in items if isinstance(item, Quarantined)]
    assert any(isinstance(item, Mapped) and item.records for item in items)


@EVERY
def test_an_example_is_taken_for_its_format_and_by_no_other_of_its_rank(chosen: Format) -> None:
    values = values_of(chosen.example)
    assert choose(values, "log") is chosen
    assert [each.name for each in formats() if each.generic <= chosen.generic and each.sniff(values)] == [chosen.name]


@EVERY
def test_an_example_is_recognised_among_as_many_strange_lines(chosen: Format) -> None:
    values = values_of(chosen.example)
    assert choose([*values, *({"level": "info", "msg": "x"} for _ in values)], "log") is chosen


@EVERY
def test_a_format_claims_nothing_of_nothing(chosen: Format) -> None:
    assert chosen.sniff([]) == 0


@EVERY
@given(values=json_values | chat_like)
@settings(deadline=None, max_examples=150)
def test_any_value_is_answered(chosen: Format, values: Any) -> None:
    lines = decoded(values, *(values if isinstance(values, list) else []))
    assert 0 <= chosen.sniff([line.value for line in lines]) <= 1
    items = list(chosen.read(lines))
    assert {item.line for item in items} == {line.number for line in lines}
    reasons = [item.why for item in items if isinstance(item, Quarantined | Skipped)]
    assert all(why and "\n" not in why for why in reasons)


@EVERY
def test_names_and_titles_fit_a_command_line(chosen: Format) -> None:
    assert by_name(chosen.name) is chosen
    assert chosen.name == chosen.name.lower().replace("_", "-")
    assert "\n" not in chosen.title


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([], id="nothing"),
        pytest.param([1, "x", None, []], id="no objects"),
        pytest.param([{"level": "info", "msg": "started"}], id="an application's log"),
        pytest.param([{"type": "run", "name": "x"}], id="another program's run"),
        pytest.param([{"request": {"input": "hi"}, "response": {"output": []}}], id="an output of no known API"),
        pytest.param(
            [{"request": {"messages": [{"role": "user", "content": "hi"}]}, "response": {"content": [{"text": "a"}]}}],
            id="blocks without a stop reason, wrapped",
        ),
        pytest.param(
            [{"messages": [{"role": "user", "content": "hi"}], "response": {"content": [{"type": "text"}]}}],
            id="blocks without a stop reason, beside their request",
        ),
        pytest.param([{"candidates": [{"name": "ann"}]}], id="candidates of another kind"),
        pytest.param([{"type": "message", "role": "assistant", "content": []}], id="an item of a response"),
        pytest.param([{"custom_id": "c", "kind": "other"}], id="a custom id without a batch"),
    ],
)  # fmt: skip
def test_what_no_format_reads_is_refused_with_what_was_tried(values: list[Any]) -> None:
    with pytest.raises(UnknownFormat) as refusal:
        choose(values, "it.jsonl")
    message = str(refusal.value)
    assert message.startswith("it.jsonl: ")
    assert "\n" not in message
    assert "--format NAME" in message
    assert all(each.title in message for each in formats())


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no format 'cvs'; known are .*native.*"):
        by_name("cvs")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openai/chat_request_response_pairs.jsonl", "openai-chat"),
        ("openai/batch_output.jsonl", "openai-batch"),
        ("openai/batch_input.jsonl", "openai-batch"),
        ("litellm/standard_logging_payload.jsonl", "litellm"),
        ("composed/portkey_logs.jsonl", "portkey"),
        ("composed/helicone_export.jsonl", "helicone"),
        ("openai/finetune_messages.jsonl", "messages"),
        ("openai/chat_stream_chunks.jsonl", "response-streams"),
        ("openai/responses_request_response_pairs.jsonl", "openai-responses"),
    ],
)
def test_logs_of_other_projects_are_recognised(name: str, expected: str | None) -> None:
    path: Path = shared_log(name)
    values = [line.value for line in decode(read_lines(Source(path, name))) if isinstance(line, Line)]
    if expected is None:
        with pytest.raises(UnknownFormat):
            choose(values, name)
    else:
        assert choose(values, name) is by_name(expected)
