"""Every detector keeps the contract: its examples, exact spans, the promise of its triggers, linear time."""

from collections.abc import Callable
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.detectors import Detector, Example, Finding, Tier, detector, detectors, judge
from analysis.output import OfferedTool, Output
from ingest.errors import UsageError
from ingest.records import CallMode

DETECTORS = detectors()
LIMIT = 200

PIECES = (
    "<tool_call>",
    "</tool_call>",
    "<tool_calls>",
    "<function=ls>",
    "<function=rm>",
    "<function=",
    "</function>",
    "<parameter=a>",
    "</parameter>",
    "<|tool_call_begin|>",
    "<｜tool▁calls▁begin｜>",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "<function_calls>",
    '<invoke name="ls">',
    "</invoke>",
    "`",
    "``",
    "\n```\n",
    "\n~~~\n",
    "\n",
    "\r\n\r\n",
    "> ",
    "- ",
    "    ",
    "\u2003",
    "{}",
    "word",
    "😀",
    "\ud800",
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
OUTPUTS = st.builds(
    Output,
    content=TEXTS,
    tools=st.sampled_from([None, (), (OfferedTool("ls"),)]),
    inferred_names=st.sampled_from([frozenset[str](), frozenset({"rm"})]),
)


def assert_span(output: Output, found: Finding) -> None:
    """A finding lies within its channel's text, and its markup is the head of what lies there."""
    text = {"content": output.content, "reasoning": output.reasoning}[found.channel]
    assert text is not None
    assert 0 <= found.start < found.end <= len(text)
    assert text[found.start : found.end][:LIMIT] == found.markup


def rows(examples: Callable[[Detector], tuple[Example, ...]]) -> list[object]:
    return [
        pytest.param(each, example, id=f"{each.name}: {example.why}")
        for each in DETECTORS
        for example in examples(each)
    ]


every_detector = pytest.mark.parametrize("each", [pytest.param(each, id=each.id) for each in DETECTORS])


def test_the_four_first_detectors_are_found_by_their_module_names() -> None:
    assert {"openrouter-net@1", "openrouter-net-tight@1", "goat@1", "goat-envelope@1"} <= {
        each.id for each in DETECTORS
    }


@every_detector
def test_a_detector_describes_itself_and_brings_four_examples_of_each_sort(each: Detector) -> None:
    assert all((each.name, each.version, each.summary, each.source, each.triggers))
    assert min(len(each.leaks), len(each.clean)) >= 4
    reasons = [example.why for example in each.leaks + each.clean]
    assert len(set(reasons)) == len(reasons)


@pytest.mark.parametrize(("each", "example"), rows(lambda each: each.leaks))
def test_a_leak_is_found_where_it_stands(each: Detector, example: Example) -> None:
    found = each.find(example.output)
    assert found is not None
    assert found.markup == example.markup
    assert_span(example.output, found)


@pytest.mark.parametrize(("each", "example"), rows(lambda each: each.clean))
def test_a_clean_output_is_no_finding(each: Detector, example: Example) -> None:
    assert example.markup is None
    assert each.find(example.output) is None


@every_detector
@pytest.mark.parametrize("of", [pytest.param(each, id=f"leaks of {each.name}") for each in DETECTORS])
def test_a_detector_answers_on_the_leaks_of_every_other(each: Detector, of: Detector) -> None:
    for example in of.leaks:
        found = each.find(example.output)
        if found is not None:
            assert_span(example.output, found)


@every_detector
@given(output=OUTPUTS)
def test_a_finding_has_an_exact_span_a_reason_and_a_trigger_in_the_text(each: Detector, output: Output) -> None:
    found = each.find(output)
    if found is not None:
        assert_span(output, found)
        assert found.reason
        assert any(trigger in (output.content or "") for trigger in each.triggers)


FALSE_STARTS = {
    "bare function heads": "<function=",
    "function names without an end": "<function=NAME ",
    "complete heads of an undeclared tool": "<function=x>",
    "heads with blanks after them": "<function=x>" + " " * 40,
    "envelopes in code spans": "`<tool_call>` ",
    "envelopes after unpaired backticks": "`" + "<tool_call>",
    "runs of backticks": "``<tool_call>`",
    "fences of markers": "```\n[TOOL_CALLS]\n```\n",
    "headings in quotes": "> `<function=ls>\n> # x\n",
    "angle brackets": "<",
    "prefixes of the longest marker": "<|tool_calls_section_begin|",
    "openings and nothing else": "<tool_call>",
    "closers and nothing else": "</tool_call></function>",
    "one offered function each": "<function=ls>",
    "blanks": " \t\n",
}


def seconds(each: Detector, text: str) -> float:
    """The least of three runs, in CPU seconds, the Markdown scan included."""

    def one() -> float:
        output = Output(content=text, tools=(OfferedTool("ls"),))
        began = process_time()
        each.find(output)
        return process_time() - began

    return min(one() for _ in range(3))


@every_detector
@pytest.mark.parametrize("piece", [pytest.param(piece, id=name) for name, piece in FALSE_STARTS.items()])
def test_four_times_the_false_starts_take_less_than_eight_times_as_long(each: Detector, piece: str) -> None:
    text = piece * (50_000 // len(piece))
    # Below a tenth of a millisecond the clock itself is what is measured.
    assert seconds(each, text * 4) < 8 * max(seconds(each, text), 1e-4)


@pytest.mark.parametrize(
    ("mode", "known", "tier"),
    [
        pytest.param("native", True, "certain", id="native, tools known: the detector's own tier"),
        pytest.param("unknown", True, "certain", id="an unknown call mode takes nothing away"),
        pytest.param("native", False, "likely", id="tools unknown: one tier less"),
        pytest.param("unknown", False, "likely", id="both unknown: still one tier less"),
        pytest.param("text", True, "possible", id="calls are text by design"),
        pytest.param("text", False, "possible", id="calls are text by design and tools unknown"),
        pytest.param("none", True, "possible", id="no calls are expected"),
    ],
)
def test_the_tier_that_what_is_known_of_the_request_allows(mode: CallMode, known: bool, tier: Tier) -> None:
    tools = (OfferedTool("ls"),) if known else None
    output = Output(content="<tool_call>ls</tool_call>", tools=tools, call_mode=mode)
    found = judge(detector("openrouter-net@1"), output)
    assert found is not None
    assert (found.tier, found.leak) == (tier, tier != "possible")


def test_tools_known_to_be_none_are_not_the_same_as_unknown() -> None:
    text = "<tool_call>ls</tool_call>"
    assert judge(detector("openrouter-net@1"), Output(content=text, tools=())) is None
    assert judge(detector("openrouter-net@1"), Output(content=text, tools=None)) is not None


@pytest.mark.parametrize("unknown", ["nope", "goat", "goat@2", ""])
def test_an_unknown_detector_is_answered_with_the_known_ones(unknown: str) -> None:
    with pytest.raises(UsageError, match=r"known: .*goat@1, .*openrouter-net@1") as refused:
        detector(unknown)
    assert repr(unknown) in str(refused.value)
    assert all(each.id in str(refused.value) for each in DETECTORS)
