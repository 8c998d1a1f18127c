"""Values come out as they were meant: lines, markup within, entities, nested JSON; and what a cut call still tells."""

from typing import Any

import pytest

from analysis.grammars import readings

NAMES = frozenset({"write", "run"})
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch"
HEREDOC = "cat > a.sh <<'EOF'\n#!/bin/sh\necho \"$1\" | sed 's/<a>/&/'\nEOF"
INNER = "<tool_call>\n<function=run>\n<parameter=cmd>\nls\n</parameter>\n</function>\n</tool_call>"


def qwen(value: str) -> str:
    return f"<tool_call>\n<function=write>\n<parameter=text>\n{value}\n</parameter>\n</function>\n</tool_call>"


def invoke(value: str) -> str:
    call = f'<invoke name="write">\n<parameter name="text">{value}</parameter>\n</invoke>'
    return f"<function_calls>\n{call}\n</function_calls>"


def glm(value: str) -> str:
    return f"<tool_call>write\n<arg_key>text</arg_key>\n<arg_value>{value}</arg_value>\n</tool_call>"


def client(value: str) -> str:
    return f"<write>\n<text>\n{value}\n</text>\n</write>"


FRAMES = [pytest.param(each, id=each.__name__) for each in (qwen, invoke, glm, client)]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    "value",
    [
        pytest.param("a\n\n\n  b\tc", id="blank lines and indents"),
        pytest.param(PATCH, id="a patch"),
        pytest.param(HEREDOC, id="a here-document"),
        pytest.param("<html>\n<body><p>x</p></body>\n</html>", id="HTML"),
        pytest.param("a | ｜ ‖ ▁ _ é 日本語 \U0001f600", id="signs that are folded in tokens"),
        pytest.param('{"a": [1, {"b": null}]}', id="JSON"),
        pytest.param("if (a < b && c > d) return;", id="code with signs of markup"),
    ],
)
def test_a_value_is_taken_as_it_stands(frame: Any, value: str) -> None:
    [reading] = readings(frame(value), NAMES)
    assert [(call.name, call.arguments) for call in reading.calls] == [("write", {"text": value})]
    assert (reading.start, reading.end, reading.damage) == (0, len(frame(value)), frozenset())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(
            qwen(f"# Calls\n\n{INNER}\n\nThat is one."), f"# Calls\n\n{INNER}\n\nThat is one.", id="a whole call"
        ),
        pytest.param(qwen("It ends with </parameter> as said."), "It ends with </parameter> as said.", id="a closer"),
        pytest.param(invoke(f"see:\n{invoke('x')}\nend"), f"see:\n{invoke('x')}\nend", id="an element in an element"),
        pytest.param(glm(f"see:\n{glm('x')}\nend"), f"see:\n{glm('x')}\nend", id="pairs in a value"),
        pytest.param(
            glm("it ends with </tool_call> there"), "it ends with </tool_call> there", id="a wrapper's closer"
        ),
        pytest.param(client("a <text>b</text> c"), "a <text>b</text> c", id="its own tag"),
        pytest.param(
            '<tool_call>\n{"name": "write", "arguments": {"text": "ends with </tool_call> so"}}\n</tool_call>',
            "ends with </tool_call> so",
            id="a closer in a JSON string",
        ),
        pytest.param(
            '{"name": "write", "arguments": {"text": "<tool_call>\\n{}\\n</tool_call>"}}',
            "<tool_call>\n{}\n</tool_call>",
            id="a call in a JSON string",
        ),
    ],
)
def test_a_value_may_hold_markup(text: str, value: str) -> None:
    [reading] = readings(text, NAMES)
    assert [(call.name, call.arguments) for call in reading.calls] == [("write", {"text": value})]
    assert reading.end == len(text)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        pytest.param(invoke("a &lt; b &amp; c"), {"text": "a < b & c"}, id="entities"),
        pytest.param(invoke("<![CDATA[1 < 2 </parameter>]]>"), {"text": "1 < 2 </parameter>"}, id="CDATA"),
        pytest.param(qwen("a").replace("\n", "\r\n"), {"text": "a"}, id="carriage returns"),
        pytest.param('write{"text": "a\\u00e9\\n"}', {"text": "aé\n"}, id="JSON escapes"),
        pytest.param(
            "[write(text='a\\nb', n=-1.5, ok=True, none=null, l=[1, 'x'], d={'k': (1, 2)})]",
            {"text": "a\nb", "n": -1.5, "ok": True, "none": None, "l": [1, "x"], "d": {"k": [1, 2]}},
            id="Python",
        ),
        pytest.param('write(text="""two\nlines""")', {"text": "two\nlines"}, id="triple quotes"),
        pytest.param('write(text="two\nlines")', {"text": "two\nlines"}, id="a line end in a string"),
        pytest.param(
            '<|tool_call>call:write{text:<|"|>a, {b}: "c"<|"|>,n:3,ok:true,l:[1,<|"|>x<|"|>]}<tool_call|>',
            {"text": 'a, {b}: "c"', "n": 3, "ok": True, "l": [1, "x"]},
            id="Gemma's quotes",
        ),
        pytest.param(
            "{'name': 'write', 'arguments': {'text': \"it's\", 'n': None}}",
            {"text": "it's", "n": None},
            id="single quotes",
        ),
        pytest.param(
            '{"name": "write", "arguments": {"text": "a" "n": 1}}', {"text": "a", "n": 1}, id="a missing comma"
        ),
        pytest.param('{"name": "write", "arguments": {text: "a", n: 1,}}', {"text": "a", "n": 1}, id="bare keys"),
    ],
)
def test_a_value_is_undone_of_its_quotation(text: str, arguments: dict[str, Any]) -> None:
    [reading] = readings(text, NAMES)
    assert [(call.name, call.arguments) for call in reading.calls] == [("write", arguments)]


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        pytest.param('<tool_call>{"name": "write", "arguments": {"a": 1, "b": "x', {"a": 1}, id="Hermes"),
        pytest.param(
            '<tool_call>{"name": "write", "arguments": {"a": {"c": [1]}, "n": 12', {"a": {"c": [1]}}, id="a number"
        ),
        pytest.param("<function=write>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\nx", {"a": "1"}, id="Qwen"),
        pytest.param(
            "<tool_call>write<arg_key>a</arg_key><arg_value>1</arg_value><arg_key>b</arg_key><arg_value>x",
            {"a": "1"},
            id="GLM",
        ),
        pytest.param('<|tool_call>call:write{a:1,b:<|"|>x', {"a": 1}, id="Gemma"),
        pytest.param("[write(a=1, b='x", {"a": 1}, id="Python"),
        pytest.param('functions.write:0{"a": 1, "b": "x', {"a": 1}, id="Kimi"),
        pytest.param('<|channel|>commentary to=functions.write <|message|>{"a": 1, "b": "x', {"a": 1}, id="gpt-oss"),
        pytest.param("<write><a>1</a><b>x", {"a": "1"}, id="a client's tag"),
        pytest.param('<function=write>{"a": 1, "b": "x', {"a": 1}, id="JSON in a function"),
    ],
)
def test_a_cut_call_tells_what_closed(text: str, closed: dict[str, Any]) -> None:
    [reading] = readings(text, NAMES)
    assert "cut" in reading.damage
    assert [(call.name, call.arguments, call.closed) for call in reading.calls] == [("write", None, closed)]


def test_calls_keep_their_order() -> None:
    text = "\n".join(qwen(str(number)) for number in range(20))
    found = [call.arguments for reading in readings(text, NAMES) for call in reading.calls]
    assert found == [{"text": str(number)} for number in range(20)]


@pytest.mark.parametrize("name", ["a.b", "x+y*", "(?:z)", "日本", "$0", "mcp__a__b", "a-b", "ns:tool"])
def test_any_name_may_be_offered(name: str) -> None:
    text = f'{{"name": "{name}", "arguments": {{}}}}'
    assert [call.name for reading in readings(text, frozenset({name})) for call in reading.calls] == [name]
