"""Every head of a call that the end of the text cuts is read, however much of it stands there, up to its name."""

import pytest

from analysis.grammars.cut_openers import CUT_OPENERS, HEADS, Head
from analysis.reading import Scan

NAMES = frozenset({"look"})
BEFORE = 'I look: {"a": 1} </a> and <b>.\n'


@pytest.mark.parametrize("head", [pytest.param(head, id=f"{head.family}: {head.text!r}") for head in HEADS])
def test_every_cut_that_counts_is_read(head: Head) -> None:
    whole = "".join((head.text.partition("{}")[0], "look" if "{}" in head.text else ""))
    least = max(head.least, whole.index("look") + 2 if head.plain else 0)
    for end in range(least, len(whole) + 1):
        if len(whole[:end].rstrip()) < least:
            continue  # blanks at the end of a text are none of it
        [found] = CUT_OPENERS.read(Scan(BEFORE + whole[:end], NAMES))
        assert (found.start, "cut" in found.damage) == (len(BEFORE), True)
