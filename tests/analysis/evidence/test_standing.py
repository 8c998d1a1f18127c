"""Where a reading stands in its text: as a call would, or quoted, explained, escaped, reviewed."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.evidence.standing import Standing, standing, standings
from analysis.markdown import code_regions
from analysis.reading import Reading

CALL = "<tool_call>x</tool_call>"


def stand(text: str, fenced: bool = False) -> Standing:
    """The standing of the first call in `text`; the further ones are the other readings."""
    starts = [at for at in range(len(text)) if text.startswith(CALL, at)]
    first, *others = (Reading("f", at, at + len(CALL), (), fenced=fenced) for at in starts)
    return standing(text, first, code_regions(text), others)


def told(found: Standing) -> tuple[bool, ...]:
    """Every answer that it gives."""
    own = (found.coded, found.quoted, found.inline, found.line_start, found.before, found.after, found.announced)
    return (*own, found.trailing, found.led, found.colon, found.discussed, found.waiting, found.working)


@pytest.mark.parametrize(
    ("text", "coded"),
    [
        pytest.param(f"```\n{CALL}\n```", True, id="a fence of backticks"),
        pytest.param(f"~~~xml\n{CALL}\n~~~", True, id="a fence of tildes"),
        pytest.param(f"- so:\n\n  ```\n  {CALL}\n  ```", True, id="a fence in a list"),
        pytest.param(f"```\n{CALL}", True, id="a fence that nothing closes"),
        pytest.param(f"The tag `{CALL}` opens it.", True, id="a code span"),
        pytest.param(f"The tag `` ` {CALL} `` opens it.", True, id="a code span of two backticks"),
        pytest.param(f"`{CALL}", False, id="one backtick alone"),
        pytest.param(f"    {CALL}", False, id="indented code excuses nothing"),
        pytest.param(f"```\ncode\n```\n{CALL}", False, id="behind a fence"),
        pytest.param(CALL, False, id="plain"),
    ],
)
def test_coded(text: str, coded: bool) -> None:
    assert stand(text).coded == coded


def test_a_fence_that_is_the_readings_own_does_not_code_it() -> None:
    text = f"```tool_code\n{CALL}\n```"
    reading = Reading("gemma3_prompted", 0, len(text), (), fenced=True)
    assert not standing(text, reading, code_regions(text)).coded


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param('"', '"', id="straight double"),
        pytest.param("'", "'", id="straight single"),
        pytest.param("“", "”", id="curly double"),
        pytest.param("‘", "’", id="curly single"),
        pytest.param("«", "»", id="guillemets"),
        pytest.param("„", "“", id="German"),
        pytest.param("「", "」", id="Japanese"),
        pytest.param("(", ")", id="parentheses"),
    ],
)
def test_quoted_takes_both_marks(before: str, after: str) -> None:
    assert stand(f"The reply was {before}{CALL}{after} and no more.").quoted
    assert not stand(f"The reply was {before}{CALL} and no more.").quoted
    assert not stand(f"The reply was {CALL}{after} and no more.").quoted


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        pytest.param(f"> {CALL}", True, id="a block quote"),
        pytest.param(f"He wrote:\n> so {CALL}", True, id="prose before it in the quote"),
        pytest.param(f"  > {CALL}", True, id="an indented block quote"),
        pytest.param(f">>>{CALL}", False, id="the marker of a family, which looks like a quote in a quote"),
        pytest.param(f"+ {CALL}", True, id="an added line of a diff"),
        pytest.param(f"-{CALL}", True, id="a removed line of a diff"),
        pytest.param(f"\\{CALL}", True, id="an escape"),
        pytest.param(f"+ more {CALL}", False, id="a plus further off"),
        pytest.param(CALL, False, id="plain"),
        pytest.param(f"\n\n{CALL}\n\n", False, id="line ends on both sides are no quotation marks"),
    ],
)
def test_quoted_by_its_line(text: str, quoted: bool) -> None:
    assert stand(text).quoted == quoted


@pytest.mark.parametrize(
    ("text", "inline", "line_start"),
    [
        pytest.param(CALL, False, True, id="alone"),
        pytest.param(f"It said {CALL} then.", True, False, id="words on both sides"),
        pytest.param(f"Let me see. {CALL}", False, False, id="words before it"),
        pytest.param(f"{CALL} and so on", False, True, id="words behind it"),
        pytest.param(f"It said\n{CALL}\nthen.", False, True, id="words on other lines"),
        pytest.param(f"\t {CALL}", False, True, id="blanks before it"),
        pytest.param(f"- {CALL} !", False, False, id="signs are no words"),
        pytest.param(f"天气 {CALL} 天气", True, False, id="words of another script"),
    ],
)
def test_inline_and_line_start(text: str, inline: bool, line_start: bool) -> None:
    found = stand(text)
    assert (found.inline, found.line_start) == (inline, line_start)


@pytest.mark.parametrize(
    "lead",
    [
        pytest.param("For example:", id="English"),
        pytest.param("A call looks like this:", id="it looks like this"),
        pytest.param("The model emits ", id="what a model emits"),
        pytest.param("The parser expects ", id="what a parser expects"),
        pytest.param("Zum Beispiel:", id="German"),
        pytest.param("Hier ist ein Beispiel:", id="German, a noun"),
        pytest.param("Par exemple :", id="French"),
        pytest.param("Por ejemplo:", id="Spanish"),
        pytest.param("例如：", id="Chinese"),
        pytest.param("例えば、", id="Japanese"),
        pytest.param("**Example**", id="a heading in bold"),
        pytest.param("EXAMPLE", id="capitals"),
        pytest.param("It has this format:", id="a format that is shown"),
        pytest.param("The schema of a call", id="a schema that is shown"),
    ],
)
def test_announced(lead: str) -> None:
    assert stand(f"{lead}{CALL}").announced
    assert stand(f"{lead}\n{CALL}").announced
    assert stand(f"{lead}\n\n{CALL}").announced


@pytest.mark.parametrize(
    "lead",
    [
        pytest.param("Let me look.", id="narration"),
        pytest.param("I'll write down the steps.", id="the agent writes"),
        pytest.param("I will print the report now.", id="the agent prints"),
        pytest.param("I need more information.", id="a format within a word"),
        pytest.param("", id="nothing"),
        pytest.param("I need the schema first.", id="a schema that is wanted"),
        pytest.param("I'll fill in the template now.", id="a template that is filled"),
        pytest.param("For example, tests help.\nNow I run them.", id="an example a line further up"),
        pytest.param("An example " + "of a long story " * 8, id="an example far before"),
    ],
)
def test_not_announced(lead: str) -> None:
    assert not stand(f"{lead}\n{CALL}").announced


@pytest.mark.parametrize(
    ("text", "before", "after", "trailing"),
    [
        pytest.param(CALL, False, False, True, id="whole"),
        pytest.param(f"\n {CALL} \n", False, False, True, id="whole, with blanks around"),
        pytest.param(f"Let me see.\n{CALL}", True, False, True, id="after narration"),
        pytest.param(f"Let me see.{CALL}", True, False, True, id="hanging on narration"),
        pytest.param(f"the tag {CALL}", True, False, False, id="a word and a blank lead up to it"),
        pytest.param(f"{CALL}\nIt is 5 degrees.", False, True, False, id="prose behind it"),
        pytest.param(f"{CALL}\n{CALL}", False, False, False, id="another reading is no prose"),
        pytest.param(f"{CALL}\nand\n{CALL}", False, True, False, id="a word between readings"),
        pytest.param(f"{CALL}\n--- 5 ---", False, False, False, id="signs and digits are no words"),
    ],
)
def test_before_after_and_trailing(text: str, before: bool, after: bool, trailing: bool) -> None:
    found = stand(text)
    assert (found.before, found.after, found.trailing) == (before, after, trailing)
    assert found.whole == (not before and not after)


@given(before=st.text(max_size=40), after=st.text(max_size=40))
def test_any_surroundings_are_answered(before: str, after: str) -> None:
    found = stand(f"{before}{CALL}{after}")
    assert found.before == bool(before.strip())
    if found.trailing:
        assert not after.strip()


def test_many_readings_are_answered_as_each_alone() -> None:
    text = f"Let me see. {CALL}\n\n{CALL} and\n> {CALL}\n```\n{CALL}\n```\n{CALL}"
    starts = [at for at in range(len(text)) if text.startswith(CALL, at)]
    found = [Reading("f", at, at + len(CALL), ()) for at in starts]
    code = code_regions(text)
    each = [standing(text, one, code, [other for other in found if other is not one]) for one in found]
    assert list(map(told, standings(text, found, code))) == list(map(told, each))
    assert [one.after for one in each] == [True, True, False, False, False]
    assert [one.coded for one in each] == [False, False, False, True, False]


@pytest.mark.parametrize(
    "line", [pytest.param(f"{CALL}\n", id="a line each"), pytest.param(CALL, id="all on one line")]
)
def test_four_times_the_readings_take_less_than_eight_times_as_long(line: str) -> None:
    def seconds(count: int) -> float:
        text = line * count
        found = [Reading("f", at * len(line), at * len(line) + len(CALL), ()) for at in range(count)]
        began = process_time()
        list(map(told, standings(text, found, ())))
        return process_time() - began

    assert min(seconds(8_000) for _ in range(3)) < 8 * min(seconds(2_000) for _ in range(3))


def test_behind_a_closed_thought_a_line_begins() -> None:
    assert stand(f"I think.</think>{CALL}").line_start
    assert not stand(f"I think. {CALL}").line_start
