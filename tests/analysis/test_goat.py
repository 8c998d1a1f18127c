"""GOAT's rules in both directions, before and after ADR-0065."""

from dataclasses import replace

import pytest
from hypothesis import given

from analysis.detectors import Finding
from analysis.detectors.goat import GOAT
from analysis.detectors.goat_envelope import GOAT_ENVELOPE
from analysis.output import Call, OfferedTool, Output
from tests.analysis.test_detectors import OUTPUTS

TOOLS = (OfferedTool("ls"), OfferedTool("cat-file"))


def goat(text: str) -> Finding | None:
    return GOAT.find(Output(content=text, tools=TOOLS))


def found_by_goat(text: str) -> Finding:
    found = goat(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "after", "before"),
    [
        pytest.param("<tool_call><function=ls></function></tool_call>", True, True, id="both marks"),
        pytest.param("<tool_call><function=ls></function>", True, True, id="the opening mark alone"),
        pytest.param("<function=ls></function></tool_call>", True, False, id="the closing mark alone"),
        pytest.param("<function=ls></function>", False, False, id="no mark"),
        pytest.param("</tool_call> so <function=ls>", True, False, id="a mark anywhere: a closer before"),
        pytest.param("<function=ls> so <tool_call>", True, True, id="a mark anywhere: an opener after"),
        pytest.param("<tool_calls><function=ls></tool_calls>", False, False, id="another envelope"),
        pytest.param("```\n<tool_call>\n```\n<function=ls>", False, False, id="the opener in a fence"),
        pytest.param("```\n<tool_call>\n```\n<function=ls></tool_call>", True, False, id="only the opener in a fence"),
        pytest.param("```\n<function=ls>\n```\n<tool_call>", False, False, id="the function in a fence"),
        pytest.param("~~~\n<tool_call><function=ls>", False, False, id="all in a fence that never closes"),
        pytest.param("`<tool_call>` `<function=ls>`", True, True, id="inline code protects nothing"),
        pytest.param("Text\n\n    <tool_call><function=ls>", True, True, id="nor does indented code"),
    ],
)
def test_the_envelope_and_the_fence(text: str, after: bool, before: bool) -> None:
    output = Output(content=text, tools=TOOLS)
    assert (GOAT.find(output) is not None) == after
    assert (GOAT_ENVELOPE.find(output) is not None) == before


@pytest.mark.parametrize(
    ("head", "tool"),
    [
        pytest.param("<function=ls>", "ls", id="an offered tool"),
        pytest.param("<function=cat-file>", "cat-file", id="a hyphen in the name"),
        pytest.param("<function=rm>", None, id="an undeclared tool"),
        pytest.param("<function=LS>", None, id="other case"),
        pytest.param("<function= ls>", None, id="a blank before the name"),
        pytest.param("<function=ls >", None, id="a blank after the name"),
        pytest.param("<function=lsof>", None, id="a longer name"),
        pytest.param("<function=ls", None, id="no end"),
        pytest.param('<function="ls">', None, id="quotes"),
        pytest.param("<Function=ls>", None, id="other case of the tag"),
        pytest.param("<function=rm><function=ls><function=cat-file>", "ls", id="the first offered one"),
        pytest.param("\n```\n<function=ls>\n```\n<function=cat-file>", "cat-file", id="outside fences"),
    ],
)
def test_the_name_is_exactly_an_offered_one(head: str, tool: str | None) -> None:
    found = goat(f"<tool_call>{head}")
    assert (found.tool if found else None) == tool


@pytest.mark.parametrize(
    ("change", "leaks"),
    [
        pytest.param({}, True, id="offered and no call"),
        pytest.param({"tools": ()}, False, id="no tools offered"),
        pytest.param({"tools": None}, False, id="tools unknown and nothing inferred"),
        pytest.param({"tools": None, "inferred_names": frozenset({"ls"})}, True, id="an inferred name"),
        pytest.param({"tools": (), "inferred_names": frozenset({"ls"})}, False, id="inferred, but none known"),
        pytest.param({"calls": (Call("cat-file"),)}, False, id="a structured call of any tool"),
        pytest.param({"content": None, "reasoning": "<tool_call><function=ls>"}, False, id="reasoning only"),
        pytest.param({"finish_reason": "length"}, True, id="the finish reason says nothing"),
    ],
)
def test_the_gates(change: dict[str, object], leaks: bool) -> None:
    output = replace(Output(content="<tool_call><function=ls>", tools=TOOLS), **change)  # type: ignore[arg-type]
    assert (GOAT.find(output) is not None) == leaks
    assert (GOAT_ENVELOPE.find(output) is not None) == leaks


WHOLE = "<tool_call>\n<function=ls>\n</function>\n</tool_call>"


@pytest.mark.parametrize(
    ("text", "span", "kind"),
    [
        pytest.param(f"So: {WHOLE} Done.", WHOLE, "leaked_call", id="well formed, words around it"),
        pytest.param(f"{WHOLE}\n{WHOLE}", WHOLE, "leaked_call", id="two calls: the first"),
        pytest.param(
            "<function=ls></function></tool_call>\n<function=ls></function></tool_call>",
            "<function=ls></function></tool_call>",
            "malformed_call",
            id="two calls without openers: the first",
        ),
        pytest.param(
            "<tool_call>\n{}\n<function=ls></function></tool_call>",
            "<function=ls></function></tool_call>",
            "malformed_call",
            id="an opener that does not stand directly before",
        ),
        pytest.param(
            "<tool_call><function=ls></function> end",
            "<tool_call><function=ls></function>",
            "malformed_call",
            id="the envelope is not closed",
        ),
        pytest.param(
            "<tool_call><function=ls></tool_call></function> end",
            "<tool_call><function=ls></tool_call></function>",
            "malformed_call",
            id="closed in the wrong order",
        ),
        pytest.param(
            "<tool_call><function=ls><parameter=a>b</tool_call> end",
            "<tool_call><function=ls><parameter=a>b</tool_call>",
            "truncated_call",
            id="the function is not closed",
        ),
        pytest.param(
            "<tool_call>\n<function=ls>\n<parameter=a>\nb \n\n",
            "<tool_call>\n<function=ls>\n<parameter=a>\nb",
            "truncated_call",
            id="no closer: to the end, without trailing blanks",
        ),
        pytest.param(
            "<tool_call><function=ls><parameter=a><tool_call><function=x></function></parameter>"
            "</function></tool_call> end",
            "<tool_call><function=ls><parameter=a><tool_call><function=x></function></parameter>"
            "</function></tool_call>",
            "leaked_call",
            id="markup in a value belongs to the call",
        ),
        pytest.param(
            "<tool_call><function=ls>\n```\n</function></tool_call>\n```\nend",
            "<tool_call><function=ls>\n```\n</function></tool_call>\n```\nend",
            "truncated_call",
            id="closers in a fence do not close",
        ),
        pytest.param(
            "> ```\n> <tool_call>\n<function=ls></function></tool_call>",
            "<function=ls></function></tool_call>",
            "malformed_call",
            id="the opener directly before stands in a fence",
        ),
        pytest.param(
            "</function></tool_call> <function=ls> end",
            "<function=ls> end",
            "truncated_call",
            id="closers before it do not count",
        ),
    ],
)
def test_the_span_and_the_kind(text: str, span: str, kind: str) -> None:
    found = found_by_goat(text)
    assert (text[found.start : found.end], found.kind) == (span, kind)
    assert found.markup == span
    assert (found.tier, found.family, found.channel, found.calls) == (
        "certain",
        "qwen3_coder_xml",
        "content",
        (),
    )


def test_the_span_is_whole_and_the_markup_is_its_first_two_hundred_code_points() -> None:
    text = f"Then\n<tool_call><function=ls>{'😀' * 500}</function></tool_call>"
    found = found_by_goat(text)
    assert text[found.start : found.end] == text[5:]
    assert found.markup == text[5:205]


def test_the_reason_tells_an_inferred_tool_from_an_offered_one() -> None:
    inferred = GOAT.find(Output(content="<tool_call><function=ls>", inferred_names=frozenset({"ls"})))
    assert inferred is not None
    assert "a tool that the run has called" in inferred.reason
    assert "an offered tool" in found_by_goat("<tool_call><function=ls>").reason


@given(output=OUTPUTS)
def test_a_finding_names_an_offered_tool_outside_fences(output: Output) -> None:
    found = GOAT.find(output)
    if found is not None:
        text = output.content or ""
        assert found.tool in output.offered_names
        head = text.index(f"<function={found.tool}>", found.start)
        fenced = [region for region in output.content_code if region.kind == "fence"]
        assert not any(region.start <= at < region.end for region in fenced for at in (found.start, head))


@given(output=OUTPUTS)
def test_what_the_older_line_finds_the_newer_finds_in_the_same_place(output: Output) -> None:
    older, newer = GOAT_ENVELOPE.find(output), GOAT.find(output)
    if older is not None:
        assert newer is not None
        assert (older.start, older.end, older.kind) == (newer.start, newer.end, newer.kind)
