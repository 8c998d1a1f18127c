"""Markup in a structured call: debris of the wire is told from text that belongs there."""

import json

import pytest

from analysis.evidence.contamination import debris
from analysis.output import Call

NAMES = frozenset({"read_file", "ls"})


def arguments(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        pytest.param("read_file<|channel|>commentary", "read_file", id="a channel token"),
        pytest.param('read_file{"path": "a"}', "read_file", id="its arguments"),
        pytest.param("read_file</function", "read_file", id="a closing tag"),
        pytest.param("[TOOL_CALLS]read_file", "read_file", id="a token before it"),
        pytest.param("read_file\n<parameter=path>", "read_file", id="a line end"),
        pytest.param("read_file to=functions", "read_file", id="a recipient"),
        pytest.param("functions.read_file:0functions.ls:1", "", id="ids run together"),
    ],
)
def test_markup_in_a_name_is_debris(name: str, meant: str) -> None:
    found = debris((Call(name, "{}"),), NAMES)
    assert found is not None
    assert (found.channel, found.name) == ("tool_name", meant)
    assert name[found.start : found.end] == found.text


@pytest.mark.parametrize(
    "name", ["read_file", "mcp__srv__read", "srv.read-file", "functions.read_file", "Tool/x", "読む", "a:b"]
)
def test_an_ordinary_name_is_clean(name: str) -> None:
    assert debris((Call(name, "{}"),), NAMES) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({"path": "a.txt</parameter>"}, "</parameter>", id="a closer at the end of a value"),
        pytest.param({"path": "a.txt\n</parameter>\n</function>"}, "</function>", id="closers on lines of their own"),
        pytest.param({"path": "<parameter=path>a.txt"}, "<parameter=path>", id="an opener at the start"),
        pytest.param({"path": "a.txt<|call|>"}, "<|call|>", id="a control token"),
        pytest.param({"path": "a.txt<｜tool▁call▁end｜>"}, "<｜tool▁call▁end｜>", id="a full-width token"),
        pytest.param({"list": [{"path": "a.txt</arg_value>"}]}, "</arg_value>", id="a value further down"),
        pytest.param({"path</arg_key>": "a.txt"}, "</arg_key>", id="a key"),
    ],
)
def test_debris_at_the_edge_of_a_value_is_found_where_it_stands(value: object, text: str) -> None:
    raw = arguments(value)
    found = debris((Call("ls", "{}"), Call("read_file", raw)), NAMES)
    assert found is not None
    assert (found.channel, found.name, found.text) == ("tool_arguments", "read_file", text)
    assert raw[found.start : found.end] == text


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param('{"path": "a.txt"}<|call|>', id="a token behind the JSON"),
        pytest.param('{"path": "a.txt"}</tool_call>', id="a closer behind the JSON"),
        pytest.param('{"path": "a.txt"} commentary to=functions.ls', id="a recipient behind the JSON"),
        pytest.param('{"path": "a.txt</parameter>', id="no JSON, with a closer at its end"),
    ],
)
def test_wire_text_behind_arguments_that_are_no_json_is_debris(raw: str) -> None:
    found = debris((Call("read_file", raw),), NAMES)
    assert found is not None
    assert found.channel == "tool_arguments"
    assert raw[found.start : found.end] == found.text


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(
            {"path": "a.md", "content": "A call opens with `<tool_call>` and ends.\n"}, id="a file about calls"
        ),
        pytest.param({"content": "<tool_call>\n{}\n</tool_call>"}, id="a file that is nothing but markup"),
        pytest.param({"content": "text\n<tool_call>\n{}\n</tool_call>"}, id="a file that ends in a whole element"),
        pytest.param({"patch": "--- a\n+++ b\n-  </parameter>\n+  </param>\n context"}, id="a patch"),
        pytest.param({"pattern": "</?tool_call>"}, id="a search for the markup"),
        pytest.param({"pattern": "<tool_call>"}, id="a search for nothing but the tag"),
        pytest.param({"pattern": "</parameter>"}, id="a search for the closer alone"),
        pytest.param({"query": "why does </function> leak in vLLM"}, id="a question about it"),
        pytest.param({"content": '<parameter name="a">1</parameter>'}, id="XML of its own"),
        pytest.param({"html": "<p>hello</p>"}, id="HTML"),
        pytest.param({"n": 1, "flag": None, "list": []}, id="no text at all"),
    ],
)
def test_text_about_markup_is_clean(value: object) -> None:
    assert debris((Call("write_file", arguments(value)),), NAMES) is None


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(None, id="none told"),
        pytest.param("", id="empty"),
        pytest.param('{"path": "a', id="cut JSON without markup"),
        pytest.param("[" * 10_000 + '"<"' + "]" * 10_000, id="nested ten thousand deep"),
        pytest.param('{"path": "\ud800<"}', id="a lone surrogate"),
        pytest.param("\x00<\x00", id="NULs"),
    ],
)
def test_odd_arguments_are_clean(raw: str | None) -> None:
    assert debris((Call("read_file", raw),), NAMES) is None


def test_a_call_without_a_name_whose_arguments_hold_one_is_debris() -> None:
    raw = '{"name": "read_file", "arguments": {}}'
    found = debris((Call("", raw),), NAMES)
    assert found is not None
    assert (found.channel, found.text) == ("tool_arguments", raw)
