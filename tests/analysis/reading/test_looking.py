"""The quick ways to look through a text find what the plain ones do."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.grammars import grammars
from analysis.reading.held import Literals
from analysis.reading.starts import Starts

ANCHORS = sorted({anchor for grammar in grammars() for anchor in grammar.anchors})
PIECES = st.sampled_from(["<", "|", "_", "{", '"', "tool", "\0", "x" * 40, *ANCHORS])
CUT = st.builds(lambda anchor, at: anchor[at:], st.sampled_from(ANCHORS), st.integers(0, 6))

WORDS = Starts(re.compile(r"(?:^|(?<=END))[ ]*\w|\[{2}", re.MULTILINE), re.compile(r"\[|(?P<behind>\n|END)"), longest=3)


@given(st.lists(PIECES | CUT | st.text(max_size=3), max_size=12).map("".join))
def test_the_literals_that_a_text_holds_are_those_that_stand_in_it(text: str) -> None:
    assert set(Literals(ANCHORS).held(text)) == {anchor for anchor in ANCHORS if anchor in text}


@pytest.mark.parametrize(
    ("literals", "text", "held"),
    [
        pytest.param(["<", "ab"], "xaby<", {"<", "ab"}, id="a sign alone, and a literal without a sign"),
        pytest.param(["a<b", "b<a"], "a<a<b", {"a<b"}, id="around a sign on both sides"),
        pytest.param(["<aaaa", "aaaa<"], "<aa<aa<aaa", set(), id="pieces that stand apart are none"),
        pytest.param(["<ab", "ab>"], "<" + "ab" + "-" * 90 + "ab>", {"<ab", "ab>"}, id="far apart"),
        pytest.param(["<ab"], "", set(), id="nothing in nothing"),
        pytest.param(["<｜a", "｜"], "\ud800<｜a", {"<｜a", "｜"}, id="behind half a surrogate pair"),
        pytest.param(["a.c", "[ab]"], "abc a b", set(), id="no literal is a pattern"),
    ],
)
def test_literals(literals: list[str], text: str, held: set[str]) -> None:
    assert set(Literals(literals).held(text)) == held


@given(
    st.lists(st.sampled_from(["\n", "END", "EN", "[", " ", "a", "\r"]), max_size=12).map("".join), st.integers(0, 20)
)
def test_starts_are_found_from_any_position(text: str, position: int) -> None:
    """Also from within a sign, and right behind one."""
    plain, quick = WORDS.pattern.search(text, position), WORDS.search(text, position)
    assert (plain and plain.span()) == (quick and quick.span())
