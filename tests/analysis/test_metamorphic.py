"""What must not change a verdict does not, and what must does: relations between leakdown's answers.

Each relation is held against every labelled output it applies to. A row that it does not apply to is left out by a
rule with a name; a pair in which it fails by a fault stands alone, strictly expected to fail.
"""

import html
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.detectors import TIERS, Finding, judge
from analysis.detectors.leakdown import LEAKDOWN
from analysis.output import Call, OfferedTool, Output
from data.accuracy import Row, Scored, rows
from ingest.records import CallMode

OPEN = rows("open")
SHAPES = {
    *("bare_json_offered_tool", "pythonic_list", "glm4_name_newline_json", "react_text", "client_tag_is_tool"),
    *("ui_tars", "functionary_v32", "xlam", "gemini_textual", "gemma3_prompted"),
}
"""Families without markup: a call of theirs is told by an offered name at the end of a text."""
OWN_WORDS = {"ui_tars"}
"""Families whose calls are words of their own, not names that a client offers."""
HABITS = {"client_tag_is_tool-12"}
"""Rows whose call is a word of another client."""


def said(output: Output) -> Finding | None:
    found = judge(LEAKDOWN, output)
    return found if found and found.leak else None


def content(row: Row) -> str:
    return row.output.content or ""


def rewritten(row: Row, text: str) -> Finding | None:
    """What is said of the row's output with `text` for its content."""
    return said(replace(row.output, content=text))


def _found() -> list[Row]:
    """The rows whose leak in the content is well formed or malformed, and found."""
    kinds = ("leaked_call", "malformed_call")
    plain = [
        row
        for row in OPEN
        if row.leak and row.kind in kinds and not row.output.calls and content(row) and row.output.reasoning is None
    ]
    return [row for row in plain if (found := said(row.output)) and found.channel == "content"]


FOUND = _found()
WHOLE = [row for row in FOUND if row.kind == "leaked_call"]
BY_ID = {row.id: row for row in FOUND}


def all_offered(row: Row) -> bool:
    return all(name in row.output.offered_names for name, _ in row.calls)


def broken(relation: Callable[[Row], bool], among: Iterable[Row], but: Iterable[str] = ()) -> list[str]:
    """The rows that do not keep the relation, those of known faults aside."""
    known = set(but)
    return [row.id for row in among if row.id not in known and not relation(row)]


def test_there_are_rows_of_most_families_to_hold_the_relations_against() -> None:
    assert len(FOUND) >= 200
    assert len({row.family for row in FOUND}) >= 40


# The verdict stays.


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("I will look at that for you now.\n\n", id="a paragraph before"),
        pytest.param("Gern, das mache ich.\n", id="a line before"),
        pytest.param("今すぐ確認します。🚀\n", id="another script before"),
        pytest.param("\n\n  \n", id="blanks before"),
        pytest.param("| a | b |\n|---|---|\n| 1 | 2 |\n\n", id="a table before"),
        pytest.param("```python\nprint(1)\n```\n\n", id="a fence before"),
    ],
)
def test_a_leak_stays_one_whatever_stands_before_it(before: str) -> None:
    assert broken(lambda row: bool(rewritten(row, before + content(row))), FOUND) == []


@pytest.mark.parametrize(
    "after",
    [
        pytest.param("\n\nI will tell you what comes back.", id="a paragraph after"),
        pytest.param("\nDas Ergebnis folgt.", id="a line after"),
        pytest.param("\n🚀", id="a sign after"),
        pytest.param("\n \n\n", id="blanks after"),
    ],
)
def test_a_whole_call_with_markup_stays_a_leak_whatever_follows(after: str) -> None:
    """Left out, "talk about calls": without markup or for a tool that was not offered, words behind a call make it
    an example; so do they for a damaged one."""
    among = [row for row in WHOLE if row.family not in SHAPES and all_offered(row)]
    assert len(among) > 80
    assert broken(lambda row: bool(rewritten(row, content(row) + after)), among, NOT_MARKED) == []


NOT_MARKED = {"lfm2-08", "calling_tool_text-06"}
"""Rows whose tokens are gone, all but the pythonic list, which is a shape."""


def crlf(row: Row) -> bool:
    return bool(rewritten(row, content(row).replace("\n", "\r\n")))


def test_a_leak_with_carriage_returns_is_the_same() -> None:
    assert broken(crlf, FOUND) == []


def renamed(row: Row, new: str) -> Finding | None:
    names = sorted({*row.output.offered_names, *(name for name, _ in row.calls)}, key=len, reverse=True)
    by_old = {name: f"{new}{number}" for number, name in enumerate(names)}
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])")
    text = pattern.sub(lambda found: by_old[found[0]], content(row))
    tools = tuple(OfferedTool(by_old[tool.name], tool.parameters) for tool in row.output.tools or ())
    return said(replace(row.output, content=text, tools=None if row.output.tools is None else tools))


@pytest.mark.parametrize("new", ["zq_unit_", "outil", "mcp__srv__op", "a.b-c", "Tool/x", "X"])
def test_a_leak_does_not_depend_on_what_its_tools_are_called(new: str) -> None:
    """Left out: families with words of their own, and tags for names that no tag can have."""
    no_tag = {"client_tag_is_tool"} if "/" in new else set[str]()
    among = [row for row in FOUND if row.calls and row.family not in OWN_WORDS | no_tag and row.id not in HABITS]
    assert broken(lambda row: bool(renamed(row, new)), among) == []


def exchanged(row: Row, new: str) -> bool:
    """Every text value of a label that stands as it is in the content gives way to `new`; the calls then tell it."""
    text, calls = content(row), []
    words = " ".join([*(name for name, _ in row.calls), *(key for _, told in row.calls for key in told or ())])
    for name, told in row.calls:
        values = dict(told or {})
        for key, value in values.items():
            if isinstance(value, str) and len(value) > 3 and value not in words and text.count(value) == 1:
                text, values[key] = text.replace(value, new), new
        calls.append((name, None if told is None else values))
    found = rewritten(row, text)
    was_exact = Scored(row, said(row.output)).exact
    return bool(found) and (not was_exact or Scored(replace(row, calls=tuple(calls)), found).exact)


@given(
    new=st.text(alphabet="abcdefghijklmnopqrstuvwxyzäßéñ天気 ", min_size=4, max_size=30).map(lambda each: f"q{each}q")
)
def test_a_leak_does_not_depend_on_its_argument_values(new: str) -> None:
    assert broken(lambda row: exchanged(row, new), FOUND) == []


# The verdict goes.


def fenced(row: Row, mark: str, info: str = "") -> bool:
    """Clean once it stands in a fence longer than any in it, and is told of."""
    longest = max((len(run) for run in re.findall(rf"{mark}+", content(row))), default=0)
    fence = mark * max(3, longest + 1)
    return not rewritten(row, f"The reply looked like this:\n\n{fence}{info}\n{content(row)}\n{fence}\n\nNothing ran.")


@pytest.mark.parametrize(
    ("mark", "info"),
    [
        pytest.param("`", "", id="backticks"),
        pytest.param("`", "xml", id="backticks with a language"),
        pytest.param("~", "", id="tildes"),
    ],
)
def test_a_leak_in_a_fence_is_none(mark: str, info: str) -> None:
    assert broken(lambda row: fenced(row, mark, info), FOUND) == []


@pytest.mark.parametrize(
    "around",
    [pytest.param(("The reply was:\n\n", "\n\nNothing ran."), id="told of"), pytest.param(("", ""), id="alone")],
)
def test_a_leak_in_a_block_quote_is_none(around: tuple[str, str]) -> None:
    def quoted(row: Row) -> bool:
        lines = "\n".join(f"> {line}" for line in content(row).split("\n"))
        return not rewritten(row, lines.join(around))

    assert broken(quoted, FOUND) == []


ESCAPES: dict[str, Callable[[str], str]] = {
    "as HTML": lambda text: html.escape(text, quote=False),
    "with backslashes": lambda text: text.replace("<", "\\<").replace("[", "\\["),
}


def escaped(row: Row, how: str) -> bool:
    """Clean once its markup is escaped. Left out, "the body is a call": without its frame a JSON, Python or Gemma call
    of an offered tool is still one."""
    text = ESCAPES[how](content(row))
    found = rewritten(row, text)
    if found is None or text == content(row):
        return True
    return found.kind == "printed_call" or ("&" not in found.markup and found.family in ("pythonic_list", "gemma4"))


@pytest.mark.parametrize("how", ESCAPES)
def test_a_leak_whose_markup_is_escaped_is_none(how: str) -> None:
    among = [row for row in FOUND if row.family not in SHAPES]
    assert broken(lambda row: escaped(row, how), among) == []


# Spans, prefixes, order.


def test_a_span_cuts_the_markup_with_its_tool_out_of_the_text() -> None:
    def exact(row: Row) -> bool:
        found = said(row.output)
        text = content(row)[found.start : found.end] if found else ""
        return bool(text) and text == text.strip() and (found is None or (found.tool or "") in text)

    assert broken(exact, FOUND) == []


CLOSING_TOKEN = re.compile(r"<[|｜][\w▁]+[|｜]>\s*\Z")
"""A token behind a whole call (`<|call|>`, `<|eot_id|>`), which many servers swallow: without it the call is whole."""


def prefixes_are_cut(row: Row) -> bool:
    found, text = said(row.output), content(row)
    if found is None:
        return False
    token = CLOSING_TOKEN.search(text, found.start, found.end)
    ends = range(found.start + 1, token.start() if token else found.end)
    kinds = [each.kind for end in ends if (each := rewritten(row, text[:end]))]
    return "leaked_call" not in kinds


def test_no_proper_prefix_of_one_leaked_call_is_called_whole() -> None:
    """Left out: several calls, whose first ones are whole in a prefix."""
    among = [row for row in WHOLE if len(row.calls) == 1]
    assert broken(prefixes_are_cut, among) == []


def joined(first: Row, second: Row) -> bool:
    """The calls of both, in order, where the second's markup follows the first's."""
    found = [said(first.output), said(second.output)]
    one, two = (content(row)[each.start :].rstrip() for row, each in zip((first, second), found, strict=True) if each)
    tools = {tool.name: tool for tool in (*(first.output.tools or ()), *(second.output.tools or ()))}
    both = said(Output(content=f"{one}\n{two}", tools=tuple(tools.values())))
    names = [call.name for each in found if each for call in each.calls]
    return both is not None and [call.name for call in both.calls] == names


def pairs() -> list[tuple[Row, Row]]:
    """Neighbours among the whole calls of a family."""
    families: dict[str | None, list[Row]] = {}
    for row in WHOLE:
        families.setdefault(row.family, []).append(row)
    return [pair for each in families.values() for pair in pairwise(each)]


def pair_id(pair: tuple[Row, Row]) -> str:
    return f"{pair[0].id} {pair[1].id}"


JOINED = {
    "mistral_old_json-04 mistral_old_json-05": "the first call is lost where words follow the second",
}


def test_calls_that_follow_each_other_keep_their_number_and_order() -> None:
    assert len(pairs()) > 50
    assert [pair_id(pair) for pair in pairs() if pair_id(pair) not in JOINED and not joined(*pair)] == []


@pytest.mark.parametrize(
    "pair", [pytest.param(each, marks=pytest.mark.xfail(strict=True, reason=why)) for each, why in JOINED.items()]
)
def test_calls_that_get_lost(pair: str) -> None:
    first, second = pair.split()
    assert joined(BY_ID[first], BY_ID[second])


# Tiers.


def rank(output: Output) -> int:
    """0 is certain; no finding comes last."""
    found = judge(LEAKDOWN, output)
    return TIERS.index(found.tier) if found else len(TIERS)


@pytest.mark.parametrize("mode", ["text", "none"])
def test_where_calls_are_text_or_are_none_nothing_is_above_possible(mode: CallMode) -> None:
    assert broken(lambda row: rank(replace(row.output, call_mode=mode)) >= TIERS.index("possible"), OPEN) == []


def test_unknown_tools_never_make_a_verdict_stronger() -> None:
    """Left out: tools known to be none, which excuse what unknown ones do not."""
    among = [row for row in OPEN if row.output.tools]
    assert broken(lambda row: rank(replace(row.output, tools=None)) >= rank(row.output), among) == []


def test_names_that_the_run_called_are_no_stronger_than_offered_ones() -> None:
    def kept(row: Row) -> bool:
        bare = replace(row.output, tools=tuple(OfferedTool(tool.name) for tool in row.output.tools or ()))
        return rank(replace(row.output, tools=None, inferred_names=row.output.offered_names)) >= rank(bare)

    among = [row for row in OPEN if row.output.tools]
    assert broken(kept, among, {"clean-mode-08-text-ui-tars"}) == []


@pytest.mark.xfail(strict=True, reason="known and not offered is no finding, inferred and not called a possible one")
def test_a_word_of_ui_tars_is_no_stronger_for_inferred_names() -> None:
    [output] = [row.output for row in OPEN if row.id == "clean-mode-08-text-ui-tars"]
    assert rank(replace(output, tools=None, inferred_names=output.offered_names)) >= rank(output)


def test_a_call_of_another_tool_than_the_run_called_loses_one_tier_for_unknown_tools_and_no_more() -> None:
    text = '<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>'
    assert rank(Output(text, inferred_names=frozenset({"rm"}))) == rank(Output(text)) == TIERS.index("likely")


@pytest.mark.parametrize("inferred", [pytest.param(True, id="the offered ones"), pytest.param(False, id="another one")])
def test_inferred_names_never_make_a_verdict_weaker(inferred: bool) -> None:
    def kept(row: Row) -> bool:
        unknown = replace(row.output, tools=None)
        names = row.output.offered_names if inferred else frozenset({"another_tool"})
        return rank(replace(unknown, inferred_names=names)) <= rank(unknown)

    assert broken(kept, OPEN) == []


# What the prefilter may leave out.


def has_trigger(output: Output) -> bool:
    texts = [output.content or "", output.reasoning or ""]
    texts += [text for call in output.calls for text in (call.name, call.arguments or "")]
    return any(LEAKDOWN.may_find(each, output.offered_names) for each in texts)


def test_every_finding_has_a_trigger_in_a_channel() -> None:
    def promised(row: Row) -> bool:
        return LEAKDOWN.find(row.output) is None or has_trigger(row.output)

    assert broken(promised, OPEN) == []


PIECES = sorted(
    {piece for row in OPEN for piece in re.findall(r"<[^<>\s]{1,40}>?|\[[A-Z_]{3,}\]|\w+[:=({]|\W", content(row))}
)
WORDS = [
    "Let me ",
    "I'll ",
    "call ",
    "use ",
    "look at ",
    "the file",
    "我来查看文件",
    ":",
    "：",
    " \n",
    "\x1c",
    "\u2003",
]
TEXTS = st.lists(
    st.sampled_from([*PIECES, *WORDS, "ls", "rm", "</tool_call>", '"arguments"', "\ud800"]), max_size=20
).map("".join)


@given(text=TEXTS, tools=st.sampled_from([None, (), (OfferedTool("ls"),)]), reasoning=st.booleans())
def test_no_text_without_a_trigger_is_a_finding(
    text: str, tools: tuple[OfferedTool, ...] | None, reasoning: bool
) -> None:
    output = Output(None if reasoning else text, text if reasoning else None, tools=tools, finish_reason="stop")
    assert LEAKDOWN.find(output) is None or has_trigger(output)


@given(name=st.text(alphabet='abc{}"\n ', max_size=6))
def test_no_structured_call_without_a_trigger_is_a_finding(name: str) -> None:
    output = Output(calls=(Call(name, "{}"),), tools=(OfferedTool("ls"),))
    assert LEAKDOWN.find(output) is None or has_trigger(output)
