"""Gates hold what their expression says, fail on what they cannot know, and say where an expression is wrong."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.gate_syntax import DEEPEST
from analysis.gates import Gate, markdown
from ingest.errors import UsageError

REPORT: dict[str, Any] = {
    "population": {"generations": 1358, "left_out": {"no_output": 11}},
    "labelled": {"n": 9, "candidate": {"recall": 0.75, "recall_low": None}, "mcnemar_p": 0.0, "new_fp": 0},
    "disagreements": [{"truth": None, "generation_id": "g1"}, {"truth": True}],
    "seconds": 1.5,
}


@pytest.mark.parametrize(
    ("expression", "failed"),
    [
        pytest.param("labelled.new_fp > 0", False, id="greater, and it is not"),
        pytest.param("labelled.new_fp >= 0", True, id="at least"),
        pytest.param("labelled.candidate.recall < 0.9", True, id="less"),
        pytest.param("labelled.candidate.recall <= .75", True, id="at most, a number without a zero"),
        pytest.param("labelled.n == 9.0", True, id="equal, an integer and a fraction"),
        pytest.param("labelled.n != 9", False, id="unequal"),
        pytest.param("0.9 > labelled.candidate.recall", True, id="the number first"),
        pytest.param("labelled.n < population.generations", True, id="two figures"),
        pytest.param("labelled.mcnemar_p < -1e-3", False, id="a negative number with an exponent"),
        pytest.param("labelled.mcnemar_p<+1", True, id="no blanks, a plus"),
        pytest.param(" ( labelled.n\n>\t1 ) ", True, id="blanks of all kinds"),
        pytest.param("labelled.n > 99 or seconds > 1", True, id="or: the second"),
        pytest.param("labelled.n > 9 and seconds > 1", False, id="and: the first does not hold"),
        pytest.param("not labelled.n > 9", True, id="not"),
        pytest.param("not not labelled.n > 9", False, id="not twice"),
        pytest.param("seconds > 1 or seconds > 2 and labelled.n > 9", True, id="and binds closer than or"),
        pytest.param("(seconds > 1 or seconds > 2) and labelled.n > 9", False, id="brackets"),
        pytest.param("not seconds > 2 and labelled.n > 9", False, id="not binds closest"),
        pytest.param("population.left_out.no_output == 11", True, id="a figure further in"),
        pytest.param("notable > 1 or seconds > 1", True, id="a name that begins with a word is a name"),
    ],
)
def test_a_gate_fails_where_its_expression_holds(expression: str, failed: bool) -> None:
    ruling = Gate.parse(expression).judge({**REPORT, "notable": 0})
    assert (ruling.failed, ruling.faults) == (failed, ())


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        pytest.param(
            "labelled.candidate.recall_low < 0.9",
            "labelled.candidate.recall_low is null: there was nothing to compute it from",
            id="null",
        ),
        pytest.param("not labelled.candidate.recall_low < 0.9", "recall_low is null", id="null, turned round"),
        pytest.param("labelled.n > 99 and labelled.candidate.recall_low < 1", "is null",
                     id="null where it would not matter"),
        pytest.param("labelled.n > 0 or labelled.nwe_fp > 0",
                     "column 19: no figure labelled.nwe_fp; labelled has n, candidate, mcnemar_p, new_fp", id="a typo"),
        pytest.param("lebelled.n > 0", "column 1: no figure lebelled.n; the report has population, labelled,",
                     id="a typo in the first name"),
        pytest.param("labelled > 0", "column 1: labelled is no number but an object of n, candidate,", id="an object"),
        pytest.param("disagreements > 0", "disagreements is no number but a list", id="a list"),
        pytest.param("disagreements.1.truth > 0", "disagreements.1.truth is no number but true", id="a truth"),
        pytest.param("disagreements.0.generation_id > 0", "is no number but a text", id="a text"),
        pytest.param("disagreements.0.truth.x > 0", "disagreements.0.truth is null", id="within null"),
        pytest.param("disagreements.9.truth > 0", "disagreements is a list of 2, counted from 0", id="beyond a list"),
        pytest.param("disagreements.truth > 0", "disagreements is a list of 2", id="a name in a list"),
        pytest.param("labelled.n.x > 0", "no figure labelled.n.x; labelled.n is the number 9", id="within a number"),
        pytest.param("population.left_out.x > 0", "population.left_out has no_output", id="a reason that is not there"),
    ],
)  # fmt: skip
def test_what_is_not_known_fails_the_gate_and_is_said(expression: str, fault: str) -> None:
    ruling = Gate.parse(expression).judge(REPORT)
    assert ruling.failed
    [told] = ruling.faults
    assert fault in told
    assert told in str(ruling)
    assert told in markdown(ruling.as_json())


def test_every_unknown_figure_is_told_once() -> None:
    ruling = Gate.parse("a > 1 or b < 1 or a < 0").judge({"n": 1})
    assert ruling.faults == ("column 1: no figure a; the report has n", "column 10: no figure b; the report has n")
    assert ruling.figures == {"a": None, "b": None}


@pytest.mark.parametrize(
    ("expression", "column", "why"),
    [
        pytest.param("", 1, "expected a figure", id="nothing"),
        pytest.param("  ", 3, "expected a figure", id="blanks"),
        pytest.param("labelled.n", 11, "expected one of < <=", id="no comparison"),
        pytest.param("labelled.n >", 13, "found the end", id="half a comparison"),
        pytest.param("labelled.n > 0 labelled.n > 1", 16, "the end, found 'labelled.n'", id="no and"),
        pytest.param("labelled.n > 0 or", 18, "found the end", id="nothing after or"),
        pytest.param("labelled.n > or 3", 14, "found 'or'", id="a word for a value"),
        pytest.param("(labelled.n > 0", 16, "expected and, or, or )", id="a bracket too few"),
        pytest.param("labelled.n > 0)", 15, "found ')'", id="a bracket too many"),
        pytest.param("labelled.n = 0", 12, "write ==, not '='", id="one sign of equality"),
        pytest.param("a > 1 && b > 1", 7, "write and, not '&&'", id="&&"),
        pytest.param("a > 1 || b > 1", 7, "write or, not '||'", id="||"),
        pytest.param("!(a > 1)", 1, "write not, not '!'", id="!"),
        pytest.param("a < 90%", 7, "write a fraction, 0.9 for 90 %", id="per cent"),
        pytest.param("a < b < c", 7, "expected and, or", id="a chain"),
        pytest.param("1 < 2", 1, "two numbers are compared", id="no figure"),
        pytest.param("a > 1.5.2", 5, "found '1'", id="no number"),
        pytest.param("a > 3x", 5, "found '3'", id="a number and a letter"),
        pytest.param("a > 1e999", 5, "too large", id="a number without end"),
        pytest.param("a.b. > 1", 4, "found '.'", id="a path that ends in a dot"),
        pytest.param(".a > 1", 1, "found '.'", id="a path that begins with a dot"),
        pytest.param("__import__('os') > 1", 11, "found '('", id="a call"),
        pytest.param("ä > 1", 1, "found 'ä'", id="a letter that no figure has"),
        pytest.param("a AND > 1", 3, "expected one of", id="words are written small"),
        pytest.param("not " * (DEEPEST + 1) + "a > 1", 201, "at most 50 levels", id="too deep"),
        pytest.param("(" * 9999 + "a > 1", 51, "at most 50 levels", id="far too deep"),
    ],
)  # fmt: skip
def test_a_wrong_expression_is_refused_with_its_place(expression: str, column: int, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        Gate.parse(expression)
    said = str(refused.value)
    assert said.startswith(f"--fail-on, column {column} (at the ^): ")
    assert why in said
    assert said.endswith(f"{expression[: column - 1]}^{expression[column - 1 :]}")


NUMBERS = {"a": 1, "b.c": 2.5, "b.d": -3, "e_1": 0}
VALUES = st.sampled_from([*NUMBERS.items(), ("0", 0), ("2.5", 2.5), ("-3", -3), ("1e0", 1)])
COMPARED = st.sampled_from(
    [("<", lambda x, y: x < y), ("<=", lambda x, y: x <= y), ("==", lambda x, y: x == y), ("!=", lambda x, y: x != y)]
)
Told = tuple[str, bool]


def comparison(figure: Any, compare: Any, other: Any) -> Told:
    return f"{figure[0]}{compare[0]} {other[0]}", compare[1](figure[1], other[1])


def joined(word: str, parts: list[Told]) -> Told:
    text = f" {word} ".join(f"({text})" for text, _ in parts)
    return text, (all if word == "and" else any)(holds for _, holds in parts)


EXPRESSIONS: st.SearchStrategy[Told] = st.recursive(
    st.builds(comparison, st.sampled_from(list(NUMBERS.items())), COMPARED, VALUES),
    lambda inner: (
        st.builds(joined, st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3))
        | inner.map(lambda told: (f"not ({told[0]})", not told[1]))
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
def test_any_expression_means_what_it_was_made_to_mean(told: Told) -> None:
    report = {"a": 1, "b": {"c": 2.5, "d": -3}, "e_1": 0}
    text, holds = told
    ruling = Gate.parse(text).judge(report)
    assert (ruling.failed, ruling.faults) == (holds, ())


PIECES = st.sampled_from(["a", "a.b", "1", "2.5", "<", ">=", "==", "=", "(", ")", "and", "or", "not", ".", "%", "'"])


def read(text: str) -> str:
    """What became of a text: the expression of its gate, or the refusal."""
    try:
        return Gate.parse(text).judge({"a": {"b": 1}}).expression
    except UsageError as refused:
        return str(refused)


@given(st.lists(PIECES, max_size=12).map(" ".join) | st.text())
def test_any_text_is_a_gate_or_is_refused_with_a_column(text: str) -> None:
    told = read(text)
    assert told == text or told.startswith("--fail-on, column ")
