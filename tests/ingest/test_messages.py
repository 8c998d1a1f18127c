"""A conversation a line: every assistant message is a generation."""

import json
from typing import Any

import pytest

from ingest.files.containers import Source, read_lines
from ingest.files.jsonlines import decode
from ingest.formats import Line, Mapped, Quarantined, Skipped
from ingest.formats.messages import MESSAGES
from tests.ingest.samples import decoded, generations, only, read_text, reason, shared_log

USER = {"role": "user", "content": "list the files"}
HELLO = {"role": "assistant", "content": "hello"}


def talk(*messages: Any, **rest: Any) -> dict[str, Any]:
    return {"messages": list(messages), **rest}


def test_a_sample_file_is_one_run_whose_second_answer_leaks() -> None:
    path = shared_log("openai/finetune_messages.jsonl")
    lines = [line for line in decode(read_lines(Source(path, path.name))) if isinstance(line, Line)]
    first, second = generations(list(MESSAGES.read(lines)))
    assert first.run_id == second.run_id
    assert (first.content, second.tool_calls) == (None, None)
    assert first.tool_calls is not None
    assert second.content is not None
    assert second.content.startswith("I will list the files.\n<tool_call>")
    assert [tool.name for tool in second.tools or ()] == ["bash"]
    assert second.model_extra == {"weight": 1, "text_executed": False}


def test_turn_and_round_count_users_and_answers() -> None:
    system = {"role": "system", "content": "be brief"}
    tool = {"role": "tool", "tool_call_id": "c", "content": "a"}
    found = generations(list(MESSAGES.read(decoded(talk(HELLO, system, USER, HELLO, tool, HELLO, USER, HELLO)))))
    assert [(each.turn, each.round) for each in found] == [(0, 0), (0, 1), (0, 2), (1, 3)]
    assert {each.attempt for each in found} == {0}
    assert [each.generation_id for each in found] == [f"{found[0].run_id}:{number}" for number in range(4)]


@pytest.mark.parametrize(
    ("rest", "run_id"),
    [
        pytest.param({"id": "a", "session_id": "b"}, "a", id="its id"),
        pytest.param({"conversation_id": "b"}, "b", id="its conversation"),
        pytest.param({"session_id": "c"}, "c", id="its session"),
        pytest.param({"run_id": "d"}, "d", id="its run"),
        pytest.param({"id": 7, "run_id": ""}, None, id="a number or nothing names none"),
    ],
)
def test_the_run_is_named_by_the_line_or_by_its_messages(rest: dict[str, Any], run_id: str | None) -> None:
    found = only(list(MESSAGES.read(decoded(talk(USER, HELLO, **rest)))))
    if run_id is None:
        again = only(list(MESSAGES.read(decoded(talk(USER, HELLO)))))
        assert found.run_id == again.run_id
        assert len(found.run_id) == 33
    else:
        assert found.run_id == run_id


LS = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    ("rest", "names", "mode"),
    [
        pytest.param({}, None, "unknown", id="absent is unknown"),
        pytest.param({"tools": None}, None, "unknown", id="null, as data sets fill in, is unknown"),
        pytest.param({"tools": []}, [], "none", id="an empty list is none"),
        pytest.param({"tools": [LS]}, ["ls"], "native", id="a list"),
        pytest.param({"tools": json.dumps([LS])}, ["ls"], "native", id="a list in a string"),
        pytest.param({"tools": [json.dumps(LS)]}, ["ls"], "native", id="a list of strings"),
        pytest.param({"tools": ""}, None, "unknown", id="an empty string"),
        pytest.param({"tools": [{"name": "ls"}]}, ["ls"], "native", id="without the wrapper"),
        pytest.param({"tools": [{"type": "web_search"}]}, ["web_search"], "native", id="a tool of the provider's"),
        pytest.param({"tools": [{"type": "custom", "custom": {"name": "patch"}}]}, ["patch"], "native", id="custom"),
    ],
)
def test_the_tools_offered(rest: dict[str, Any], names: list[str] | None, mode: str) -> None:
    found = only(list(MESSAGES.read(decoded(talk(USER, HELLO, **rest)))))
    assert (None if found.tools is None else [tool.name for tool in found.tools]) == names
    assert ("tools" in found.model_fields_set) == ("tools" in rest)
    assert found.effective_call_mode == mode


def test_the_finish_reason_is_absent_and_the_model_is_the_lines() -> None:
    found = only(list(MESSAGES.read(decoded(talk(USER, HELLO, model="m", parallel_tool_calls=False)))))
    assert (found.model, found.finish_reason, found.finish_fidelity) == ("m", None, "absent")
    assert "finish_reason" not in found.model_fields_set
    assert not found.model_extra


def test_arguments_stay_an_object_where_the_source_has_one() -> None:
    call = {"function": {"name": "ls", "arguments": {"path": "a"}}}
    found = only(list(MESSAGES.read(decoded(talk(USER, {"role": "assistant", "tool_calls": [call]})))))
    assert found.tool_calls is not None
    assert found.tool_calls[0].arguments == {"path": "a"}
    assert "content" not in found.model_fields_set


def test_messages_in_a_string_are_read() -> None:
    assert only(list(MESSAGES.read(decoded({"messages": json.dumps([USER, HELLO])})))).content == "hello"


def test_half_a_surrogate_pair_makes_a_text_normalised() -> None:
    line = r'{"messages": [{"role": "assistant", "content": "a\ud83d"}]}'
    assert only(read_text(MESSAGES, line)).text_fidelity == "normalised"


@pytest.mark.parametrize(
    ("value", "kind", "why"),
    [
        pytest.param(talk(USER), Skipped, "no assistant message", id="no answer"),
        pytest.param(talk(), Skipped, "no assistant message", id="no messages"),
        pytest.param([], Quarantined, "no conversation", id="a list"),
        pytest.param({"prompt": "x"}, Quarantined, "no conversation", id="another object"),
        pytest.param(talk(HELLO, 7), Quarantined, "messages[1] is not an object", id="a number as a message"),
        pytest.param(talk({"role": "assistant", "content": 7}), Quarantined, "the content is neither", id="a number"),
        pytest.param(talk({"role": "assistant"}), Quarantined, "needs one of content", id="nothing said"),
        pytest.param(talk({**HELLO, "tool_calls": {}}), Quarantined, "tool_calls is not a list", id="odd calls"),
        pytest.param(talk({**HELLO, "tool_calls": [{}]}), Quarantined, "tool_calls.0.name", id="a nameless call"),
        pytest.param(talk(HELLO, tools=7), Quarantined, "tools is not a list", id="a number as tools"),
        pytest.param(
            talk({"role": "assistant", "content": [{"type": "tool_use", "name": 7}]}), Quarantined, "name", id="blocks"
        ),
    ],
)
def test_a_line_without_a_generation_says_why(value: Any, kind: type, why: str) -> None:
    items = list(MESSAGES.read(decoded(value, talk(USER, HELLO))))
    assert isinstance(items[0], kind)
    assert why in reason(items[0])
    assert isinstance(items[1], Mapped)


def test_a_long_conversation_with_many_tools_shares_one_tool_list() -> None:
    """3,000 answers under 3,000 tools: nine million tools, were each answer given its own."""
    value = talk(*[HELLO] * 3000, tools=[{"name": f"tool_{number}"} for number in range(3000)])
    found = generations(list(MESSAGES.read(decoded(value))))
    assert len(found) == 3000
    assert all(each.tools is found[0].tools and "tools" in each.model_fields_set for each in found)
    assert len(found[0].tools or ()) == 3000
