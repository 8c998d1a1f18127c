"""Rule files: what they find, what they refuse, and that no text makes them slow."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.detectors import EVERY, Finding, judge
from analysis.output import Call, OfferedTool, Output
from analysis.registry import fingerprint
from analysis.rules import LIMIT, load, parse
from ingest.errors import UsageError
from tests.analysis.rules.files import CALLS, file
from tests.analysis.stories import dice
from tests.timing import takes_less

TOOLS = (OfferedTool("ls"), OfferedTool("read_file"))


def found(rule: str, content: str | None = None, **output: Any) -> Finding | None:
    """What one rule finds in an output with tools."""
    return judge(parse(file(rule), "rules.toml"), Output(content=content, **{"tools": TOOLS, **output}))


def span(of: Finding | None) -> tuple[int, int] | None:
    return (of.start, of.end) if of else None


@pytest.mark.parametrize(
    ("rule", "content", "where"),
    [
        pytest.param('literals = ["<a>", "<ab>"]', "x <ab> <a>", (2, 6), id="the first of the literals"),
        pytest.param('literals = ["<", "<ab"]', "x <ab>", (2, 5), id="the longest literal of a place"),
        pytest.param('literals = ["a.c"]', "abc a.c", (4, 7), id="a literal is no pattern"),
        pytest.param('literals = ["{tool}"]', "ls {tool}", (3, 9), id="nor a name"),
        pytest.param('literals = ["<a>"]', "😀ü <a>", (3, 6), id="places are code points"),
        pytest.param('literals = ["<a>"]', "\ud800 <a>", (2, 5), id="half a surrogate pair"),
        pytest.param("pattern = '<a>.*'", "<a>b\nc", (0, 4), id="a dot is no line end"),
        pytest.param("pattern = '(?i)<A>'", "x <a>", (2, 5), id="a flag"),
        pytest.param("pattern = '<f={tool}>'", "<f=rm><f=ls>", (6, 12), id="an offered name"),
        pytest.param("pattern = '<f={tool}>'", "<f=l+s>", None, id="no offered name"),
        pytest.param(r"pattern = '\{tool}'", "ls {tool}", (3, 9), id="a brace with a backslash"),
        pytest.param('literals = ["<a>"]', "`<a>` <a>", (6, 9), id="outside code"),
        pytest.param('literals = ["<a>"]', "```\n<a>\n```\n", None, id="in a fence"),
        pytest.param('literals = ["<a>"]\nwhere = "outside fences"', "`<a>`", (1, 4), id="a span is no fence"),
        pytest.param('literals = ["<a>"]\nwhere = "outside fences"', "~~~\n<a>\n~~~", None, id="outside fences"),
        pytest.param('literals = ["<a>"]\nwhere = "inside code"', "<a> `<a>`", (5, 8), id="inside code"),
        pytest.param('literals = ["<a>"]\nwhere = "anywhere"', "`<a>`", (1, 4), id="anywhere"),
        pytest.param("pattern = '<a>[^<]*</a>'", "<a>`b`</a>", (0, 10), id="a match may hold code"),
        pytest.param('literals = ["<a>"]\nposition = "line"', "x <a>\n\t <a>", (8, 11), id="on its own line"),
        pytest.param('literals = ["<a>"]\nposition = "line"', "`x` <a>", None, id="behind code is not a line's start"),
        pytest.param('literals = ["<a>"]\nposition = "start"', " \n<a> x", (2, 5), id="at the start"),
        pytest.param('literals = ["<a>"]\nposition = "start"', "x\n<a>", None, id="not at the start"),
        pytest.param("pattern = '<a>[a-z]+'\nposition = \"whole\"", "\n<a>b \n", (1, 5), id="the whole text"),
        pytest.param("pattern = '<a>[a-z]+'\nposition = \"whole\"", "<a>b c", None, id="not the whole text"),
        pytest.param("pattern = '[a-z]+'\nneeds = ['<']", "abc", None, id="without what it needs"),
        pytest.param("pattern = '[a-z]+'\nneeds = ['<']", "abc <", (0, 3), id="with what it needs"),
    ],
)
def test_where_a_rule_finds(rule: str, content: str, where: tuple[int, int] | None) -> None:
    assert span(found(rule, content)) == where


LITERAL = 'literals = ["<a>"]\n'


@pytest.mark.parametrize(
    ("rule", "output", "finds"),
    [
        pytest.param(LITERAL, {"tools": ()}, False, id="no tools"),
        pytest.param(LITERAL, {"tools": None}, True, id="tools unknown"),
        pytest.param(f"{LITERAL}without_tools = true", {"tools": ()}, True, id="no tools, and none needed"),
        pytest.param(LITERAL, {"calls": (Call("ls"),)}, False, id="a structured call"),
        pytest.param(f"{LITERAL}beside_calls = true", {"calls": (Call("ls"),)}, True, id="beside a structured call"),
        pytest.param(f'{LITERAL}finish = ["length"]', {"finish_reason": "stop"}, False, id="another finish"),
        pytest.param(f'{LITERAL}finish = ["length"]', {"finish_reason": "length"}, True, id="the finish"),
        pytest.param(f'{LITERAL}finish = ["length"]', {}, False, id="no finish"),
        pytest.param(f'{LITERAL}channels = ["reasoning"]', {}, False, id="another channel"),
        pytest.param(f'{LITERAL}channels = ["reasoning"]', {"reasoning": "<a>"}, True, id="the reasoning"),
        pytest.param(
            f'{LITERAL}channels = ["tool_arguments"]', {"calls": (Call("ls", "x<a>"),)}, True, id="the arguments"
        ),
        pytest.param(f'{LITERAL}channels = ["tool_name"]', {"calls": (Call("<a>", "x"),)}, True, id="the name"),
        pytest.param(
            f'{LITERAL}channels = ["content", "tool_name"]', {"calls": (Call("ls"),)}, False, id="words beside a call"
        ),
        pytest.param("pattern = 'a>{tool}|<a>{tool}?'", {"tools": None}, None, id="names twice"),
        pytest.param("pattern = '<a>(?:{tool})?'", {"tools": None}, False, id="a name is needed and none is known"),
        pytest.param(
            "pattern = '<a>(?:{tool})?'",
            {"tools": None, "inferred_names": frozenset({"x"})},
            True,
            id="a name that the run called",
        ),
    ],
)
def test_the_gates_of_a_rule(rule: str, output: dict[str, Any], finds: bool | None) -> None:
    if finds is None:
        with pytest.raises(UsageError, match=r"\{tool\} may stand once"):
            found(rule, "<a>", **output)
    else:
        assert (found(rule, "<a>", **output) is not None) == finds


def test_a_finding_tells_what_the_rule_says_of_it() -> None:
    said = found(
        'pattern = \'<f={tool}>(?P<arguments>[a-z]*)\'\nkind = "malformed_call"\ntier = "certain"\n'
        'family = "mine"\nreason = "it stands there"',
        "Now <f=read_file>abc!",
    )
    assert said == Finding(
        "malformed_call", "mine", "certain", "read_file", "content", 4, 20, "<f=read_file>abc", "it stands there",
        (Call("read_file", "abc"),),
    )  # fmt: skip


def test_without_a_reason_the_rule_says_what_it_saw() -> None:
    said = found(LITERAL, "Now <a>")
    assert said
    assert said.reason == "<a> stands in the content, outside code (tools offered, no structured call)"


def test_what_counts_comes_first_then_the_channel_then_the_place() -> None:
    rules = (
        f'{LITERAL}tier = "possible"\n[[rule]]\nliterals = ["<b>"]\nchannels = ["reasoning", "content"]\n'
        '[[rule]]\nliterals = ["<c>"]'
    )
    texts = [("<a> <b>", "<b>"), ("<a>", "<b>"), ("<a>", None), ("<b> <c>", None), ("<c> <b>", None)]
    markups = [said.markup if (said := found(rules, content, reasoning=why)) else None for content, why in texts]
    assert markups == ["<b>", "<b>", "<a>", "<b>", "<c>"]


@pytest.mark.parametrize(
    ("rules", "triggers"),
    [
        pytest.param(LITERAL, ("<a>", "OWN LEAK"), id="literals"),
        pytest.param("pattern = 'a+'\nneeds = ['x', 'y']", ("x", "y", "OWN LEAK"), id="what a pattern needs"),
        pytest.param("pattern = 'a+'", (EVERY,), id="a pattern without needs sees everything"),
        pytest.param(f"{LITERAL}[[rule]]\npattern = 'a+'", (EVERY,), id="and so does the file"),
    ],
)
def test_the_triggers_of_a_file(rules: str, triggers: tuple[str, ...]) -> None:
    assert parse(file(rules), "rules.toml").triggers == triggers


PIECES = ["<a>", "<b>", "`", "```\n", "\n", " ", "ls", "é", "😀", "<f=ls>"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
MANY = parse(
    file(f"{LITERAL}[[rule]]\npattern = '<f={{tool}}>|b'\nneeds = ['<f=', '<b']\nchannels = ['reasoning', 'content']"),
    "rules.toml",
)


@given(st.builds(Output, content=st.none() | TEXTS, reasoning=st.none() | TEXTS, tools=st.sampled_from([None, TOOLS])))
def test_spans_and_triggers_hold_for_any_text(output: Output) -> None:
    said = judge(MANY, output)
    if said:
        text = (output.content if said.channel == "content" else output.reasoning) or ""
        assert text[said.start : said.end] == said.markup
        assert any(MANY.may_find(each, ()) for each in (output.content, output.reasoning) if each)


HOSTILE = [
    pytest.param("pattern = '<a>(?:x*x*x*x*)*</a>'", "<a>" + "x" * 2**20, id="nested repetition"),
    pytest.param("pattern = '(?s:<a>.*</a>)'", "<a>" * 350_000, id="false starts"),
    pytest.param("pattern = '(?s:(.*)a(.*)b(.*)c(.*)d)'", "abc" * 350_000, id="many groups"),
    pytest.param("pattern = '(?s:a.{140}c)'", "".join(dice(1).choices("ab", k=2**20)), id="many states"),
    pytest.param("pattern = '<f={tool}>'", "<f=nope>" * 130_000, id="names that are not offered"),
    pytest.param(LITERAL, "`<a>` " * 170_000, id="code"),
    pytest.param(f'{LITERAL}position = "line"', "\n  <" * 260_000, id="lines"),
]


@pytest.mark.parametrize(("rule", "text"), HOSTILE)
def test_a_megabyte_takes_less_than_a_second(rule: str, text: str) -> None:
    detector = parse(file(rule), "rules.toml")
    assert takes_less(1, lambda: judge(detector, Output(content=text, tools=TOOLS)))


def test_a_thousand_offered_names_are_no_burden() -> None:
    tools = tuple(OfferedTool(f"mcp__server_{at}__some_tool") for at in range(1000))
    said = found("pattern = '<f={tool}>'", f"{'<f=mcp__server_x>' * 10_000}<f=mcp__server_999__some_tool>", tools=tools)
    assert said
    assert said.tool == "mcp__server_999__some_tool"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("x = ", "no TOML: invalid value (at end of document)", id="no TOML"),
        pytest.param("x = [" * 5000, "no TOML: ", id="nested deeply"),
        pytest.param(file("").replace("[[rule]]", ""), "rule: Field required", id="no rule"),
        pytest.param(file("").replace('"test-rules"', '"Test rules"'), "name: String should match", id="no good name"),
        pytest.param(file(LITERAL).replace("test-rules", "goat"), "'goat' is the name of a built-in", id="built-in"),
        pytest.param(file("literal = ['x']"), "rule 1, literal: Extra inputs are not permitted", id="an unknown key"),
        pytest.param(
            file("literals = ['x']\npattern = 'x'"),
            "rule 1: give literals or a pattern, one of the two",
            id="literals and a pattern",
        ),
        pytest.param(file("literals = []"), "rule 1: give literals or a pattern", id="neither"),
        pytest.param(file("literals = ['']"), "rule 1, literals 1: String should have", id="an empty literal"),
        pytest.param(file("pattern = '(a'"), "rule 1, pattern: no pattern of RE2: missing ): (a", id="no pattern"),
        pytest.param(file("pattern = '(?=a)'"), "rule 1, pattern: no pattern of RE2: invalid perl", id="a look-ahead"),
        pytest.param(file("pattern = 'a*'"), "rule 1, pattern: it matches an empty text", id="a pattern of nothing"),
        pytest.param(file(r"pattern = '\p{L}{1,200}'"), "rule 1, pattern: too large: ", id="a large pattern"),
        pytest.param(file(f"{LITERAL}tier = 'sure'"), "rule 1, tier: Input should be 'certain'", id="no tier"),
        pytest.param(file(f"{LITERAL}kind = 'leak'"), "rule 1, kind: Input should be", id="no kind"),
        pytest.param(file(f"{LITERAL}needs = ['x']"), "rule 1: needs is for a pattern", id="literals with needs"),
        pytest.param(
            file(LITERAL, leak="x"), "leak 1 (it leaks): no rule finds it", id="a leak that is not found"
        ),
        pytest.param(
            file(f"{LITERAL}tier = 'possible'", leak="<a>"),
            "leak 1 (it leaks): found, but only at tier possible, which is not counted; say tier = 'possible'",
            id="a leak that does not count",
        ),
        pytest.param(
            file(LITERAL, leak="<a>", more='markup = "<b>"'), "leak 1 (it leaks): its markup is '<a>', not '<b>'",
            id="another markup",
        ),
        pytest.param(
            file(LITERAL, clean="y <a>"), "clean 1 (it is clean): the rules find '<a>' in it: ", id="a clean one found"
        ),
        pytest.param(f"# {'x' * LIMIT}", f"over {LIMIT:,} bytes", id="too large"),
    ],
)  # fmt: skip
def test_what_is_refused_and_why(text: str, told: str) -> None:
    with pytest.raises(UsageError) as fault:
        parse(text, "rules.toml")
    assert str(fault.value).startswith("rules.toml: ")
    assert told in str(fault.value)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        pytest.param(lambda _: None, "cannot be read (no such file or directory)", id="no file"),
        pytest.param(lambda path: path.mkdir(), "cannot be read (is a directory)", id="a folder"),
        pytest.param(lambda path: path.write_bytes(b"name = '\xff'"), "byte 8 is no UTF-8", id="no UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read(make: Any, told: str, tmp_path: Path) -> None:
    make(tmp_path / "rules.toml")
    with pytest.raises(UsageError, match=r"rules\.toml: ") as fault:
        load(tmp_path / "rules.toml")
    assert told in str(fault.value)


def test_a_changed_file_is_another_version_and_line_ends_are_not(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(CALLS.encode())
    (tmp_path / "b.toml").write_bytes(CALLS.replace("\n", "\r\n").encode())
    (tmp_path / "c.toml").write_bytes(f"{CALLS}# more\n".encode())
    first, second, third = (load(tmp_path / f"{name}.toml") for name in "abc")
    assert first.id == second.id != third.id
    assert fingerprint(first) == fingerprint(second) != fingerprint(third)
    assert first.id.startswith("test-rules@sha-")
    assert first.brought
    assert first.brought.rules == CALLS
