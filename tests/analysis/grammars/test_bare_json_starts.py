"""Starts of bare JSON are looked for by the signs before them, and found where one search would find them."""

from hypothesis import given
from hypothesis import strategies as st

from analysis.grammars.bare_json import _START

_PIECES = ("\n", "\r\n", "{", "[", '"name"', ":", '"', " ", "\t", "</think>", "</th", "function call", "function ", "a",
           "```json", "~~~")  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join), st.integers(0, 80))
def test_the_next_start_is_what_a_search_finds(text: str, position: int) -> None:
    expected = _START.pattern.search(text, min(position, len(text)))
    found = _START.search(text, min(position, len(text)))
    assert (found and (found.span(), found.groups())) == (expected and (expected.span(), expected.groups()))
