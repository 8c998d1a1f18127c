"""What the salvager takes from leaked calls: names and arguments that the text shows closed, and nothing else."""

import json
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.output import OfferedTool, Output
from analysis.salvage import Salvaged, salvage
from data.accuracy import Row, rows

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
GREP = OfferedTool(
    "grep",
    {
        "type": "object",
        "properties": {"pattern": STRING, "path": STRING, "limit": INTEGER},
        "required": ["pattern"],
    },
)
HEAD = "<tool_call>\n<function=grep>\n"


def parameter(key: str, value: str) -> str:
    return f"<parameter={key}>\n{value}\n</parameter>\n"


def taken(text: str, *tools: OfferedTool) -> tuple[Salvaged, ...]:
    return salvage(Output(content=text, tools=tools or (GREP,)))


@pytest.mark.parametrize(
    ("text", "arguments", "whole"),
    [
        pytest.param(
            f"{HEAD}{parameter('pattern', 'TODO')}<parameter=path>\nsrc/ma",
            {"pattern": "TODO"},
            False,
            id="a trailing parameter that the text breaks off in is dropped",
        ),
        pytest.param(
            f"{HEAD}{parameter('pattern', 'TODO')}<parameter=pa", {"pattern": "TODO"}, False, id="cut in an opening tag"
        ),
        pytest.param(
            f"{HEAD}{parameter('pattern', 'TODO')}</func", {"pattern": "TODO"}, False, id="cut in a closing tag"
        ),
        pytest.param(
            f"{HEAD}{parameter('pattern', 'TODO')}", {"pattern": "TODO"}, False, id="more parameters may have followed"
        ),
        pytest.param(
            f"{HEAD}{parameter('pattern', 'TODO')}</function>\n</tool_call>",
            {"pattern": "TODO"},
            True,
            id="a whole call",
        ),
        pytest.param(f"{HEAD}<parameter=pattern>\nTO", {}, False, id="nothing closed: the name alone"),
        pytest.param(
            HEAD + '<parameter=pattern>\n{"arguments": {"path": "src", "limit": 3',
            {},
            False,
            id="JSON within an open parameter is not the arguments",
        ),
        pytest.param(
            f"{HEAD}{parameter('pattern', 'TODO')}{parameter('limit', '3')}<parameter=path>\nsr",
            {"pattern": "TODO", "limit": 3},
            False,
            id="raw text is read as the schema types it",
        ),
        pytest.param(
            '<tool_call>\n{"name": "grep", "arguments": {"pattern": "TODO", "path": "src/ma',
            {"pattern": "TODO"},
            False,
            id="JSON: a member that the text breaks off in is dropped",
        ),
        pytest.param(
            '<tool_call>\n{"name": "grep", "arguments": {"pattern": "TODO", "limit": 1',
            {"pattern": "TODO"},
            False,
            id="JSON: a number may go on behind the cut",
        ),
        pytest.param(
            '<tool_call>\n{"name": "grep", "arguments": {"pattern": "TODO", "limit": 1, "pa',
            {"pattern": "TODO", "limit": 1},
            False,
            id="JSON: a comma closes a number",
        ),
        pytest.param(
            '<tool_call>\n{"name": "grep", "arguments": {"pattern": "TODO", "path": null',
            {"pattern": "TODO"},
            False,
            id="JSON: nor is a word at the cut taken",
        ),
        pytest.param(
            '<tool_call>\n{"name": "grep", "arguments": {"pattern": "TODO"',
            {"pattern": "TODO"},
            False,
            id="JSON: a closed string needs no comma",
        ),
        pytest.param(
            r'<tool_call>{"name": "grep", "arguments": {"pattern": "say \"arguments\": {\"path\": 1}", "path": "a\"',
            {"pattern": 'say "arguments": {"path": 1}'},
            False,
            id="JSON: escaped quotes close nothing, and markup in a string opens nothing",
        ),
        pytest.param(
            '[TOOL_CALLS]grep[ARGS]{"pattern": "TODO", "path": "sr', {"pattern": "TODO"}, False, id="a name before JSON"
        ),
        pytest.param(
            '[TOOL_CALLS]grep[ARGS]{"pattern": "x", "args": {"path": "src"}, "limit": 2',
            {"pattern": "x", "args": {"path": "src"}},
            False,
            id="a name before JSON: a member called args is one argument",
        ),
        pytest.param(
            "[grep(pattern='a, b', limit=3, path='sr",
            {"pattern": "a, b", "limit": 3},
            False,
            id="Python: keywords that a comma closed",
        ),
        pytest.param("[grep(pattern='TODO', limit=1", {"pattern": "TODO"}, False, id="Python: a number may go on"),
        pytest.param(
            '<|tool_call>call:grep{pattern:<|"|>a, b<|"|>,path:<|"|>sr',
            {"pattern": "a, b"},
            False,
            id="Gemma: pairs that a comma closed",
        ),
        pytest.param(
            "<tool_call>grep<arg_key>pattern</arg_key><arg_value>TODO</arg_value><arg_key>path</arg_key><arg_value>s",
            {"pattern": "TODO"},
            False,
            id="GLM: pairs that closed",
        ),
    ],
)
def test_arguments_that_closed_are_taken(text: str, arguments: dict[str, Any], whole: bool) -> None:
    [call] = taken(text)
    assert (call.name, call.arguments, call.whole) == ("grep", arguments, whole)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            f"<tool_call>\n<function=rm>\n{parameter('path', '/')}</function>\n</tool_call>", id="another tool"
        ),
        pytest.param('<tool_call>\n{"name": "gre', id="a name in quotes that the text breaks off in"),
        pytest.param("<tool_call>grep", id="a name at the end of the text may go on"),
        pytest.param(
            f"It reads:\n```\n{HEAD}{parameter('pattern', 'TODO')}</function>\n</tool_call>\n```\n", id="a fence"
        ),
        pytest.param("I would call `<tool_call>grep</tool_call>` for that.", id="a code span"),
        pytest.param("grep is a fine tool.", id="prose"),
        pytest.param("", id="nothing"),
    ],
)
def test_nothing_is_taken(text: str) -> None:
    assert taken(text) == ()


def test_calls_of_unknown_tools_are_dropped_and_the_others_stay_in_order() -> None:
    calls = "".join(
        f'<tool_call>\n{{"name": "{name}", "arguments": {{}}}}\n</tool_call>\n' for name in ("ls", "rm", "pwd")
    )
    assert [each.name for each in taken(calls, OfferedTool("pwd"), OfferedTool("ls"))] == ["ls", "pwd"]


def test_a_call_before_the_cut_one_does_not_borrow_its_arguments() -> None:
    text = '<tool_calls>[{"name": "ls"}, {"name": "grep", "arguments": {"pattern": "a", "path": "b'
    calls = {each.name: each.arguments for each in taken(text, GREP, OfferedTool("ls"))}
    assert calls["ls"] == {}
    assert calls["grep"] == {"pattern": "a"}


@pytest.mark.parametrize("tools", [pytest.param(None, id="unknown"), pytest.param((), id="known to be none")])
def test_without_known_tools_nothing_is_salvaged(tools: tuple[OfferedTool, ...] | None) -> None:
    assert salvage(Output(content=f"{HEAD}{parameter('pattern', 'TODO')}</function>", tools=tools)) == ()


def test_of_two_tools_with_one_name_the_first_counts() -> None:
    text = f"{HEAD}{parameter('pattern', '1')}</function>\n</tool_call>"
    second = OfferedTool("grep", {"type": "object", "properties": {"pattern": INTEGER}})
    [call] = taken(text, GREP, second)
    assert (call.arguments, call.problem) == ({"pattern": "1"}, None)


@pytest.mark.parametrize(
    ("schema", "body", "problem"),
    [
        pytest.param(GREP.parameters, parameter("pattern", "TODO"), None, id="it fits"),
        pytest.param(
            GREP.parameters, parameter("path", "src"), '"pattern" is a required', id="a required argument is missing"
        ),
        pytest.param(
            GREP.parameters, parameter("pattern", "a") + parameter("limit", "many"), "/limit", id="a wrong type"
        ),
        pytest.param(
            GREP.parameters, parameter("pattern", "a") + parameter("flags", "-r"), "/flags", id="an unknown argument"
        ),
        pytest.param(GREP.parameters, parameter("pattern", "\ud800"), "JSON cannot", id="a lone surrogate"),
        pytest.param(None, parameter("pattern", "a"), None, id="no schema in the source"),
        pytest.param({"type": "strin"}, parameter("pattern", "a"), "schema of grep", id="a schema that is none"),
        pytest.param(
            {"$ref": "http://localhost:9/schema.json"},
            parameter("pattern", "a"),
            "schema of grep",
            id="a remote reference",
        ),
        pytest.param(
            {"$ref": "file:///etc/hostname"}, parameter("pattern", "a"), "schema of grep", id="a reference to a file"
        ),
        pytest.param(
            {"properties": {"pattern": {"$ref": "#/$defs/p"}}, "$defs": {"p": STRING}},
            parameter("pattern", "a"),
            None,
            id="a local reference is followed",
        ),
    ],
)
def test_what_is_taken_is_validated(schema: dict[str, Any] | None, body: str, problem: str | None) -> None:
    [call] = taken(f"{HEAD}{body}</function>\n</tool_call>", OfferedTool("grep", schema))
    assert (call.problem is None) == (problem is None)
    assert (problem or "") in (call.problem or "")


def test_a_missing_argument_of_a_cut_call_is_a_problem_and_never_made_up() -> None:
    [call] = taken(f"{HEAD}{parameter('path', 'src')}<parameter=pattern>\nTO")
    assert call.arguments == {"path": "src"}
    assert call.problem is not None
    assert "pattern" in call.problem


TRUNCATED = [
    pytest.param(row, id=row.id) for row in rows("open") if row.kind == "truncated_call" and row.output.content
]


@pytest.mark.parametrize("row", TRUNCATED)
def test_of_cut_calls_only_what_the_text_shows_closed_is_taken(row: Row) -> None:
    """Label order; a value of the label, or one that stands in the text with something behind it."""
    text = row.output.content or ""
    labelled = dict(row.calls)
    for call in salvage(row.output):
        assert call.name in labelled
        told = labelled[call.name]
        assert told is None or call.arguments.items() <= told.items()
        for value in call.arguments.values():
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            assert shown in text
            assert not text.endswith(shown)


WHOLE = [row for row in rows("open") if row.kind == "leaked_call"]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in WHOLE])
def test_whole_calls_are_taken_as_the_label_tells_them_or_dropped(row: Row) -> None:
    """Of tools that were not offered, and in reasoning, nothing is."""
    offered = [call for call in row.calls if call[0] in row.output.offered_names]
    found = [(call.name, call.arguments) for call in salvage(row.output) if call.whole]
    assert found == (offered if found else [])


@given(at=st.integers(min_value=0), row=st.sampled_from(WHOLE))
def test_a_call_cut_anywhere_never_yields_a_value_that_the_whole_call_has_not(at: int, row: Row) -> None:
    text = row.output.content or ""
    whole = [value for _, arguments in row.calls for value in (arguments or {}).items()]
    cut = Output(content=text[: at % (len(text) + 1)], tools=row.output.tools)
    for call in salvage(cut):
        assert call.name in {name for name, _ in row.calls}
        assert all(item in whole for item in call.arguments.items())


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param('{"name": "grep", "arguments": {"pattern": [', id="JSON calls that open within each other"),
        pytest.param('{"name": "grep", "arguments": {"pattern": "a"}},', id="JSON calls side by side"),
        pytest.param("<function=grep><parameter=pattern>", id="parameters that never close"),
        pytest.param("[grep(pattern='a', ", id="Python calls that never close"),
        pytest.param("call:grep{pattern:", id="pairs that never close"),
        pytest.param('grep[ARGS]{"pattern": "', id="strings that never close"),
    ],
)
def test_four_times_the_false_starts_take_less_than_eight_times_as_long(piece: str) -> None:
    def seconds(text: str) -> float:
        began = process_time()
        taken(text)
        return process_time() - began

    text = "<tool_calls>[" + piece * (25_000 // len(piece))
    assert min(seconds(text + piece * (75_000 // len(piece))) for _ in range(3)) < 8 * max(
        min(seconds(text) for _ in range(3)), 1e-3
    )
