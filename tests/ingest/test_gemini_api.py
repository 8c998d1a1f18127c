"""What is peculiar to Google's generateContent: parts, thoughts, finish reasons that tell of lost calls."""

from typing import Any

import pytest

from ingest.formats import Item
from ingest.formats.gemini_api import GEMINI_API
from ingest.records import Generation
from tests.ingest.provider_bodies import REQUESTS, RESPONSES, STREAMS
from tests.ingest.samples import decoded, generations, only, reason

Object = dict[str, Any]


def read(*values: Any) -> list[Item]:
    return list(GEMINI_API.read(decoded(*values)))


def candidate(*parts: Any, **rest: Any) -> Object:
    return {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", **rest}


def answered(*parts: Any, **rest: Any) -> Generation:
    return only(read({"candidates": [candidate(*parts, **rest)]}))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param([{"text": "a"}], {"content": "a", "text_fidelity": "exact"}, id="a text"),
        pytest.param([{"text": "a"}, {"text": "b"}], {"content": "ab", "text_fidelity": "rebuilt"}, id="two texts"),
        pytest.param([], {"content": None}, id="nothing"),
        pytest.param([{"text": "r", "thought": True}], {"content": None, "reasoning": "r"}, id="a thought"),
        pytest.param(
            [{"text": "a", "thoughtSignature": "s"}], {"content": "a", "text_fidelity": "exact"}, id="a signature"
        ),
        pytest.param(
            [{"functionCall": {"name": "ls", "args": {"a": 1}}}],
            {"content": None, "tool_calls": [{"name": "ls", "arguments": {"a": 1}}]},
            id="a call without an id",
        ),
        pytest.param(
            [{"functionCall": {"name": "ls"}}], {"content": None, "tool_calls": [{"name": "ls"}]}, id="none invented"
        ),
        pytest.param(
            [{"executableCode": {"code": "1"}}],
            {"content": None, "content_parts": [{"executableCode": {"code": "1"}}]},
            id="a part of another kind is kept",
        ),
    ],
)  # fmt: skip
def test_parts(parts: list[Any], expected: Object) -> None:
    own = {"type", "run_id", "finish_reason", "finish_fidelity"}
    found = answered(*parts).model_dump(exclude_unset=True)
    assert {key: value for key, value in found.items() if key not in own} == expected


@pytest.mark.parametrize(
    "reason_", ["STOP", "MAX_TOKENS", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "FINISH_REASON_UNSPECIFIED"]
)
def test_a_finish_reason_stays_as_it_came(reason_: str) -> None:
    found = only(read({"candidates": [{"content": {}, "finishReason": reason_, "finishMessage": "print(x)"}]}))
    assert (found.finish_reason, found.finish_fidelity, found.content) == (reason_, "wire", None)
    assert found.model_extra == {"finish_message": "print(x)"}


def test_a_candidate_without_content() -> None:
    found = only(read({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}))
    assert (found.finish_reason, found.content) == ("MALFORMED_FUNCTION_CALL", None)


def test_the_spelling_of_the_python_sdk() -> None:
    contents = [{"role": "user", "parts": [{"text": "x"}]}]
    part = {"function_call": {"name": "ls", "args": {}}, "text": None, "thought": None}
    value = {
        "response_id": "x",
        "model_version": "m-1",
        "create_time": "2026-11-30T12:00:00Z",
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finish_reason": "STOP"}],
        "usage_metadata": {"prompt_token_count": 3, "candidates_token_count": 2},
    }
    record = {
        "request": {
            "model": "m",
            "contents": contents,
            "config": {"tools": [{"function_declarations": [{"name": "ls"}]}]},
        },
        "response": value,
    }
    found = only(read(record))
    assert (found.generation_id, found.model, found.finish_reason) == ("x", "m-1", "STOP")
    assert [tool.name for tool in found.tools or ()] == [made.name for made in found.tool_calls or ()] == ["ls"]
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (3, 2)
    assert str(found.started_at) == "2026-11-30 12:00:00+00:00"


def test_a_refused_prompt_is_a_generation_without_output() -> None:
    found = only(read({"promptFeedback": {"blockReason": "SAFETY"}}))
    assert (found.status, found.content, found.finish_fidelity) == ("error", None, "absent")
    assert (found.model_extra or {})["error"] == {"blockReason": "SAFETY"}


def test_every_candidate_is_a_generation() -> None:
    found = generations(read({"responseId": "x", "candidates": [candidate({"text": text}) for text in "ab"]}))
    assert [(one.generation_id, one.content) for one in found] == [("x", "a"), ("x#1", "b")]


@pytest.mark.parametrize(
    ("request_", "tools", "mode"),
    [
        pytest.param({"tools": [{"functionDeclarations": [{"name": "ls"}]}]}, ["ls"], "native", id="functions"),
        pytest.param({"tools": [{"googleSearch": {}}]}, ["googleSearch"], "native", id="Google's own"),
        pytest.param({}, [], "none", id="none"),
        pytest.param(
            {"tools": [{"functionDeclarations": [{"name": "ls"}]}],
             "toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}, ["ls"], "none", id="not to be called",
        ),
    ],
)  # fmt: skip
def test_tools(request_: Object, tools: list[str], mode: str) -> None:
    found = only(read({"request": {"contents": [], **request_}, "response": RESPONSES["gemini"]}))
    assert ([tool.name for tool in found.tools or ()], found.call_mode) == (tools, mode)


def test_results_of_calls_link_a_run() -> None:
    answer = {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "ls", "response": {"f": 1}}}]}
    pairs = [{"request": {"contents": contents}, "response": RESPONSES["gemini"]}
             for contents in (REQUESTS["gemini"]["contents"], [answer])]  # fmt: skip
    assert len({one.run_id for one in generations(read(*pairs))}) == 1


def test_the_list_that_streaming_answers_with() -> None:
    record = {"request": REQUESTS["gemini"], "response": STREAMS["gemini"]}
    assert GEMINI_API.sniff([record]) == 1
    found = only(read(record))
    assert (found.content, found.text_fidelity, found.call_mode) == ("ab", "rebuilt", "native")


def test_an_answer_beside_its_request_without_a_finish_reason_is_cut() -> None:
    found = only(read({"request": REQUESTS["gemini"], "response": STREAMS["gemini"][1]}))
    assert (found.content, found.status, found.finish_reason) == ("a", "cut", None)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param({"candidates": [candidate(finishReason=7)]}, "finish reason is no text", id="finish reason"),
        pytest.param(
            {"request": {"contents": [], "tools": 7}, "response": RESPONSES["gemini"]}, "tools is", id="tools"
        ),
        pytest.param(
            {"request": {"contents": [], "tools": [7]}, "response": RESPONSES["gemini"]}, "tools holds", id="7"
        ),
        pytest.param({"candidates": [candidate({"functionCall": {"args": {}}})]}, "name", id="a call without a name"),
    ],
)
def test_what_is_not_understood_says_why(value: Any, why: str) -> None:
    (item,) = read(value)
    assert why in reason(item)
