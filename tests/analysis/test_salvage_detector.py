"""The line beside the salvage of cut calls, in both directions: with tools offered, any tag left outside code."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.call_tags import LITERALS, tags_outside
from analysis.detectors import Finding, judge
from analysis.detectors.salvage import SALVAGE
from analysis.markdown import code_regions
from analysis.output import Call, OfferedTool, Output
from tests.analysis.test_detectors import OUTPUTS

TOOLS = (OfferedTool("ls"),)


def salvage(text: str, **change: Any) -> Finding | None:
    return SALVAGE.find(replace(Output(content=text, tools=TOOLS), **change))


@pytest.mark.parametrize(
    ("tag", "counts"),
    [
        pytest.param("<tool_call>", True, id="the envelope"),
        pytest.param("</tool_call>", True, id="its closer alone"),
        pytest.param("<function=ls>", True, id="a function"),
        pytest.param("<function=rm>", True, id="one that was not offered"),
        pytest.param("</function>", True, id="its closer alone"),
        pytest.param("<parameter=path>", True, id="a parameter"),
        pytest.param("</parameter>", True, id="its closer alone"),
        pytest.param("<function=ls", True, id="a tag that the end cuts"),
        pytest.param("<parameter=", True, id="one that it cuts before the name"),
        pytest.param("<function=ls\n", False, id="a tag that a line ending breaks"),
        pytest.param("<function=a<b>", False, id="a tag in a tag"),
        pytest.param("<tool_call", False, id="an envelope without its bracket"),
        pytest.param("</function", False, id="a closer without its bracket"),
        pytest.param("<tool_calls>", False, id="another envelope"),
        pytest.param("</tool_calls>", False, id="and its closer"),
        pytest.param("<function>", False, id="no name"),
        pytest.param('<function name="ls">', False, id="an attribute"),
        pytest.param('<parameter name="path">', False, id="another family's parameter"),
        pytest.param("<functional>", False, id="a header of C++"),
        pytest.param("< /function>", False, id="a blank in it"),
        pytest.param("</Function>", False, id="another case"),
        pytest.param("[TOOL_CALLS]", False, id="another family"),
    ],
)
def test_the_tags_that_count(tag: str, counts: bool) -> None:
    found = salvage(f"Text {tag}")
    assert (found is not None) == counts
    if found is not None:
        assert found.markup == tag


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        pytest.param("`</function>`", False, id="a code span"),
        pytest.param("``</function> ` ``", False, id="a longer one"),
        pytest.param("`</function>", True, id="a backtick that never pairs"),
        pytest.param("`a` </function> `b`", True, id="between two spans"),
        pytest.param("```\n</function>\n```", False, id="a fence"),
        pytest.param("~~~\n</function>", False, id="a fence that never closes"),
        pytest.param("```\na\n```\n</function>", True, id="behind a fence"),
        pytest.param("> ```\n> a\n</function>", True, id="behind a fence that ends with its quote"),
        pytest.param("Text\n\n    </function>", True, id="indented code excuses nothing"),
        pytest.param("> </function>", True, id="nor does a quote"),
    ],
)
def test_code_is_stripped_first(text: str, counts: bool) -> None:
    assert (salvage(text) is not None) == counts


@pytest.mark.parametrize(
    ("change", "tier"),
    [
        pytest.param({}, "certain", id="tools offered"),
        pytest.param({"tools": ()}, None, id="no tools offered"),
        pytest.param({"tools": (), "inferred_names": frozenset({"ls"})}, None, id="none, whatever was inferred"),
        pytest.param({"tools": None}, "likely", id="tools unknown: a tier less"),
        pytest.param({"calls": (Call("ls", "{}"),)}, "certain", id="a structured call changes nothing"),
        pytest.param({"finish_reason": "length"}, "certain", id="nor does the finish reason"),
        pytest.param({"call_mode": "text"}, "possible", id="calls are text by design"),
        pytest.param({"content": None, "reasoning": "</function>"}, None, id="reasoning only"),
    ],
)
def test_the_gates(change: dict[str, Any], tier: str | None) -> None:
    output = replace(Output(content="Done. </function>", tools=TOOLS), **change)
    found = judge(SALVAGE, output)
    assert (found.tier if found else None) == tier


WHOLE = "<tool_call>\n<function=ls>\n<parameter=path>\n.\n</parameter>\n</function>\n</tool_call>"
JSON = '<tool_call>\n{"name": "ls", "arguments": {"path": "."}}\n</tool_call>'
CUT = "<function=ls><parameter=path>.</parameter><parameter=mode>lo"


@pytest.mark.parametrize(
    ("text", "span", "kind", "tool"),
    [
        pytest.param(f"So: {WHOLE} end", WHOLE, "leaked_call", "ls", id="a whole call"),
        pytest.param(f"{WHOLE}\n{WHOLE}", WHOLE, "leaked_call", "ls", id="two: the first"),
        pytest.param(JSON, JSON, "leaked_call", "ls", id="a JSON call"),
        pytest.param(f"{JSON} so {WHOLE}", JSON, "leaked_call", "ls", id="a JSON call, then another"),
        pytest.param(
            "<tool_call>x</tool_call> y", "<tool_call>x</tool_call>", "leaked_call", None, id="anything in it"
        ),
        pytest.param(f"{CUT} \n", CUT, "truncated_call", "ls", id="cut in a value"),
        pytest.param("<tool_call>\n", "<tool_call>", "truncated_call", None, id="cut behind the opener"),
        pytest.param(JSON[:39], JSON[:39], "truncated_call", "ls", id="cut JSON"),
        pytest.param("<function=l", "<function=l", "truncated_call", "l", id="cut in a name"),
        pytest.param(
            "<function=ls><parameter=a>b</parameter>",
            "<function=ls><parameter=a>b</parameter>",
            "truncated_call",
            "ls",
            id="only a parameter is closed",
        ),
        pytest.param(
            WHOLE.removeprefix("<tool_call>\n"),
            WHOLE.removeprefix("<tool_call>\n"),
            "malformed_call",
            "ls",
            id="no opener",
        ),
        pytest.param(
            WHOLE.removesuffix("\n</tool_call>") + " end",
            WHOLE.removesuffix("\n</tool_call>"),
            "malformed_call",
            "ls",
            id="no end of the envelope",
        ),
        pytest.param(
            WHOLE.replace("\n</function>", ""),
            WHOLE.replace("\n</function>", ""),
            "malformed_call",
            "ls",
            id="no end of it",
        ),
        pytest.param(
            WHOLE.replace("\n</parameter>", ""),
            WHOLE.replace("\n</parameter>", ""),
            "malformed_call",
            "ls",
            id="a parameter",
        ),
        pytest.param(
            "<parameter=a>b</function> c", "<parameter=a>b</function>", "malformed_call", None, id="no function"
        ),
        pytest.param(
            "</parameter>\n</function>", "</parameter>\n</function>", "orphan_markup", None, id="closers only"
        ),
        pytest.param("a </function> b </tool_call> c", "</function> b </tool_call>", "orphan_markup", None, id="apart"),
        pytest.param(f"</function> a {CUT}", CUT, "truncated_call", "ls", id="a closer before a call does not count"),
        pytest.param(f"`<tool_call>` {CUT}", CUT, "truncated_call", "ls", id="nor does a quoted opener"),
        pytest.param(
            "<tool_call>\n```\n</tool_call>\n```\nend",
            "<tool_call>\n```\n</tool_call>\n```\nend",
            "truncated_call",
            None,
            id="closers in code do not close",
        ),
    ],
)
def test_the_span_the_kind_and_the_tool(text: str, span: str, kind: str, tool: str | None) -> None:
    found = salvage(text)
    assert found is not None
    assert (text[found.start : found.end], found.kind, found.tool) == (span, kind, tool)
    assert found.markup == span[:200]


@pytest.mark.parametrize(
    ("text", "family"),
    [
        pytest.param(WHOLE, "qwen3_coder_xml", id="a function"),
        pytest.param(JSON, "hermes_json", id="a JSON body"),
        pytest.param("<tool_call>ls</tool_call>", None, id="a body of another family"),
        pytest.param("</tool_call>", None, id="closers only"),
    ],
)
def test_the_family_is_what_the_body_tells(text: str, family: str | None) -> None:
    found = salvage(text)
    assert found is not None
    assert found.family == family


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("a.*[b]+(c)?{d}", id="regex characters"),
        pytest.param("données_読む😀", id="Unicode"),
        pytest.param("a\0b", id="a NUL"),
        pytest.param("a\ud800", id="a lone surrogate"),
    ],
)
def test_names_are_taken_as_they_are(name: str) -> None:
    found = salvage(f"<function={name}></function>")
    assert found is not None
    assert found.tool == name


@given(output=OUTPUTS)
def test_there_is_a_finding_exactly_where_a_tag_stands_outside_code(output: Output) -> None:
    text = output.content or ""
    tags = tags_outside(text, code_regions(text))
    assert (SALVAGE.find(output) is not None) == (output.may_have_tools and bool(tags))


@given(text=st.lists(st.sampled_from([*LITERALS, "ls>", ">", "`", "\n", "a"]), max_size=20).map("".join))
def test_tags_are_disjoint_in_order_and_begin_with_a_literal(text: str) -> None:
    end = 0
    for tag in tags_outside(text, ()):
        assert end <= tag.start < tag.end <= len(text)
        assert text.startswith(LITERALS, tag.start)
        end = tag.end
