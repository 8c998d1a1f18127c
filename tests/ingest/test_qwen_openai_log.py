"""Requests that Qwen Code logs: exact going out, made up anew coming back."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import Item
from ingest.formats.openai_chat import OPENAI_CHAT
from ingest.formats.qwen_openai_log import QWEN_OPENAI_LOG
from tests.ingest.samples import decoded, generations, json_values, only, reason
from tests.ingest.test_openai_chat import chat_like

Object = dict[str, Any]
LS: Object = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}
CALL: Object = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
USER: Object = {"role": "user", "content": "?"}
ANSWER: Object = {"role": "assistant", "content": "hello", "refusal": None}
SYSTEM: Object = {"hostname": "h", "platform": "linux", "release": "6", "nodeVersion": "v22"}
NO_RESPONSE: Object = {"response": None, "error": {"message": "429 too many requests", "stack": "at x"}}


def logged(message: Object = ANSWER, request: Object | None = None, **rest: Any) -> Object:
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    response = {"id": "r", "object": "chat.completion", "created": 1796027, "model": "m", "choices": [choice]}
    asked = {"model": "m", "messages": [USER], "tools": [LS], "stream": True, **(request or {})}
    head = {"timestamp": "2026-11-30T08:33:48.693Z", "request": asked, "response": response}
    return {**head, "error": None, "system": SYSTEM, **rest}


def read(*values: Any) -> list[Item]:
    return list(QWEN_OPENAI_LOG.read(decoded(*values)))


def test_what_the_logger_made_up_is_told_as_such() -> None:
    found = only(
        read(logged({"role": "assistant", "content": None, "reasoning_content": "Look.", "tool_calls": [CALL]}))
    )
    assert (found.finish_reason, found.finish_fidelity) == ("stop", "mapped")
    assert found.started_at == datetime(2026, 11, 30, 8, 33, 48, 693000, UTC)
    assert (found.content, found.reasoning, found.client) == (None, "Look.", "qwen-code")
    assert [(call.id, call.arguments) for call in found.tool_calls or ()] == [("call_1", "{}")]
    assert ([tool.name for tool in found.tools or ()], found.call_mode) == (["ls"], "native")


def test_a_text_was_put_together_again() -> None:
    found = only(read(logged()))
    assert (found.content, found.text_fidelity) == ("hello", "rebuilt")


def test_a_time_in_the_wrong_unit_is_no_time() -> None:
    assert "started_at" not in only(read(logged(timestamp="?"))).model_fields_set


def test_a_request_that_failed_is_an_error_with_its_reason() -> None:
    found = only(read(logged(**NO_RESPONSE)))
    assert (found.status, found.content, found.finish_fidelity) == ("error", None, "absent")
    assert found.model_extra == {"error": "429 too many requests"}
    assert [tool.name for tool in found.tools or ()] == ["ls"]


def test_a_title_is_asked_for_without_tools() -> None:
    found = only(read(logged(request={"tools": []})))
    assert (found.tools, found.call_mode) == ([], "none")


def test_requests_of_one_session_are_one_run() -> None:
    called = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    history = [USER, {**called, "content": ""}, {"role": "tool", "tool_call_id": "call_1", "content": "a"}]
    found = generations(
        read(logged(called), logged(request={"messages": history}), logged(called, {"messages": [ANSWER]}))
    )
    assert found[0].run_id == found[1].run_id != found[2].run_id


def test_a_request_that_names_its_session_is_of_its_run() -> None:
    assert only(read(logged(request={"metadata": {"sessionId": "s", "promptId": "p"}}))).run_id == "s"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param(logged(response=None), "a request without a response", id="no answer and no error"),
        pytest.param(logged(response={"choices": []}), "a request without a response", id="an unfinished answer"),
        pytest.param(
            logged(response={"choices": [], "object": "chat.completion"}), "a response without choices", id="no choices"
        ),
        pytest.param({"request": {}}, "not an exchange as Qwen Code logs it", id="another pair"),
        pytest.param(
            logged(request={"messages": [1]}), "messages holds something other than objects", id="no messages"
        ),
    ],
)
def test_what_is_no_response(value: Any, why: str) -> None:
    (item,) = read(value)
    assert reason(item) == why


@pytest.mark.parametrize(
    ("value", "known"),
    [
        pytest.param(logged(), True, id="an exchange"),
        pytest.param(logged(**NO_RESPONSE), True, id="a failed one"),
        pytest.param({key: part for key, part in logged().items() if key != "system"}, False, id="any other pair"),
        pytest.param(logged(system={"platform": "linux"}), False, id="another system"),
    ],
)
def test_only_its_own_files_are_recognised(value: Any, known: bool) -> None:
    assert QWEN_OPENAI_LOG.sniff([value]) == known
    assert QWEN_OPENAI_LOG.generic < OPENAI_CHAT.generic


logged_like = st.builds(lambda parts: {**logged(), **parts}, chat_like | st.fixed_dictionaries({"error": json_values}))


@given(values=st.lists(logged_like, max_size=4))
@settings(deadline=None, max_examples=200)
def test_every_file_is_answered_once(values: list[Object]) -> None:
    lines = decoded(*values)
    assert [item.line for item in QWEN_OPENAI_LOG.read(lines)] == [line.number for line in lines]
