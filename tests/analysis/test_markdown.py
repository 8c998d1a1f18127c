"""Markdown code regions: the rules one by one, and CommonMark's reading of many texts."""

import json
import re
from pathlib import Path

import pyromark
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from analysis.markdown import Region, code_regions, fences, outside

# Texts that hold no HTML block, no indented code and no link; the name of each says what is true of it.
EXAMPLES: dict[str, str] = json.loads(Path(__file__).with_name("commonmark_examples.json").read_text("utf-8"))

Codes = list[tuple[int, int, str]]


def codes(regions: tuple[Region, ...]) -> Codes:
    return [(region.start, region.end, region.kind) for region in regions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="an empty text"),
        pytest.param("a\n```\nb\n```\nc", [("fence", "```\nb\n```")], id="a fence, without its line ending"),
        pytest.param("```\na\n```  \nb", [("fence", "```\na\n```  ")], id="blanks behind the closer"),
        pytest.param("```\na\n```\t\nb", [("fence", "```\na\n```\t")], id="a tab behind the closer"),
        pytest.param("```\na\n\n", [("fence", "```\na\n")], id="an unclosed fence runs to the last line"),
        pytest.param("```", [("fence", "```")], id="an opener alone"),
        pytest.param("```\ra\r```\rb", [("fence", "```\ra\r```")], id="CR alone ends lines"),
        pytest.param("```\r\na\r\n```\r\nb", [("fence", "```\r\na\r\n```")], id="CRLF ends lines"),
        pytest.param("```\r\na\r\n", [("fence", "```\r\na")], id="an unclosed fence ends before its CRLF"),
        pytest.param("``` a`\nb", [], id="a backtick in the info string of backticks: no fence"),
        pytest.param("~~~ a`\nb", [("fence", "~~~ a`\nb")], id="a backtick in the info string of tildes"),
        pytest.param("````\na\n```\nb", [("fence", "````\na\n```\nb")], id="a closer too short"),
        pytest.param("```\na\n``` b\nc", [("fence", "```\na\n``` b\nc")], id="a closer with trailing text"),
        pytest.param("```\na\n~~~\nb", [("fence", "```\na\n~~~\nb")], id="a closer of the other character"),
        pytest.param("~~\na\n~~", [], id="two tildes"),
        pytest.param("```ls```", [("span", "```ls```")], id="a span of three backticks at a line's start"),
        pytest.param("   ```\na", [("fence", "```\na")], id="three columns of indent open a fence"),
        pytest.param("    ```\na", [], id="four columns of indent open none"),
        pytest.param("\t~~~\na", [], id="nor does a tab"),
        pytest.param(" \t~~~\na", [], id="a tab goes to the fourth column"),
        pytest.param("-\t```\n\ta", [("fence", "```\n\ta")], id="a tab behind a marker goes there too"),
        pytest.param("```\ra\r", [("fence", "```\ra")], id="an unclosed fence ends before its CR"),
        pytest.param("```\n    ```\na", [("fence", "```\n    ```\na")], id="four columns of indent close none"),
        pytest.param("> ```\n> a\n\nb", [("fence", "```\n> a")], id="a fence ends with its quote"),
        pytest.param("> ```\na\n", [("fence", "```")], id="a fence has no lazy lines"),
        pytest.param("- ```\n  a\n b", [("fence", "```\n  a")], id="a fence ends with its item"),
        pytest.param("- ```\n\n  a", [("fence", "```\n\n  a")], id="a fence in an item holds blank lines"),
        pytest.param("-\n\n  ```\na", [("fence", "```\na")], id="an item that starts with two blank lines ends"),
        pytest.param("-\n  ```\na", [("fence", "```")], id="an item may start with one"),
        pytest.param("-\n   \n  ```\na", [("fence", "```\na")], id="blanks do not fill an item's second line"),
        pytest.param("-    ```\na", [("fence", "```")], id="four blanks behind a marker are its own"),
        pytest.param("-     ```\na", [], id="of five blanks behind a marker it takes one"),
        pytest.param("10. a\n\n   ```\nb", [("fence", "```\nb")], id="a wide marker asks for as wide an indent"),
        pytest.param("a `b\nc` d", [("span", "`b\nc`")], id="a span over a line break"),
        pytest.param("a `b\n\nc` d", [], id="no span over a blank line"),
        pytest.param("a `b\n# c` d", [], id="no span into a heading"),
        pytest.param("a `b\n---\nc` d", [], id="no span over a heading's underline"),
        pytest.param("a `b\n> c` d", [], id="no span into a quote"),
        pytest.param("a `b\n- c` d", [], id="no span into an item"),
        pytest.param("a `b\n***\nc` d", [], id="no span over a thematic break"),
        pytest.param("a `b\n~~~\nc` d", [("fence", "~~~\nc` d")], id="no span over a fence"),
        pytest.param("> a `b\n> c` d", [("span", "`b\n> c`")], id="a span covers the quote mark inside it"),
        pytest.param("> > a `b\nc` d", [("span", "`b\nc`")], id="a span over a lazy line"),
        pytest.param("a ` b", [], id="a lone backtick"),
        pytest.param("`` a ` b", [], id="runs of different length"),
        pytest.param("\\`a`b`", [("span", "`b`")], id="an escaped backtick opens nothing"),
        pytest.param("\\``a`", [("span", "`a`")], id="what follows an escaped backtick is a run of its own"),
        pytest.param("`a\\`b`", [("span", "`a\\`")], id="no escapes inside a span"),
        pytest.param('<a b="`">`', [], id="an attribute hides a backtick"),
        pytest.param('`<a b="`">', [("span", '`<a b="`')], id="a span hides a tag"),
        pytest.param("<a\f b='`'>`", [("span", "`'>`")], id="a form feed is no blank of a tag"),
        pytest.param("<http://a`>`", [], id="an autolink hides a backtick"),
        pytest.param("<a@b`.c>`", [("span", "`.c>`")], id="a host of an address holds no backtick"),
        pytest.param("<![CDATA[`]>`]]>`a`", [("span", "`a`")], id="CDATA ends at two brackets"),
        pytest.param("<![CDATA[`]>`", [("span", "`]>`")], id="unclosed CDATA hides nothing"),
        pytest.param("    `a`\n", [("span", "`a`")], id="indented code excuses nothing and hides nothing"),
        pytest.param("\n    a `b\n    c` d", [("span", "`b\n    c`")], id="indented code is paragraph text"),
        pytest.param("\n    - `a\n    - b`", [("span", "`a\n    - b`")], id="no item starts in indented code"),
        pytest.param("<div>\n`a`\n```\nb", [("span", "`a`"), ("fence", "```\nb")], id="an HTML block hides nothing"),
        pytest.param("<pre>\n\n`a`</pre>", [("span", "`a`")], id="nor does one that may hold blank lines"),
        pytest.param("[a](b`c) `d`", [("span", "`c) `")], id="a link's destination is text"),
        pytest.param("`a\u2028\u2028b`", [("span", "`a\u2028\u2028b`")], id="U+2028 ends no line"),
        pytest.param("```\u2028`\n", [], id="U+2028 ends no info string"),
        pytest.param("`a\n\u3000\nb`", [("span", "`a\n\u3000\nb`")], id="an ideographic space is no blank"),
        pytest.param("`a\n\f\nb`", [("span", "`a\n\f\nb`")], id="a form feed is no blank line"),
        pytest.param("`a\n#\u00a0b`", [("span", "`a\n#\u00a0b`")], id="a no-break space makes no heading"),
        pytest.param("`a\n1٠. b`", [("span", "`a\n1٠. b`")], id="only ASCII digits number an item"),
        pytest.param("\ud800`\udfff`\x00", [("span", "`\udfff`")], id="lone surrogates and NUL are text"),
        pytest.param("é😀`a`", [("span", "`a`")], id="positions are code points"),
    ],
)
def test_each_rule_gives_exactly_these_regions(text: str, expected: list[tuple[str, str]]) -> None:
    found = code_regions(text)
    assert [(region.kind, text[region.start : region.end]) for region in found] == expected


def test_positions_are_those_of_the_original_text() -> None:
    text = "é `a`\r\n\r\n> ~~~\r\n> b\r\n\r\n`c`"
    assert codes(code_regions(text)) == [(2, 5, "span"), (11, 19, "fence"), (23, 26, "span")]


def test_a_fence_filter_leaves_out_spans() -> None:
    assert fences(code_regions("`a`\n```\nb\n")) == (Region(4, 9, "fence"),)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_the_examples_read_as_in_commonmark(name: str, ending: str) -> None:
    text = EXAMPLES[name].replace("\n", ending)
    expected = commonmark_codes(text)
    assert expected is not None
    assert comparable(text, codes(code_regions(text))) == expected


PIECES = (
    *("`", "``", "```", "````", "~~~", "~~~~", "~~"),
    *(">", "> ", "- ", "-", "* ", "+ ", "1. ", "2. ", "0) ", "12) ", "1."),
    *("\n", "\n", "\n\n", "\r\n", "\r", " ", "  ", "    ", "\t"),
    *("# ", "## ", "#", "=", "===", "---", "***", "- - -", "_ _ _"),
    *("<a b='", "'>", '<a b="', '">', "<a\n", "</b>", "<", ">", "<!--", "-->", "<?", "?>", "<!X"),
    *("<http://x`y>", "<a`b@c.d>", "\\", "\\`", "a", "b c", "é", "\u2028", "\u00a0", "\u3000", "\x85", "\0", "😀"),
)
MARKDOWN = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


@settings(max_examples=3000, deadline=None)
@given(MARKDOWN)
def test_any_text_reads_as_in_commonmark(text: str) -> None:
    expected = commonmark_codes(text)
    assume(expected is not None)
    assert comparable(text, codes(code_regions(text))) == expected


@given(MARKDOWN)
def test_each_line_ending_reads_like_every_other(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    expected = code_regions(lines)
    assert code_regions(lines.replace("\n", "\r")) == expected
    shifted = [
        (position + lines[:position].count("\n") for position in (region.start, region.end)) for region in expected
    ]
    crlf = code_regions(lines.replace("\n", "\r\n"))
    assert [(region.start, region.end) for region in crlf] == [tuple(bounds) for bounds in shifted]


@given(st.one_of(MARKDOWN, st.text(st.characters()), st.text(st.sampled_from("`~\n> -\ud800\0"))))
def test_regions_of_any_text_are_in_order_and_bear_their_delimiters(text: str) -> None:
    end = 0
    for region in code_regions(text):
        assert end <= region.start < region.end <= len(text)
        end = region.end
        code = text[region.start : region.end]
        if region.kind == "fence":
            assert code.startswith(("```", "~~~"))
        else:
            length = len(code) - len(code.lstrip("`"))
            assert 0 < length == len(code) - len(code.rstrip("`"))


@given(MARKDOWN, st.lists(st.integers(0, 80)).map(sorted))
def test_outside_yields_the_positions_in_no_region(text: str, positions: list[int]) -> None:
    regions = code_regions(text)
    inside = {position for region in regions for position in range(region.start, region.end)}
    assert list(outside(positions, regions)) == [place for place in positions if place not in inside]


def commonmark_codes(text: str) -> Codes | None:
    """What pyromark (pulldown-cmark) reads as code; None where a declared difference is involved.

    That is an HTML block, indented code, a link or image with a destination, a link reference definition. A quote
    mark behind a tab is one more: pyromark 0.10 takes it for one at any indent, CommonMark (5.1) up to three columns.
    """
    text = as_pyromark_reads_commonmark(text)
    if pyromark.reference_definitions(text) or re.search(r"\t[ \t]*>", text):
        return None
    found: Codes = []
    for event, span in pyromark.events_with_range(text):
        bounds = characters(text, span["start"]), characters(text, span["end"])
        match event:
            case {"Code": _}:
                found.append((*bounds, "span"))
            case {"Start": {"CodeBlock": {"Fenced": _}}}:
                found.append((*bounds, "fence"))
            case {"Start": "HtmlBlock" | {"CodeBlock": "Indented"} | {"Image": _}}:
                return None
            case {"Start": {"Link": {"link_type": kind}}} if kind not in ("Autolink", "Email"):
                return None
    return comparable(text, found)


def as_pyromark_reads_commonmark(text: str) -> str:
    """The same text, of the same length, where pyromark 0.10 departs from CommonMark 0.31 (2.1 and 4.5).

    It takes no CR for the end of an info string and no tab behind a closing fence. What else it takes otherwise
    is in no text it is asked about: form feeds and vertical tabs (blanks to it) and `]>` in CDATA (its end).
    """
    lines = re.sub(r"\r(?!\n)", "\n", text)
    return re.sub(r"(?<=```|~~~)[ \t]+(?=[\r\n]|\Z)", lambda blanks: " " * len(blanks[0]), lines)


def characters(text: str, offset: int) -> int:
    """The code points in the first `offset` bytes of `text` as UTF-8."""
    return len(text.encode()[:offset].decode())


def comparable(text: str, found: Codes) -> Codes:
    """Without what follows the last content: pyromark counts line endings, blanks and quote marks to a block."""
    ends = {"fence": " \t\r\n>", "span": " \t"}
    return [(start, start + len(text[start:end].rstrip(ends[kind])), kind) for start, end, kind in found]
