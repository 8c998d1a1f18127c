"""Hostile outputs for foundry, goat-printed and salvage: an answer, in time that grows with the text and no faster."""

from collections.abc import Callable
from typing import Any

import pytest

from analysis.detectors import Detector
from analysis.detectors.foundry import FOUNDRY
from analysis.detectors.goat_printed import GOAT_PRINTED
from analysis.detectors.salvage import SALVAGE
from analysis.output import OfferedTool, Output
from tests.timing import cpu_seconds, takes_less

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "l": {"type": "array"}}}
TOOLS = (OfferedTool("ls", SCHEMA), OfferedTool("odd", {"type": "obect"}))
HEAD = "<tool_call>\n<function=ls>\n"
CALL = f"{HEAD}</function>\n</tool_call>"
PRINTED = '{"name": "ls", "arguments": {}}'

every_detector = pytest.mark.parametrize("each", [pytest.param(d, id=d.id) for d in (FOUNDRY, GOAT_PRINTED, SALVAGE)])


def repeated(piece: str, last: str = "") -> Callable[[int], str]:
    return lambda size: piece * (size // len(piece)) + last


HOSTILE = [
    pytest.param(repeated("<tool_call>"), id="openers"),
    pytest.param(repeated(HEAD), id="heads, never closed"),
    pytest.param(repeated(f"{HEAD}<parameter=a>\n"), id="parameters, never closed"),
    pytest.param(repeated(f"{HEAD}<parameter=a>\n", "\n</parameter>\n"), id="parameters, one closer at the very end"),
    pytest.param(repeated(f"{HEAD}</tool_call>\n"), id="broken calls, one batch"),
    pytest.param(repeated(f"{HEAD}</tool_call>\n.", HEAD), id="broken calls, apart"),
    pytest.param(repeated(f"{CALL}\n"), id="valid calls, one batch"),
    pytest.param(repeated(f"{CALL}."), id="valid calls, apart"),
    pytest.param(repeated(f"{CALL.replace('ls', 'odd')}."), id="calls of a tool whose schema is none, apart"),
    pytest.param(repeated(f"{CALL.replace('ls', 'no')}."), id="calls of no tool, apart"),
    pytest.param(repeated(f"{HEAD}<parameter=a>\n</tool_call>."), id="values that may go on behind the closer"),
    pytest.param(repeated("</tool_call> \n", HEAD), id="closers before an opener"),
    pytest.param(lambda size: "<tool_call>" + " \n" * (size // 2), id="an opener and blanks"),
    pytest.param(lambda size: f"{HEAD}<parameter={'a' * size}", id="a key without an end"),
    pytest.param(
        lambda size: f"{HEAD}<parameter=a>\n{'x' * size}\n</parameter>\n</function>\n</tool_call>", id="a value"
    ),
    pytest.param(
        lambda size: f"{HEAD}<parameter=l>\n{'[' * size}\n</parameter>\n</function>\n</tool_call>", id="brackets"
    ),
    pytest.param(repeated("<function="), id="functions without an end"),
    pytest.param(repeated("</parameter>"), id="closers"),
    pytest.param(repeated("`</function>`"), id="closers in code spans"),
    pytest.param(repeated("<function=x\n"), id="functions that a line ending breaks"),
    pytest.param(repeated("{"), id="braces that open"),
    pytest.param(repeated("\n{", "}"), id="braces that open lines"),
    pytest.param(lambda size: '{"a":' * (size // 6) + "1" + "}" * (size // 6), id="objects in objects"),
    pytest.param(repeated("{}"), id="empty objects in one line"),
    pytest.param(repeated(PRINTED), id="calls in one line"),
    pytest.param(repeated(f"{PRINTED}\n"), id="calls, a line each"),
    pytest.param(lambda size: PRINTED * (size // 62) + "\n" + PRINTED * (size // 62), id="calls in two lines"),
    pytest.param(repeated(f"```\n{PRINTED}\n```\n"), id="calls in fences"),
    pytest.param(repeated("ls\n"), id="names"),
    pytest.param(repeated("ls(", ")"), id="names that open parentheses"),
    pytest.param(lambda size: f'ls(a="{"x" * size}', id="a quote that never ends"),
    pytest.param(lambda size: '"\\' * (size // 2) + "}", id="quotes and escapes"),
    pytest.param(lambda size: f"ls {{{'[],' * (size // 3)}}}", id="a line of brackets"),
    pytest.param(repeated(" "), id="blanks"),
    pytest.param(repeated("\ud800\0"), id="lone surrogates and NULs"),
]


def seconds(each: Detector, text: str) -> float:
    """CPU seconds of one answer, the Markdown scan included."""
    return cpu_seconds(answer(each, text))


def answer(each: Detector, text: str) -> Callable[[], object]:
    """One answer, from an output that nobody has looked at."""
    return lambda: each.find(Output(content=text, tools=TOOLS, finish_reason="stop"))


@every_detector
@pytest.mark.parametrize("text", HOSTILE)
def test_a_megabyte_takes_less_than_a_second(each: Detector, text: Callable[[int], str]) -> None:
    assert takes_less(1, answer(each, text(1_000_000)))


@every_detector
@pytest.mark.parametrize("text", HOSTILE)
def test_four_times_the_text_takes_less_than_eight_times_as_long(each: Detector, text: Callable[[int], str]) -> None:
    small, large = text(50_000), text(200_000)
    once = min(seconds(each, small) for _ in range(3))
    # Below a millisecond it is the schemas' compilation that is measured, not the text.
    assert min(seconds(each, large) for _ in range(3)) < 8 * max(once, 1e-3)


@every_detector
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 10_000_000, id="no call"),
        pytest.param("word " * 2_000_000 + HEAD, id="a cut call at its end"),
        pytest.param(HEAD + "word " * 2_000_000, id="a cut call at its start"),
        pytest.param('{"a": "' + "x" * 10_000_000 + '"}', id="one JSON answer"),
    ],
)
def test_ten_megabytes_are_answered(each: Detector, text: str) -> None:
    assert takes_less(5, answer(each, text))


@every_detector
def test_five_thousand_tools_of_any_name_and_schema_are_offered(each: Detector) -> None:
    schemas: tuple[dict[str, Any] | None, ...] = (
        {"type": "obect"},
        {"$ref": "#"},
        {"$ref": "https://example.test"},
        {"properties": []},
        None,
    )
    tools = tuple(OfferedTool(f"t.*({at})é\ud800\0", schemas[at % len(schemas)]) for at in range(5_000))
    for at in range(len(schemas)):
        name = tools[at].name
        text = f"<tool_call>\n<function={name}>\n<x>\n</function>\n</tool_call>\n\n{name}"
        found = each.find(Output(content=text, tools=tools, finish_reason="stop"))
        assert found is not None
        assert found.tool == name
        assert found.leak == (each is not FOUNDRY)
