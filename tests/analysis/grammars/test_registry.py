"""Every grammar reads its own examples, and nothing where none of its anchors stands."""

import pytest

from analysis.grammars import Grammar, grammars, readings
from analysis.reading import Scan

NAMES = frozenset({"look", "click"})
EXAMPLES = [
    pytest.param(family, text, id=family) for grammar in grammars() for family, text in grammar.examples.items()
]
TEXTS = [pytest.param(text, id=family) for grammar in grammars() for family, text in grammar.examples.items()]


@pytest.mark.parametrize(("family", "text"), EXAMPLES)
def test_an_example_is_read_whole(family: str, text: str) -> None:
    [reading] = readings(text, NAMES)
    assert (reading.family, reading.start, reading.end, reading.damage) == (family, 0, len(text), frozenset())
    assert all(call.name in NAMES and call.arguments for call in reading.calls)


@pytest.mark.parametrize("text", TEXTS)
def test_an_example_stands_in_prose(text: str) -> None:
    """Prose before it, more of the reply behind it: the span is the same markup."""
    around = f"I will look.\n\n{text}\n\nThat is all."
    assert text in [around[each.start : each.end] for each in readings(around, NAMES)]


@pytest.mark.parametrize(("family", "text"), EXAMPLES)
def test_line_ends_may_be_carriage_returns(family: str, text: str) -> None:
    [reading] = readings(text.replace("\n", "\r\n"), NAMES)
    assert reading.family == family
    assert [call.arguments for call in reading.calls] == [call.arguments for call in readings(text, NAMES)[0].calls]


@pytest.mark.parametrize("text", TEXTS)
def test_no_prefix_tells_more_than_the_whole(text: str) -> None:
    """Cut anywhere: what is said to have closed has the whole's value."""
    whole = [pair for call in readings(text, NAMES)[0].calls for pair in (call.arguments or {}).items()]
    for end in range(len(text)):
        for reading in readings(text[:end], NAMES):
            for call in reading.calls:
                assert all(pair in whole for pair in call.closed.items())


@pytest.mark.parametrize("grammar", [pytest.param(each, id=each.families[0]) for each in grammars()])
def test_a_grammar_is_found_by_its_anchors(grammar: Grammar) -> None:
    """Read without the prefilter, an example of any family has readings only if an anchor or a name stands in it."""
    texts = [text for each in grammars() for text in each.examples.values()]
    for text in [
        *texts,
        *(text[cut:] for text in texts for cut in (1, 5, 12)),
        *(text[:-cut] for text in texts for cut in (1, 9)),
    ]:
        if list(grammar.read(Scan(text, NAMES))):
            anchored = any(anchor in text for anchor in grammar.anchors)
            assert anchored or (grammar.by_name and any(name in text for name in NAMES))


def test_anchors_are_rare_words() -> None:
    """None stands in an ordinary answer with code, so that most outputs cost a search and no reading: but for the key
    that a cut JSON call may end behind, of which no more than the end of the text is looked at."""
    ordinary = (
        "I renamed the tool and ended the function calls at the end. To run it: `make test > out.txt`.\n\n"
        '```html\n<p class="a">x</p>\n<script>function f() { return {"name": "x"}; }</script>\n```\n\n'
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\ndef tool_call(parameter=1):\n    return [f(x) for x in y]\n```\n"
    )
    assert [anchor for grammar in grammars() for anchor in grammar.anchors if anchor in ordinary] == ['"name"']


def test_an_anchor_holds_one_sign_that_is_folded_at_most() -> None:
    """So that all spellings of a token, mixed ones too, have an anchor."""
    folded = [anchor for grammar in grammars() if "｜" in "".join(grammar.anchors) for anchor in grammar.anchors]
    assert [anchor for anchor in folded if sum(map(anchor.count, "|_｜‖▁")) > 1] == []
