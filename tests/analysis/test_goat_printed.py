"""Printed calls in both directions: what counts as the last block, and what names an offered tool with arguments."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.detectors import Finding, judge
from analysis.detectors.goat_printed import GOAT_PRINTED
from analysis.output import Call, OfferedTool, Output
from analysis.printed_calls import calls_in

TOOLS = (OfferedTool("ls"), OfferedTool("fs__read-file"))
CALL = '{"name": "ls", "arguments": {"path": "."}}'


def printed(text: str, **change: Any) -> Finding | None:
    return GOAT_PRINTED.find(replace(Output(content=text, tools=TOOLS, finish_reason="stop"), **change))


@pytest.mark.parametrize(
    ("text", "span"),
    [
        pytest.param(CALL, CALL, id="bare, the whole reply"),
        pytest.param(f"\n  {CALL} \n", CALL, id="blanks around it"),
        pytest.param(f"I look.\n\n{CALL}", CALL, id="bare, the last paragraph"),
        pytest.param(f"I look:\n{CALL}", CALL, id="bare, the last line"),
        pytest.param(f"```json\n{CALL}\n```", f"```json\n{CALL}\n```", id="fenced, the whole reply"),
        pytest.param(f"I look:\n~~~\n{CALL}\n~~~\n\n", f"~~~\n{CALL}\n~~~", id="fenced by tildes, the last block"),
        pytest.param(f"So:\r\n```\r\n{CALL}\r\n```\r\n", f"```\r\n{CALL}\r\n```", id="carriage returns"),
        pytest.param(f"```json\n{CALL}", f"```json\n{CALL}", id="a fence that never closes"),
        pytest.param(f"- so:\n\n  ```\n  {CALL}\n  ```", f"```\n  {CALL}\n  ```", id="a fence in a list"),
        pytest.param(f"```\nls\n```\n{CALL}", CALL, id="behind another fence"),
        pytest.param(
            '{\n  "name": "ls",\n\n  "arguments": {\n    "path": "."\n  }\n}',
            '{\n  "name": "ls",\n\n  "arguments": {\n    "path": "."\n  }\n}',
            id="over many lines, one of them blank",
        ),
        pytest.param("ls", "ls", id="a name, the whole reply"),
        pytest.param("I look.\n\n  ls  \n", "ls", id="a name, the last line"),
        pytest.param("I look:\nfs__read-file", "fs__read-file", id="a name below words"),
        pytest.param('ls {"path": "."}', 'ls {"path": "."}', id="a name and an object"),
        pytest.param('So.\nls: {"path": "."}', 'ls: {"path": "."}', id="with a colon"),
        pytest.param("ls()", "ls()", id="empty parentheses"),
        pytest.param('ls(path=".")', 'ls(path=".")', id="a keyword argument"),
        pytest.param('ls({"path": "."})', 'ls({"path": "."})', id="an object in parentheses"),
        pytest.param("fs__read-file('a')", "fs__read-file('a')", id="a quoted argument"),
        pytest.param('So.\nls\n{"path": "."}', 'ls\n{"path": "."}', id="a name, its arguments below"),
        pytest.param('ls\nls {"path": "."}', 'ls {"path": "."}', id="a call below a name"),
    ],
)
def test_what_prints_a_call(text: str, span: str) -> None:
    found = printed(text)
    assert found is not None
    assert (found.kind, found.tier, found.family) == ("printed_call", "certain", "bare_json_offered_tool")
    assert text[found.start : found.end] == found.markup == span
    assert found.tool in ("ls", "fs__read-file")
    assert found.calls[0].name == found.tool


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(f"```json\n{CALL}\n```\nThat is a call.", id="a fence with words behind it"),
        pytest.param(f"{CALL}\n\nThat is a call.", id="an object with words behind it"),
        pytest.param(f"It would be {CALL}", id="an object in a line of words"),
        pytest.param(f"`{CALL}`", id="inline code"),
        pytest.param(f"> {CALL}", id="a quote"),
        pytest.param(f"> ```\n> {CALL}\n> ```", id="a quoted fence"),
        pytest.param(f"```\n# a call\n{CALL}\n```", id="a fence that holds more"),
        pytest.param(f"```\n# a call\n{CALL}", id="one that never closes and holds more"),
        pytest.param(f"```\n{CALL}\n{CALL}\n```", id="two objects in a fence"),
        pytest.param('{"tool": "ls"}', id="a JSON answer that only mentions a tool"),
        pytest.param('{"name": "ls", "arguments": {}, "why": "to look"}', id="one that says more of it"),
        pytest.param('{"name": "ls", "version": "1.0"}', id="a package"),
        pytest.param('{"ls": {"path": "."}}', id="a tool's name as a key"),
        pytest.param('{"name": "cat", "arguments": {}}', id="a tool that was not offered"),
        pytest.param('{"name": "LS", "arguments": {}}', id="another case"),
        pytest.param('{"name": "ls", "arguments": null}', id="no arguments"),
        pytest.param('{"name": "ls", "arguments": "."}', id="arguments that are a word"),
        pytest.param('{"name": ["ls"], "arguments": {}}', id="a list of names"),
        pytest.param('{"name": "ls", "tool": "ls"}', id="two names"),
        pytest.param('{"arguments": {}, "parameters": {}}', id="no name"),
        pytest.param('{"role": "tool", "name": "ls", "arguments": {}}', id="a message of a history"),
        pytest.param('{"name": "ls", "parameters": {"type": "object", "properties": {}}}', id="a definition"),
        pytest.param(f"[{CALL}]", id="an array"),
        pytest.param(CALL[:-1], id="cut JSON"),
        pytest.param(CALL.replace('"', "'"), id="single quotes"),
        pytest.param('{"tool_calls": [], "id": 1}', id="an empty list of calls"),
        pytest.param(f'{{"tool_calls": [{CALL}, {{"name": "cat", "arguments": {{}}}}]}}', id="one of two not offered"),
        pytest.param("ls -la /tmp", id="a command line"),
        pytest.param("Run:\n$ ls", id="a prompt"),
        pytest.param("Use ls.", id="a sentence"),
        pytest.param("- ls", id="an item"),
        pytest.param("`ls`", id="a code span"),
        pytest.param("ls (see above)", id="words in parentheses"),
        pytest.param("ls (it lists)", id="more of them"),
        pytest.param("ls {path}", id="a placeholder"),
        pytest.param('ls(path="."), then cat', id="words behind the parentheses"),
        pytest.param("(limit=3)", id="no name before them"),
        pytest.param("Tools:\nls\nfs__read-file", id="a list of tools"),
        pytest.param("```\nls\n```", id="a fenced command"),
        pytest.param("```\nls", id="in a fence that never closes"),
        pytest.param("ls\n\nThat is the tool.", id="a name with words behind it"),
        pytest.param("{" * 10_000 + "}" * 10_000, id="ten thousand levels"),
        pytest.param('{"name": "ls", "arguments":' + "[" * 10_000 + "]" * 10_000 + "}", id="and as arguments"),
    ],
)
def test_what_stays_ordinary(text: str) -> None:
    assert printed(text) is None


@pytest.mark.parametrize(
    ("change", "tool"),
    [
        pytest.param({}, "ls", id="tools offered, stop, no call"),
        pytest.param({"tools": ()}, None, id="no tools offered"),
        pytest.param({"tools": (), "inferred_names": frozenset({"ls"})}, None, id="none, whatever was inferred"),
        pytest.param({"tools": None}, None, id="tools unknown and nothing inferred"),
        pytest.param({"tools": None, "inferred_names": frozenset({"ls"})}, "ls", id="an inferred name"),
        pytest.param({"calls": (Call("ls", "{}"),)}, None, id="a structured call"),
        pytest.param({"finish_reason": "length"}, None, id="cut"),
        pytest.param({"finish_reason": "tool_calls"}, None, id="tool calls announced"),
        pytest.param({"finish_reason": "STOP"}, None, id="another spelling"),
        pytest.param({"finish_reason": None}, None, id="no finish reason"),
        pytest.param({"content": None, "reasoning": CALL}, None, id="reasoning only"),
    ],
)
def test_the_gates(change: dict[str, Any], tool: str | None) -> None:
    found = printed(CALL, **change)
    assert (found.tool if found else None) == tool


def test_an_inferred_name_costs_a_tier() -> None:
    output = Output(content=CALL, finish_reason="stop", inferred_names=frozenset({"ls"}))
    found = judge(GOAT_PRINTED, output)
    assert found is not None
    assert (found.tier, "a tool that the run has called" in found.reason) == ("likely", True)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        pytest.param(CALL, (Call("ls", '{"path": "."}'),), id="name, arguments"),
        pytest.param('{"name": "ls", "arguments": {}}', (Call("ls", "{}"),), id="empty arguments"),
        pytest.param('{"tool": "ls", "args": {"a": "é"}}', (Call("ls", '{"a": "é"}'),), id="tool, args"),
        pytest.param('{"tool_name": "ls", "parameters": {}}', (Call("ls", "{}"),), id="tool_name, parameters"),
        pytest.param('{"function": "ls", "arguments": {}}', (Call("ls", "{}"),), id="function, arguments"),
        pytest.param('{"input": {"a": 1}, "name": "ls"}', (Call("ls", '{"a": 1}'),), id="input, before the name"),
        pytest.param(
            '{"id": "c1", "type": "function", "name": "ls", "arguments": {}}', (Call("ls", "{}"),), id="an id"
        ),
        pytest.param('{"name": "ls", "arguments": "{\\"a\\": 1}"}', (Call("ls", '{"a": 1}'),), id="arguments as text"),
        pytest.param(
            f'{{"type": "function", "function": {CALL}}}', (Call("ls", '{"path": "."}'),), id="function object"
        ),
        pytest.param(f'{{"tool_call": {CALL}}}', (Call("ls", '{"path": "."}'),), id="tool_call"),
        pytest.param(
            f'{{"tool_calls": [{{"id": "1", "function": {CALL}}}, {CALL}]}}',
            (Call("ls", '{"path": "."}'),) * 2,
            id="two tool_calls",
        ),
        pytest.param("ls", (Call("ls"),), id="a name alone"),
        pytest.param("ls()", (Call("ls"),), id="empty parentheses"),
        pytest.param('ls(path=".")', (Call("ls", 'path="."'),), id="the text in parentheses"),
        pytest.param('ls {"path": "."}', (Call("ls", '{"path": "."}'),), id="the object behind a name"),
        pytest.param('ls\n{"path": "."}', (Call("ls", '{"path": "."}'),), id="the object below it"),
    ],
)
def test_the_calls_that_are_printed(text: str, calls: tuple[Call, ...]) -> None:
    found = printed(text)
    assert found is not None
    assert found.calls == calls


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("a.*[b]+(c)?{d}", id="regex characters"),
        pytest.param("données_読む😀", id="Unicode"),
        pytest.param("a\0b", id="a NUL"),
        pytest.param("a\ud800", id="a lone surrogate"),
        pytest.param("two words", id="a blank in it"),
    ],
)
def test_names_are_taken_as_they_are(name: str) -> None:
    tools = (OfferedTool(name), *(OfferedTool(f"tool{at}") for at in range(5_000)))
    for text in (name, f"So:\n\n{name}", json.dumps({"name": name, "arguments": {}})):
        found = printed(text, tools=tools)
        assert found is not None
        assert found.tool == name
        assert printed(text, tools=tools[1:]) is None


@given(
    text=st.lists(st.sampled_from(["ls", "é", "\\u00e9", '{"name": "', '", "arguments": {}}', "\n", "()", "x"])).map(
        "".join
    )
)
def test_a_finding_holds_a_trigger_or_an_offered_name(text: str) -> None:
    if printed(text, tools=(OfferedTool("ls"), OfferedTool("é"))):
        assert any(each in text for each in (*GOAT_PRINTED.triggers, "ls", "é"))


def test_an_escaped_name_is_found_by_its_brace() -> None:
    found = printed('{"name": "\\u00e9", "arguments": {}}', tools=(OfferedTool("é"),))
    assert found is not None
    assert found.tool == "é"


def test_a_tool_without_a_name_is_never_called() -> None:
    for text in ("", "\n", "(a=1)", "\n\n{}", '\n{"a": 1}'):
        assert printed(text, tools=(OfferedTool(""),)) is None


@given(
    value=st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner), max_leaves=8
    )
)
def test_json_that_names_no_tool_is_no_call(value: object) -> None:
    assert calls_in(value, {"ls no value holds"}) == ()


@given(
    before=st.sampled_from(["", "Words.\n", "Words.\n\n", "- a\n- b\n\n", "```\nx\n```\n", "é\n\r\n"]),
    arguments=st.dictionaries(st.text(), st.integers() | st.text()),
    fenced=st.booleans(),
    indent=st.sampled_from([None, 2]),
)
def test_a_call_is_found_whatever_stands_before_it(
    before: str, arguments: dict[str, Any], fenced: bool, indent: int | None
) -> None:
    call = json.dumps({"name": "ls", "arguments": arguments}, indent=indent)
    block = f"```json\n{call}\n```" if fenced else call
    found = printed(f"{before}{block}\n")
    assert found is not None
    assert found.start == len(before)
    assert found.markup == block[:200]
    assert [json.loads(each.arguments or "") for each in found.calls] == [arguments]
    assert printed(f"{before}{block}\n\nSo it looks.") is None
