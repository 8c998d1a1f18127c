"""leakdown on labelled outputs, on each of the lines it draws, and on input that nobody should send."""

import json
from dataclasses import replace
from time import process_time
from typing import Any

import pytest

from analysis.detectors import Finding, judge
from analysis.detectors.leakdown import LEAKDOWN
from analysis.output import Call, OfferedTool, Output
from data.accuracy import scored
from tests.timing import takes_less

READ = OfferedTool("read_file", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
BODY = '{"name": "read_file", "arguments": {"path": "a.txt"}}'
CALL = f"<tool_call>\n{BODY}\n</tool_call>"
QWEN = "<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>"
DEEPSEEK = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n"
    '```json\n{"path": "a.txt"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)


def judged(text: str | None, **change: Any) -> Finding | None:
    return judge(LEAKDOWN, replace(Output(content=text, tools=(READ,)), **change))


def leaks(text: str | None, **change: Any) -> bool:
    found = judged(text, **change)
    return found is not None and found.leak


# On the open part of the corpus.

OPEN = scored(LEAKDOWN, "open")
LEAKS = [each for each in OPEN if each.row.leak]
CLEAN = [each for each in OPEN if not each.row.leak]


def test_nine_tenths_of_the_leaks_are_found() -> None:
    assert sum(each.said for each in LEAKS) >= 0.9 * len(LEAKS)


def test_of_fifty_clean_outputs_at_most_one_is_taken_for_a_leak() -> None:
    assert sum(each.said for each in CLEAN) <= 0.02 * len(CLEAN)


def test_of_the_leaks_found_the_calls_are_told_exactly_in_seventeen_of_twenty() -> None:
    told = [each for each in LEAKS if each.said and each.row.calls]
    assert sum(each.exact for each in told) >= 0.85 * len(told)


# The lines it draws.


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param(CALL, "leaked_call", id="the whole reply"),
        pytest.param(f"I will read it.\n{CALL}", "leaked_call", id="after narration"),
        pytest.param(CALL.removeprefix("<tool_call>\n"), "malformed_call", id="a lost opener with the rest whole"),
        pytest.param(QWEN, "malformed_call", id="a lost opener of an element"),
        pytest.param("court\n" + QWEN, "malformed_call", id="a stray word where the wrapper should be"),
        pytest.param(
            "Now I read it.\n</parameter>\n</function>\n</tool_call>", "orphan_markup", id="closers at the end"
        ),
        pytest.param(CALL[:45], "truncated_call", id="cut in the arguments"),
        pytest.param("Now I read it.\n<tool_c", "truncated_call", id="cut in the opener"),
        pytest.param(BODY, "printed_call", id="bare JSON"),
        pytest.param(f"```json\n{BODY}\n```", "printed_call", id="nothing but a fenced call"),
        pytest.param("read_file", "printed_call", id="nothing but an offered name"),
        pytest.param(DEEPSEEK, "leaked_call", id="a fence of the family's own is no excuse"),
        pytest.param(
            'Let me see.\n```tool_code\nread_file(path="a.txt")\n```', "leaked_call", id="nor is that of tool_code"
        ),
    ],
)
def test_a_leak_and_its_kind(text: str, kind: str) -> None:
    found = judged(text)
    assert found is not None
    assert (found.leak, found.kind) == (True, kind)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"It looks so:\n```\n{CALL}\n```\nNothing ran.", id="in a fence that is explained"),
        pytest.param(f"The call `{CALL}` is what it wrote.", id="in a code span"),
        pytest.param("The tag `<tool_call>` opens a call and `</tool_call>` closes it.", id="tags in code spans"),
        pytest.param("> " + CALL.replace("\n", "\n> "), id="in a block quote"),
        pytest.param(
            CALL.replace("<", "&lt;").replace("{", "{ ") + "\n\nThat is how it is sent.", id="escaped for HTML"
        ),
        pytest.param("+" + CALL.replace("\n", "\n+") + "\n\nThe patch adds a test.", id="in a diff"),
        pytest.param('The log says "<tool_call>" and then nothing.', id="in quotation marks"),
        pytest.param("The parser expects <function=identifier> here.", id="a name that stands for any"),
        pytest.param(f"A fenced call:\n```json\n{BODY}\n```\nSend it by hand.", id="a fenced call that is explained"),
        pytest.param('{"name": "Ada", "age": 36}', id="JSON that is the answer"),
        pytest.param("I used read_file to look at it.", id="a name in a sentence"),
        pytest.param("- read_file\n- write_file\n\nThese are my tools.", id="names in a list"),
        pytest.param("Call read_file(path) for each file, then count.", id="a signature in prose"),
        pytest.param("", id="empty"),
        pytest.param(" \n\t", id="blank"),
        pytest.param(None, id="no content"),
    ],
)
def test_no_leak(text: str | None) -> None:
    assert not leaks(text)


@pytest.mark.parametrize(
    ("change", "tier"),
    [
        pytest.param({}, "certain", id="offered"),
        pytest.param({"tools": (OfferedTool("ls"),)}, "likely", id="not offered: a tier lower"),
        pytest.param({"tools": None}, "likely", id="unknown: a tier lower"),
        pytest.param({"tools": None, "inferred_names": frozenset({"read_file"})}, "likely", id="unknown and inferred"),
        pytest.param({"call_mode": "unknown"}, "certain", id="an unknown call mode takes nothing"),
        pytest.param({"call_mode": "text"}, "possible", id="calls are text by design"),
        pytest.param({"call_mode": "none"}, "possible", id="no calls at all"),
        pytest.param({"call_mode": "text", "tools": None}, "possible", id="text by design, tools unknown"),
    ],
)
def test_the_tier_of_a_whole_call(change: dict[str, Any], tier: str) -> None:
    found = judged(CALL, **change)
    assert found is not None
    assert found.tier == tier


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(BODY, True, id="bare JSON"),
        pytest.param("[read_file(path='a.txt')]", True, id="a Python list"),
        pytest.param("read_file", True, id="a name"),
        pytest.param(BODY.replace("read_file", "open_door"), True, id="bare JSON, another name, and nothing else"),
        pytest.param("Done.\n" + BODY.replace("read_file", "open_door"), False, id="the same after a word"),
        pytest.param("[open_door(path='a.txt')]", False, id="a Python list, another name"),
        pytest.param("open_door", False, id="another name"),
    ],
)
def test_loose_shapes_count_for_an_offered_name(text: str, found: bool) -> None:
    assert leaks(text) == found


def test_reasoning_is_a_channel_of_its_own() -> None:
    found = judged(None, reasoning=f"I should read it.\n{CALL}")
    assert found is not None
    assert (found.leak, found.channel) == (True, "reasoning")
    assert not leaks("Here you are.", reasoning="I could use `<tool_call>` here, but need not.")
    assert not leaks(None, reasoning=f"I should read it.\n{CALL}", calls=(Call("read_file", '{"path": "a.txt"}'),))


@pytest.mark.parametrize(
    ("call", "channel"),
    [
        pytest.param(Call("read_file<|channel|>commentary", "{}"), "tool_name", id="markup in a name"),
        pytest.param(Call("read_file", '{"path": "a.txt</parameter>"}'), "tool_arguments", id="debris at an edge"),
        pytest.param(Call("read_file", '{"path": "a.txt"}</tool_call>'), "tool_arguments", id="debris behind the JSON"),
        pytest.param(Call("read_file", json.dumps({"path": "a", "content": CALL})), None, id="a file about calls"),
        pytest.param(Call("read_file", '{"pattern": "</?tool_call>"}'), None, id="a search for the markup"),
    ],
)
def test_contaminated_calls(call: Call, channel: str | None) -> None:
    found = judged("Reading.", calls=(call,))
    assert (found.channel if found else None) == channel
    assert found is None or (found.kind, found.leak) == ("contaminated_call", True)


# Input that nobody should send.

MANY = tuple(OfferedTool(f"tool_{number}") for number in range(5_000))
DEEP: Any = {"type": "object"}
for _ in range(300):
    DEEP = {"type": "object", "properties": {"a": DEEP}}


@pytest.mark.parametrize(
    ("text", "change", "leak"),
    [
        pytest.param(f"\ud800\udfff{CALL}\ud800", {}, True, id="lone surrogates around"),
        pytest.param(CALL.replace("a.txt", "\ud800"), {}, True, id="a lone surrogate in a value"),
        pytest.param(f"\x00\x00\n{CALL}\x00", {}, True, id="NULs around"),
        pytest.param(CALL.replace("a.txt", "\x00"), {}, True, id="a NUL in a value"),
        pytest.param(CALL, {"tools": (*MANY, READ)}, True, id="five thousand tools"),
        pytest.param("word " * 10_000, {"tools": MANY}, False, id="five thousand tools and no call"),
        pytest.param(
            "a(b", {"tools": (OfferedTool("a(b"), OfferedTool("[x"), OfferedTool("*"))}, None, id="a name of signs"
        ),
        pytest.param(
            CALL.replace("read_file", "(.*)+"), {"tools": (OfferedTool("(.*)+"),)}, True, id="a name that is a pattern"
        ),
        pytest.param(
            CALL.replace("read_file", "datei_öffnen"), {"tools": (OfferedTool("datei_öffnen"),)}, True, id="ö"
        ),
        pytest.param(
            CALL.replace("read_file", "ファイルを読む"), {"tools": (OfferedTool("ファイルを読む"),)}, True, id="kana"
        ),
        pytest.param("Hello.", {"tools": (OfferedTool(""),)}, False, id="a tool without a name"),
        pytest.param(QWEN, {"tools": (OfferedTool("read_file", {"type": 5, "properties": 7}),)}, True, id="no schema"),
        pytest.param(
            QWEN,
            {"tools": (OfferedTool("read_file", {"properties": {"path": {"type": 5}}}),)},
            True,
            id="a type that is none",
        ),
        pytest.param(
            QWEN,
            {"tools": (OfferedTool("read_file", {"properties": {"path": {"anyOf": 3}}}),)},
            True,
            id="an anyOf that is none",
        ),
        pytest.param(QWEN, {"tools": (OfferedTool("read_file", DEEP),)}, True, id="a deep schema"),
        pytest.param(
            CALL.replace('"a.txt"', "[" * 10_000 + "]" * 10_000), {}, None, id="arguments nested ten thousand deep"
        ),
        pytest.param(
            CALL.replace('"a.txt"', '{"a":' * 10_000),
            {},
            None,
            id="arguments that open ten thousand times and never close",
        ),
        pytest.param("call:read_file{a:" + "{a:" * 10_000, {}, None, id="pairs nested ten thousand deep"),
        pytest.param("[read_file(a=" + "(" * 10_000, {}, None, id="parentheses nested ten thousand deep"),
        pytest.param("[read_file(a=" + "[" * 10_000 + "]" * 10_000 + ")]", {}, None, id="Python lists nested so deep"),
        pytest.param("[read_file(a=" + "-" * 10_000 + "1)]", {}, None, id="ten thousand signs before a number"),
        pytest.param(CALL.replace('"a.txt"', "9" * 10_000), {}, None, id="a number of ten thousand digits"),
        pytest.param(QWEN.replace("a.txt", "9" * 10_000), {}, True, id="digits in text"),
    ],
)
def test_odd_input_is_answered(text: str, change: dict[str, Any], leak: bool | None) -> None:
    """`leak` is None where either answer will do."""
    assert leak is None or leaks(text, **change) == leak
    judged(text, **change)


def test_structured_calls_nested_ten_thousand_deep_are_answered() -> None:
    nested = '{"a":' * 10_000 + '"</parameter>"' + "}" * 10_000
    judged("Reading.", calls=(Call("read_file", nested), Call("\x00\ud800", "\ud800")))


FALSE_STARTS = [
    pytest.param("<tool_call>", id="openers"),
    pytest.param("</tool_call></function>", id="closers"),
    pytest.param("<function=read_file>", id="functions"),
    pytest.param("<function=read_file><parameter=path>", id="parameters"),
    pytest.param("<tool_call>read_file<arg_key>a</arg_key>", id="pairs without values"),
    pytest.param('<tool_call>{"name": "read_file", "arguments": {', id="JSON that never closes"),
    pytest.param("[read_file(a='", id="Python that never closes"),
    pytest.param("call:read_file{a:", id="pairs in braces"),
    pytest.param("[TOOL_CALLS]read_file[ARGS]{", id="Mistral"),
    pytest.param("<|channel|>commentary to=functions.read_file<|message|>{", id="Harmony"),
    pytest.param("Action: read_file\nAction Input: {", id="ReAct"),
    pytest.param("<read_file><path>", id="tags of a client"),
    pytest.param("```tool_code\n", id="fences"),
    pytest.param("`<tool_call>` ", id="code spans"),
    pytest.param("> <tool_call>\n", id="quotes"),
    pytest.param("example: <", id="cues"),
    pytest.param("[{(", id="brackets"),
    pytest.param('"\\', id="escapes"),
    pytest.param(" \t\n", id="blanks"),
    pytest.param("\ud800\x00", id="surrogates and NULs"),
    pytest.param("read_file\n", id="names"),
    pytest.param(">>>read_file\n", id="functionary's names"),
    pytest.param("I'll use `read_file` ", id="commitments"),
    pytest.param("`read_file`を使って", id="verbs that follow their name"),
    pytest.param("<write_to_file><path>", id="tags of another client"),
    pytest.param("so<|tool_call_begin|>so", id="tokens glued into words"),
    pytest.param("I'll call read_file: ```\n{", id="announcements before fences"),
]


@pytest.mark.parametrize("piece", FALSE_STARTS)
def test_four_times_the_false_starts_take_less_than_eight_times_as_long(piece: str) -> None:
    def seconds(text: str) -> float:
        began = process_time()
        judged(text, finish_reason="stop")
        judged(None, reasoning=text, finish_reason="stop")
        return process_time() - began

    text = piece * (50_000 // len(piece))
    assert min(seconds(text * 4) for _ in range(2)) < 8 * max(min(seconds(text) for _ in range(3)), 1e-3)


def test_a_megabyte_of_ordinary_text_with_a_call_at_its_end_is_answered_at_once() -> None:
    text = "The quick brown fox reads <b>HTML</b> and {JSON: 1}.\n" * 20_000 + CALL
    assert leaks(text)
    assert takes_less(5, lambda: leaks(text))
