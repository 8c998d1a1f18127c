"""Every family, damaged in every way that reports know of: it is found, and its calls are told exactly.

What cannot be is named, with the reason. A call cut anywhere is found once its head tells it, and is never called
whole nor given a value that the whole call has not.
"""

import json
from collections.abc import Callable

import pytest

from analysis.detectors import Finding, judge
from analysis.detectors.leakdown import LEAKDOWN
from analysis.grammars import readings
from analysis.output import Call, OfferedTool, Output
from tests.analysis.frames import ARGUMENTS, FRAMES, NAME, Frame

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"type": "string"}}}
TOOLS = (OfferedTool(NAME, SCHEMA), OfferedTool("get_time", {"type": "object"}), OfferedTool("click", SCHEMA))

DAMAGES: dict[str, Callable[[Frame], str | None]] = {
    "whole": lambda f: f.text,
    "opener lost": lambda f: f.body + f.closer if f.opener else None,
    "closer lost": lambda f: f.opener + f.body if f.closer else None,
    "both lost": lambda f: f.body if f.opener and f.closer else None,
    "stripped": lambda f: f.stripped or None,
    "stripped, behind a sentence": lambda f: f"Ich sehe nach.\n\n{f.stripped}" if f.stripped else None,
    "stripped, glued to a sentence": lambda f: f"Let me check.{f.stripped}" if f.stripped else None,
    "stripped, glued to Chinese": lambda f: f"我来查一下。{f.stripped}" if f.stripped else None,
    "stripped twice": lambda f: f.stripped * 2 if f.stripped else None,
    "stripped, in lines": lambda f: f"{f.stripped}\n{f.stripped}" if f.stripped else None,
    "closed by </tool_call>": lambda f: f.opener + f.body + "\n</tool_call>" if f.closer else None,
    "closed by </function_calls>": lambda f: f.opener + f.body + "\n</function_calls>" if f.closer else None,
    "closed by </think>": lambda f: f.opener + f.body + "\n</think>" if f.closer else None,
    "closed by </arg_value>": lambda f: f.opener + f.body + "</arg_value>" if f.closer else None,
    "closed twice": lambda f: f.text + f.closer if f.closer else None,
    "opened twice": lambda f: f.opener + f.text if f.closer else None,
    "ASCII pipes": lambda f: f.text.translate({0xFF5C: "|", 0x2581: "_"}) if "｜" in f.text else None,
    "full-width pipes": lambda f: f.text.replace("<|", "<｜").replace("|>", "｜>") if "|>" in f.text else None,
    "carriage returns": lambda f: f.text.replace("\n", "\r\n") if "\n" in f.text else None,
    "blanks around": lambda f: f"\n\n  {f.text}  \n\n",
    "an end token behind": lambda f: f.text + "<|im_end|>",
    "behind English": lambda f: f"I will look that up for you.\n\n{f.text}",
    "behind German": lambda f: f"Ich schaue kurz nach, wie das Wetter ist:\n{f.text}",
    "behind Japanese": lambda f: f"天気を調べます。\n{f.text}",
    "behind Arabic": lambda f: f"سأتحقق من الطقس الآن.\n{f.text}",
    "glued to a sentence": lambda f: f"Let me check the weather.{f.text}",
    "glued to Chinese": lambda f: f"我来查一下天气。{f.text}",
    "behind thinking": lambda f: f"I need the weather.\n</think>\n\n{f.text}",
    "glued to </think>": lambda f: f"</think>{f.text}",
    "joined": lambda f: f.text * 2,
    "in lines": lambda f: f"{f.text}\n{f.text}",
    "in paragraphs": lambda f: f"{f.text}\n\n{f.text}",
    "behind a fence": lambda f: f"```python\nprint(1)\n```\n\n{f.text}",
    "before a sentence": lambda f: f"{f.text}\n\nI will tell you what comes back.",
}
"""None: the family has no such part."""
TWICE = ("joined", "in lines", "in paragraphs", "stripped twice", "stripped, in lines")

NAME_LOST = "the tool's name is gone with its tag"
ONE_FENCE = "a second fence on the line of the first one's end is no fence"
NESTED = "a fence or a tag in its own kind holds no call alone"
MISSED: dict[tuple[str, str], str] = {
    ("function_eq_json", "opener lost"): NAME_LOST,
    ("function_eq_json", "both lost"): NAME_LOST,
    ("minicpm5", "both lost"): NAME_LOST,
    ("client_tag_is_tool", "both lost"): NAME_LOST,
    ("react_text", "opener lost"): "a name and a headed line are prose",
    ("bare_json_offered_tool", "joined"): ONE_FENCE,
    ("bare_json_offered_tool", "closed by </think>"): "a fence that never ends may show anything",
    ("bare_json_offered_tool", "closed by </arg_value>"): "a fence that never ends may show anything",
    ("bare_json_offered_tool", "opened twice"): NESTED,
    ("gemma3_prompted", "opened twice"): NESTED,
    ("cohere_action_text", "opened twice"): NESTED,
    ("client_tag_is_tool", "opened twice"): NESTED,
    ("apertus", "stripped, glued to a sentence"): "a name as a key is read at the start of a line alone",
    ("apertus", "stripped, glued to Chinese"): "a name as a key is read at the start of a line alone",
}
INEXACT: dict[tuple[str, str], str] = {
    ("minicpm5", "opener lost"): NAME_LOST,
    ("client_tag_is_tool", "opener lost"): "the closing tag alone tells the name",
    ("functionary_v2", "full-width pipes"): "not met: harmony's kin have ASCII pipes alone",
    ("gemma3_prompted", "joined"): ONE_FENCE,
    ("ui_tars", "joined"): "the second stands behind no sentence",
    ("react_text", "joined"): "the first one's line goes on",
    ("client_tag_is_tool", "joined"): "the second stands at no line's start",
    ("calling_tool_text", "both lost"): "a Python call without its end",
}
LONGEST_HEAD = 24
"""Characters of a head before which a cut one may be taken for words."""
MUTE = {
    "glm4_name_newline_json",
    "client_tag_is_tool",
    "phi4_functools",
    "bare_json_offered_tool",
    "cohere_action_text",
}
"""Families whose head is words, or a tag of any kind, for longer."""


def said(text: str, channel: str = "content", finish: str = "stop") -> Finding | None:
    content, reasoning = (text, None) if channel == "content" else (None, text)
    found = judge(LEAKDOWN, Output(content, reasoning, tools=TOOLS, finish_reason=finish))
    return found if found and found.leak else None


def calls(found: Finding) -> list[tuple[str, object]]:
    return [(call.name, None if call.arguments is None else json.loads(call.arguments)) for call in found.calls]


def meant(family: str, damage: str) -> list[tuple[str, object]]:
    return [("click" if family == "ui_tars" else NAME, ARGUMENTS)] * (2 if damage in TWICE else 1)


TABLE = [
    pytest.param(family, damage, id=f"{family}, {damage}")
    for family, frame in FRAMES.items()
    for damage, how in DAMAGES.items()
    if how(frame) is not None
]


@pytest.mark.parametrize(("family", "damage"), TABLE)
def test_a_damaged_call_is_found_and_told_exactly(family: str, damage: str) -> None:
    found = said(DAMAGES[damage](FRAMES[family]) or "")
    if (family, damage) in MISSED:
        assert found is None
    else:
        assert found is not None
        assert (calls(found) == meant(family, damage)) == ((family, damage) not in INEXACT)


@pytest.mark.parametrize("family", FRAMES)
def test_a_call_in_the_reasoning_is_found_and_told_exactly(family: str) -> None:
    found = said(FRAMES[family].text, "reasoning")
    assert found is not None
    assert calls(found) == meant(family, "whole")


@pytest.mark.parametrize("lead", [pytest.param("", id="alone"), pytest.param("I will look.\n", id="behind a line")])
@pytest.mark.parametrize("family", FRAMES)
def test_a_call_cut_anywhere_tells_nothing_that_it_has_not(family: str, lead: str) -> None:
    text = FRAMES[family].text
    for end in range(1, len(text)):
        found = said(lead + text[:end], finish="length")
        if found is None:
            assert end < LONGEST_HEAD or family in MUTE or text[:end].endswith(tuple(" \n")), text[:end]
            continue
        for name, arguments in calls(found):
            assert name in (NAME, "click")
            assert arguments in (None, ARGUMENTS, {})


@pytest.mark.parametrize("damage", ["whole", "closer lost", "carriage returns", "ASCII pipes"])
@pytest.mark.parametrize("family", FRAMES)
def test_it_is_none_in_a_fence_that_is_told_of(family: str, damage: str) -> None:
    text = DAMAGES[damage](FRAMES[family])
    assert text is None or said(f"The log shows this:\n\n`````\n{text}\n`````\n\nNothing ran.") is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('Use the client.get_weather(city="Oslo")', id="a method at the end"),
        pytest.param("It goes on in the next.get_weather", id="a name behind a full stop"),
        pytest.param("This is one function call", id="the words of GigaChat's head"),
        pytest.param('In the REPL:\n>>> get_weather("Oslo")', id="a prompt with a blank"),
        pytest.param('Here it is.{"city": "Oslo"}', id="JSON without a name behind a sentence"),
        pytest.param('The reply was.["get_weather", 2]', id="a list behind a sentence"),
        pytest.param("The agenda:\n\nAction: get the file", id="a heading and words"),
        pytest.param(
            'get_weather\n```json\n{"city": "Oslo"}\n```\nis how they look.', id="a name over a fence, and words"
        ),
        pytest.param('The tool get_weather:\n\n```json\n{"city": "Oslo"}\n```', id="a fence behind a line with a name"),
        pytest.param("The last token of a message is <|call|> there, as we saw.", id="a token in a sentence"),
        pytest.param("Done.<|im_end|>", id="the end of a turn alone"),
        pytest.param("<|channel|>final<|message|>All is well.", id="the channel of an answer"),
        pytest.param("<|start|>assistant", id="the head of a turn"),
        pytest.param("<person><name>get_weather</name><arguments>none</arguments></person>", id="elements of a record"),
        pytest.param('```json\n{"city": "Oslo"}\n```\n\n{"days": 3}', id="JSON behind a fence"),
        pytest.param("Set [ARGS] to the flags that you need.", id="a word in brackets"),
    ],
)
def test_what_only_looks_so_is_none(text: str) -> None:
    assert said(text) is None


DIRTY = [
    pytest.param("get_weather[ARGS]", '{"city": "Oslo"}', id="a token behind the name"),
    pytest.param("<|tool_call_start|>[get_weather", '{"city": "Oslo"}', id="tokens before the name"),
    pytest.param("get_weather>\n<parameter=city", '{"city": "Oslo"}', id="a header behind the name"),
    pytest.param("get_weather", '{"city": "Oslo\\n</parameter>\\n</function>"}', id="Qwen's closers behind a value"),
    pytest.param("get_weather", '{"city": "Oslo</｜DSML｜parameter>"}', id="DSML's closer behind a value"),
    pytest.param("get_weather", '{"city": "Oslo</city>\\n</invoke>"}', id="the key's closer behind a value"),
    pytest.param("get_weather", '{"city": "<|\\"|>Oslo<|\\"|>"}', id="Gemma's quotes around a value"),
    pytest.param("get_weather", '{"city": "Oslo"}<|call|><|start|>assistant', id="tokens behind the arguments"),
    pytest.param("", '{"name": "get_weather", "arguments": {"city": "Oslo"}}', id="the call in its arguments"),
]


@pytest.mark.parametrize(("name", "arguments"), DIRTY)
def test_a_structured_call_with_debris_tells_what_it_meant(name: str, arguments: str) -> None:
    found = judge(LEAKDOWN, Output(calls=(Call(name, arguments),), tools=TOOLS))
    assert found is not None
    assert (found.kind, calls(found)) == ("contaminated_call", [(NAME, {"city": "Oslo"})])


def test_thousands_of_short_calls_are_told_to_the_last() -> None:
    text = '<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>\n' * 5_000
    found = said(text)
    assert found is not None
    assert (found.kind, len(found.calls)) == ("leaked_call", 5_000)


@pytest.mark.parametrize("family", FRAMES)
def test_hundreds_of_calls_of_any_family_are_told_to_the_last(family: str) -> None:
    """By the grammars alone: where they stand is another matter."""
    found = readings(f"{FRAMES[family].text}\n" * 500, frozenset({NAME, "click"}))
    assert sum(len(each.calls) for each in found) == 500
    assert found[0].damage == readings(FRAMES[family].text, frozenset({NAME, "click"}))[0].damage
