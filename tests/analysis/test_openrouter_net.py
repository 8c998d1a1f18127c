"""OpenRouter.Net's rules in both directions, and the one rule that the tight variant adds."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.detectors import Finding
from analysis.detectors.openrouter_net import OPENROUTER_NET
from analysis.detectors.openrouter_net_tight import OPENROUTER_NET_TIGHT
from analysis.markers import marker_positions
from analysis.output import Call, OfferedTool, Output
from tests.analysis.test_detectors import OUTPUTS

TOOLS = (OfferedTool("ls"),)
MARKERS = (
    "<tool_call>",
    "<tool_calls>",
    "<|tool_call_begin|>",
    "<|tool_calls_section_begin|>",
    "<\uff5ctool\u2581calls\u2581begin\uff5c>",
    "<\uff5ctool\u2581call\u2581begin\uff5c>",
    "<function=",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "<function_calls>",
    "<invoke name=",
)


PIECES = st.sampled_from(MARKERS) | st.sampled_from(MARKERS).map(lambda marker: marker[:-1]) | st.text(max_size=4)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_markers_are_found_at_every_place_where_one_begins(text: str) -> None:
    assert list(marker_positions(text)) == [at for at in range(len(text)) if text.startswith(MARKERS, at)]


def wide(text: str) -> Finding | None:
    return OPENROUTER_NET.find(Output(content=text, tools=TOOLS))


def tight(text: str) -> Finding | None:
    return OPENROUTER_NET_TIGHT.find(Output(content=text, tools=TOOLS))


def found_by_wide(text: str) -> Finding:
    found = wide(text)
    assert found is not None
    return found


@pytest.mark.parametrize("marker", MARKERS)
def test_each_marker_counts_bare_and_not_in_code(marker: str) -> None:
    assert found_by_wide(f"Now {marker}ls").markup == f"{marker}ls"
    assert wide(f"Now `{marker}ls`") is None
    assert wide(f"So:\n\n```\n{marker}ls\n```\n\nDone.") is None


def test_the_triggers_are_the_eleven_markers() -> None:
    assert set(OPENROUTER_NET.triggers) == set(OPENROUTER_NET_TIGHT.triggers) == set(MARKERS)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("</tool_call>", id="a closer"),
        pytest.param("<Tool_Call>", id="other case"),
        pytest.param("<tool_call", id="cut inside the marker"),
        pytest.param("<tool_call >", id="a blank inside the marker"),
        pytest.param("<|tool▁calls▁begin|>", id="ASCII bars with DeepSeek's blocks"),
        pytest.param("<｜tool_calls_begin｜>", id="DeepSeek's bars without its blocks"),
        pytest.param("[tool_calls]", id="brackets in lower case"),
        pytest.param('<function name="ls">', id="the attribute form of function"),
        pytest.param('<invoke tool="ls">', id="invoke without a name"),
    ],
)
def test_what_is_not_a_marker(text: str) -> None:
    assert wide(text) is None


@pytest.mark.parametrize(
    ("change", "leaks"),
    [
        pytest.param({}, True, id="tools and no call"),
        pytest.param({"tools": None}, True, id="tools unknown"),
        pytest.param({"tools": ()}, False, id="no tools offered"),
        pytest.param({"calls": (Call("ls"),)}, False, id="a structured call"),
        pytest.param({"content": None, "reasoning": "<tool_call>"}, False, id="in the reasoning only"),
        pytest.param({"finish_reason": "length"}, True, id="the finish reason says nothing"),
        pytest.param({"finish_reason": "tool_calls"}, True, id="not even tool_calls does"),
    ],
)
def test_the_gates(change: dict[str, object], leaks: bool) -> None:
    output = replace(Output(content="<tool_call>ls", tools=TOOLS), **change)  # type: ignore[arg-type]
    assert (OPENROUTER_NET.find(output) is not None) == leaks
    assert (OPENROUTER_NET_TIGHT.find(output) is not None) == leaks


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        pytest.param("a [TOOL_CALLS]x <tool_call>", "[TOOL_CALLS]x <tool_call>", id="the earliest marker"),
        pytest.param("`<tool_call>` a [TOOL_CALLS]x", "[TOOL_CALLS]x", id="the earliest one outside code"),
        pytest.param("<tool_call>`x`", "<tool_call>`x`", id="the original text, code and all"),
        pytest.param("<tool_call>x \t\r\n\u2003\n", "<tool_call>x", id="trailing blanks are trimmed"),
        pytest.param("\n\n <tool_call>x", "<tool_call>x", id="what comes before is left out"),
        pytest.param("<tool_call>" + "x" * 189, "<tool_call>" + "x" * 189, id="exactly two hundred"),
        pytest.param("<tool_call>" + "x" * 190, "<tool_call>" + "x" * 189, id="one more is cut"),
        pytest.param("<tool_call>" + "😀" * 190, "<tool_call>" + "😀" * 189, id="counted in code points"),
        pytest.param(
            "<tool_call>" + " " * 300 + "x", "<tool_call>" + " " * 189, id="trimmed before the cut, not after"
        ),
        pytest.param("An odd ` here <tool_call>x", "<tool_call>x", id="a lone backtick opens nothing"),
        pytest.param("``` ls ```<tool_call>x", "<tool_call>x", id="a span of three is no fence"),
        pytest.param("~~~\n<tool_call>\n~~~\n<function=a", "<function=a", id="behind a tilde fence"),
    ],
)
def test_the_reported_markup(text: str, markup: str) -> None:
    found = found_by_wide(text)
    assert found.markup == markup
    assert text[found.start : found.end] == markup


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```\n<tool_call>", id="a fence that never closes"),
        pytest.param("````\n```\n<tool_call>\n````", id="a shorter run inside a fence"),
        pytest.param("```\r\n<tool_call>\r\n```\r\n", id="CRLF"),
        pytest.param("- a list\n\n  ```\n  <tool_call>\n  ```", id="a fence in an item"),
        pytest.param("> ```\n> <tool_call>\n> ```", id="a fence in a quote"),
        pytest.param("``a ` <tool_call> ``", id="a span of two"),
        pytest.param("`one\n<tool_call>\nthree`", id="a span over lines"),
    ],
)
def test_what_markdown_code_hides(text: str) -> None:
    assert wide(text) is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("> ```\n> a\n\n<tool_call>", id="an unclosed fence ends with its quote"),
        pytest.param("`one\n\n<tool_call>`", id="a span does not cross a blank line"),
        pytest.param("``` a`b\n<tool_call>", id="an info string with a backtick is no fence"),
        pytest.param("`` <tool_call> `", id="runs of different length do not pair"),
        pytest.param("Text\n\n    <tool_call>", id="indented code hides nothing"),
        pytest.param("<pre>\n<tool_call>\n</pre>", id="an HTML block hides nothing"),
    ],
)
def test_what_markdown_code_does_not_hide(text: str) -> None:
    assert found_by_wide(text).start == text.index("<tool_call>")


@pytest.mark.parametrize(
    ("text", "kind", "family", "tool"),
    [
        pytest.param("<tool_call>ls</tool_call>", "leaked_call", None, None, id="envelope, closed"),
        pytest.param("</tool_call><tool_call>ls", "truncated_call", None, None, id="the closer came before"),
        pytest.param("<tool_calls>ls</tool_call>", "truncated_call", None, None, id="another's closer"),
        pytest.param("<|tool_call_begin|>ls<|tool_call_end|>", "leaked_call", "kimi_k2", None, id="Kimi, closed"),
        pytest.param("<|tool_calls_section_begin|>", "truncated_call", "kimi_k2", None, id="Kimi, cut"),
        pytest.param(
            "<｜tool▁calls▁begin｜>ls<｜tool▁calls▁end｜>",
            "leaked_call",
            None,
            None,
            id="DeepSeek: two families share it",
        ),
        pytest.param("<｜tool▁call▁begin｜>ls", "truncated_call", None, None, id="DeepSeek, cut"),
        pytest.param("<|python_tag|>ls.call()", "leaked_call", "llama3_json", None, id="Llama has no closer"),
        pytest.param("[TOOL_CALLS]ls{}", "leaked_call", None, None, id="Mistral has no closer"),
        pytest.param("<function=ls>{}</function>", "leaked_call", None, "ls", id="function, closed"),
        pytest.param("<function=ls>{}", "truncated_call", None, "ls", id="function, cut"),
        pytest.param("<function=l", "truncated_call", None, None, id="function, cut inside the name"),
        pytest.param("<function=a\nb>", "truncated_call", None, None, id="a name ends with its line"),
        pytest.param('<invoke name="ls"></invoke>', "leaked_call", None, "ls", id="invoke, closed"),
        pytest.param('<invoke name="ls', "truncated_call", None, None, id="invoke, cut inside the name"),
        pytest.param("<invoke name=ls>", "truncated_call", None, None, id="invoke without quotes"),
        pytest.param(f"<function={'n' * 300}>", "truncated_call", None, None, id="a name longer than the markup"),
    ],
)
def test_what_a_finding_says_of_the_call(text: str, kind: str, family: str | None, tool: str | None) -> None:
    found = found_by_wide(text)
    assert (found.kind, found.family, found.tool) == (kind, family, tool)
    assert (found.tier, found.channel, found.calls) == ("certain", "content", ())


def test_the_reason_does_not_claim_tools_that_nobody_knows_of() -> None:
    unknown = OPENROUTER_NET.find(Output(content="<tool_call>"))
    assert unknown is not None
    assert "tools were offered" in found_by_wide("<tool_call>").reason
    assert "tools are unknown" in unknown.reason


@pytest.mark.parametrize(
    ("text", "start"),
    [
        pytest.param("<function=ls></function>", 0, id="closed"),
        pytest.param("<function=ls> words </function>", 0, id="closed after words"),
        pytest.param("<function=ls>{", 0, id="a brace follows at once"),
        pytest.param("<function=ls> \r\n\t{", 0, id="a brace follows after blanks"),
        pytest.param("<function=ls>", None, id="nothing follows"),
        pytest.param("<function=ls> then {", None, id="a word before the brace"),
        pytest.param("<function=ls>[", None, id="another bracket"),
        pytest.param("</function><function=ls>", None, id="the closer came before"),
        pytest.param("<function=></function>", None, id="an empty name"),
        pytest.param("<function=ls</function>", None, id="an opening bracket in the name"),
        pytest.param("<function=l\ns></function>", None, id="a line break in the name"),
        pytest.param("<function=ls", None, id="cut in the name"),
        pytest.param("<function=a> <function=b>{", 13, id="the first is discarded, the second counts"),
        pytest.param("<function=a> <tool_call>", 13, id="the first is discarded, another marker counts"),
        pytest.param("`<function=a>` <function=b>{", 15, id="code is passed over as well"),
        pytest.param("<function=a> `</function>`", 0, id="a closer counts wherever it stands"),
    ],
)
def test_when_a_function_marker_counts_for_the_tight_variant(text: str, start: int | None) -> None:
    found = tight(text)
    assert (found.start if found else None) == start


@given(output=OUTPUTS)
def test_a_finding_starts_with_a_marker_outside_code(output: Output) -> None:
    found = OPENROUTER_NET.find(output)
    if found is not None:
        assert found.markup.startswith(MARKERS)
        assert not any(region.start <= found.start < region.end for region in output.content_code)
        assert found.end - found.start == len(found.markup) <= 200


@given(output=OUTPUTS)
def test_without_a_finding_every_marker_stands_in_code(output: Output) -> None:
    text = output.content or ""
    if output.tools != () and OPENROUTER_NET.find(output) is None:
        starts = [at for at in range(len(text)) if text.startswith(MARKERS, at)]
        code = output.content_code
        assert all(any(region.start <= at < region.end for region in code) for at in starts)


@given(output=OUTPUTS)
def test_what_the_tight_variant_finds_is_never_before_what_the_other_finds(output: Output) -> None:
    narrow, broad = OPENROUTER_NET_TIGHT.find(output), OPENROUTER_NET.find(output)
    if narrow is not None:
        assert broad is not None
        assert broad.start <= narrow.start
