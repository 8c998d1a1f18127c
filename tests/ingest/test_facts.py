"""What follows from one generation alone: is it eligible, and what kind of reply is it."""

from typing import Any

import pytest

from ingest.facts import called_names, eligible, reply, tools_known
from ingest.records import Generation, validate
from tests.ingest.loading import generation

LS = [{"name": "ls"}]


def made(fields: dict[str, Any]) -> Generation:
    found = validate(generation(**fields))
    assert isinstance(found, Generation)
    return found


def call(arguments: Any, name: str = "ls") -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        pytest.param({"tools": LS, "tool_calls": [call("{}")]}, "structured", id="an offered name, an object"),
        pytest.param({"tools": LS, "tool_calls": [call({})]}, "structured", id="an object that was no string"),
        pytest.param({"tools": LS, "tool_calls": [call("{}")] * 2}, "structured", id="two of them"),
        pytest.param({"tool_calls": [call("{}", "any")]}, "structured", id="any name where the offer is unknown"),
        pytest.param({"tools": LS, "tool_calls": [call("{}", "rm")]}, "invalid_call", id="a name not offered"),
        pytest.param({"tools": [], "tool_calls": [call("{}")]}, "invalid_call", id="a call where none were offered"),
        pytest.param({"tools": None, "tool_calls": [call("{}")]}, "invalid_call", id="a call where null was offered"),
        pytest.param({"tool_calls": [call("{}"), call("{")]}, "invalid_call", id="one of two is broken"),
        pytest.param({"tool_calls": [call('{"a": 1')]}, "invalid_call", id="cut arguments"),
        pytest.param({"tool_calls": [call("[]")]}, "invalid_call", id="a list as arguments"),
        pytest.param({"tool_calls": [call([])]}, "invalid_call", id="a list that was no string"),
        pytest.param({"tool_calls": [call("")]}, "invalid_call", id="empty arguments"),
        pytest.param({"tool_calls": [call(None)]}, "invalid_call", id="null arguments"),
        pytest.param({"tool_calls": [{"name": "ls"}]}, "invalid_call", id="no arguments"),
        pytest.param({"tool_calls": [call('{"a": NaN}')]}, "invalid_call", id="NaN is no JSON"),
        pytest.param({"tool_calls": [call("[" * 9999)]}, "invalid_call", id="too deep to read"),
        pytest.param({"tool_calls": []}, "words", id="words and no calls"),
        pytest.param({"content": "<tool_call>"}, "words", id="markup is words"),
        pytest.param({"content": "a", "reasoning": "b"}, "words", id="words after reasoning"),
        pytest.param({"content": " \n", "reasoning": "b"}, "reasoning_only", id="white space after reasoning"),
        pytest.param({"content": None, "reasoning": "b"}, "reasoning_only", id="reasoning alone"),
        pytest.param({"content": None}, "empty", id="null"),
        pytest.param({"content": ""}, "empty", id="an empty text"),
        pytest.param({"content": "\n\n"}, "empty", id="white space"),
        pytest.param({"content": "", "reasoning": " \n"}, "empty", id="white space for reasoning"),
    ],
)
def test_the_kind_of_reply(fields: dict[str, Any], kind: str) -> None:
    assert reply(made(fields)) == kind


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"tools": LS}, True, id="tools offered"),
        pytest.param({"tools": []}, False, id="an empty offer is none"),
        pytest.param({"tools": None}, False, id="a null offer is none"),
        pytest.param({"tools": LS, "attempt": 0}, True, id="the first attempt"),
        pytest.param({"tools": LS, "attempt": 1}, False, id="a retry"),
        pytest.param({"tools": LS, "call_mode": "native"}, True, id="native"),
        pytest.param({"tools": LS, "call_mode": "text"}, False, id="text mode"),
        pytest.param({"tools": LS, "call_mode": "none"}, False, id="calls forbidden"),
        pytest.param({"tools": LS, "call_mode": "unknown"}, False, id="tools known, their mode not"),
        pytest.param({}, True, id="tools unknown, and so the mode"),
        pytest.param({"call_mode": "native"}, True, id="tools unknown, native"),
        pytest.param({"call_mode": "text"}, False, id="tools unknown, text mode"),
        pytest.param({"call_mode": "none"}, False, id="tools unknown, calls forbidden"),
        pytest.param({"tools": LS, "role": "agent"}, True, id="the agent"),
        pytest.param({"tools": LS, "role": "subagent"}, True, id="a subagent"),
        pytest.param({"tools": LS, "role": None}, True, id="a null role is the agent"),
        pytest.param({"tools": LS, "role": "judge"}, False, id="a judge"),
        pytest.param({"tools": LS, "role": "user_simulator"}, False, id="a simulated user"),
        pytest.param({"tools": LS, "role": "summariser"}, False, id="a summariser"),
        pytest.param({"tools": LS, "role": "title"}, False, id="a title"),
        pytest.param({"tools": LS, "role": "other"}, False, id="another role"),
        pytest.param({"tools": LS, "status": "error", "content": None}, False, id="an error without output"),
        pytest.param({"tools": LS, "status": "cancelled", "content": ""}, False, id="a cancellation without output"),
        pytest.param({"tools": LS, "status": "error"}, True, id="an error after some output"),
        pytest.param({"tools": LS, "status": "cancelled"}, True, id="a cancellation after some output"),
        pytest.param({"tools": LS, "status": "error", "content": "", "reasoning": "b"}, True, id="and reasoning"),
        pytest.param({"tools": LS, "status": "cut", "content": ""}, True, id="cut is no error"),
        pytest.param({"tools": LS, "status": "failed", "content": ""}, True, id="failed is no error of the call"),
        pytest.param({"tools": LS, "content": None}, True, id="an empty answer counts"),
    ],
)  # fmt: skip
def test_eligible(fields: dict[str, Any], expected: bool) -> None:
    found = made(fields)
    assert eligible(found, reply(found)) is expected


@pytest.mark.parametrize(
    ("fields", "known"),
    [
        pytest.param({}, False, id="absent"),
        pytest.param({"tools": None}, True, id="null"),
        pytest.param({"tools": []}, True, id="empty"),
        pytest.param({"tools": LS}, True, id="some"),
    ],
)
def test_tools_are_known_if_the_source_tells_them(fields: dict[str, Any], known: bool) -> None:
    assert tools_known(made(fields)) is known


def test_the_called_names_stand_in_their_order() -> None:
    assert called_names(made({"tool_calls": [call("{}", "b"), call("", "a"), call({}, "b")]})) == ["b", "a", "b"]
    assert called_names(made({"tool_calls": None})) == []
