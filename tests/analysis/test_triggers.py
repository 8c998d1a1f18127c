"""A search over columns finds what a look at each text would find, and outputs worth a look are never passed over."""

import json
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.arrivals import Arrivals
from analysis.detectors import BLANKS, SHORT, Detector, detectors
from analysis.output import Output
from analysis.triggers import CHUNK, FEW, MANY, Term, Wanted, holding, search
from ingest.batch import Batch
from ingest.batches import read
from ingest.files.containers import Source
from tests.analysis.stories import detector, said

FILLED = [f"no such thing {at}" for at in range(MANY + 1)]


def holds(text: str, term: Term) -> bool:
    if term.place == "ending":
        return len(text) <= SHORT and text.rstrip(BLANKS).endswith(term.literal)
    return term.literal in text


def looked_at(texts: Collection[str], terms: Collection[Term]) -> set[tuple[int, int]]:
    return {(i, j) for i, text in enumerate(texts) for j, term in enumerate(terms) if holds(text, term)}


def searched(texts: list[str], terms: list[Term]) -> set[tuple[int, int]]:
    found = search(pl.Series(texts, dtype=pl.String), terms).rows()
    assert len({*found}) == len(found)
    return {*found}


SOME = st.sampled_from(["a", "ab", "b", ".", "*", "(?i)", "[", "\\", '"', "\n", " ", "é", "|", "😀", "\x00", "-", "#"])
LITERALS = st.lists(SOME, min_size=1, max_size=4).map("".join) | st.text(min_size=1)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param([], id="few"),
        pytest.param(FILLED[:FEW], id="more than a few"),
        pytest.param(FILLED, id="very many"),
    ],
)
@given(st.lists(st.lists(SOME, max_size=6).map("".join) | st.text()), st.lists(LITERALS, unique=True))
def test_a_search_finds_each_literal_in_each_text(more: list[str], texts: list[str], literals: list[str]) -> None:
    terms = [Term(each) for each in dict.fromkeys([*more, *literals])]
    assert searched(texts, terms) == looked_at(texts, terms)
    if terms:
        found = holding(pl.Series(texts, dtype=pl.String), [term.literal for term in terms])
        assert {*found.to_list()} == {at for at, _ in looked_at(texts, terms)}


ENDS = st.lists(st.sampled_from(["wörd ", "文", "x" * 50, ":", "：", " ", "\n", "\x1c", "\u2003"]), max_size=12)


@given(st.lists(ENDS.map("".join)))
def test_short_texts_with_an_ending_are_found_and_no_others(texts: list[str]) -> None:
    """Blanks of ASCII are set aside at their ends; what is short in bytes may be longer than short."""
    terms = [Term(":", "ending"), Term("：", "ending"), Term(":")]
    assert searched(texts, terms) == looked_at(texts, terms)


def test_long_texts_and_many_matches_are_searched_in_pieces() -> None:
    texts = ["ab" * CHUNK, "x" * CHUNK, "a" * (CHUNK // 2), "b" * CHUNK + "c", "a" * (CHUNK // 2), "abc"]
    terms = [Term(each) for each in ("a", "b", "c", "ab", "ba", "zz")]
    assert searched(texts, terms) == looked_at(texts, terms)


PIECES = ("KEY", '"', "\\", "\n", "ls", "rm", "a ", ":", "{}", '"name"', "é", "😀", "x" * 60)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
ARGUMENTS = (
    st.none() | TEXTS | st.recursive(TEXTS | st.integers(), lambda each: st.dictionaries(TEXTS, each, max_size=2))
)
CALLS = st.lists(st.fixed_dictionaries({"name": TEXTS, "arguments": ARGUMENTS}), max_size=2)
RECORDS = st.lists(
    st.builds(
        lambda content, reasoning, calls, tools: said(content, reasoning=reasoning, tool_calls=calls, tools=tools),
        st.none() | TEXTS,
        st.none() | TEXTS,
        st.none() | CALLS,
        st.sampled_from([..., [], [{"name": "ls"}], [{"name": "rm"}, {"name": ""}]]),
    ),
    min_size=1,
    max_size=4,
)


def batch_of(records: list[dict[str, Any]]) -> Batch:
    with TemporaryDirectory() as folder:
        path = Path(folder, "log.jsonl")
        path.write_text("".join(json.dumps(each) + "\n" for each in records))
        [batch] = read(Source(path, "log.jsonl"), format_name="native").batches
        return batch


def channels(output: Output) -> Iterator[str]:
    yield from filter(None, (output.content, output.reasoning))
    for call in output.calls:
        yield from filter(None, (call.name, call.arguments))


def worth_a_look(by: Detector, output: Output) -> bool:
    """What a trigger is, word by word."""
    words = [text for text in (output.content, output.reasoning) if text]
    names = output.offered_names - {""} if by.by_name else frozenset()
    return (
        any(trigger in text for trigger in by.triggers for text in channels(output))
        or any(len(text) <= SHORT and text.rstrip(BLANKS).endswith(by.endings) for text in words)
        or any(name in text for name in names for text in words)
        or any(name in call.name for name in names for call in output.calls if call.name not in output.offered_names)
    )


BY = st.builds(
    lambda triggers, endings, by_name: replace(
        detector("any", lambda _: None, triggers), endings=tuple(endings), by_name=by_name
    ),
    st.lists(st.sampled_from(["KEY", '"', '"name"', "\n", "\\", 'a "', "KEYé", "{}"]), min_size=1, max_size=3),
    st.lists(st.sampled_from([":", "x"]), max_size=1),
    st.booleans(),
)


@given(RECORDS, BY)
def test_what_is_worth_a_look_is_never_passed_over(records: list[dict[str, Any]], by: Detector) -> None:
    batch = batch_of(records)
    chosen = {stored.verdict_key for stored, _ in Arrivals(by).candidates(batch)}
    outputs = {each.verdict_key: output for each, output in Arrivals(replace(by, triggers=("",))).candidates(batch)}
    assert {key for key, output in outputs.items() if worth_a_look(by, output)} <= chosen


LEAKDOWN = next(each for each in detectors() if each.name == "leakdown")


@pytest.mark.parametrize(
    ("record", "worth"),
    [
        pytest.param(said(None, tool_calls=[{"name": "ls", "arguments": '{"path":"a"}'}]), False,
                     id="a clean structured call"),
        pytest.param(said(None, tool_calls=[{"name": "ls", "arguments": {"path": "a"}}]), False,
                     id="one whose arguments are an object"),
        pytest.param(said(None, tool_calls=[{"id": 'a"', "name": 'l"s', "arguments": {"path": "a"}}]), False,
                     id="one with quotes in its id and name"),
        pytest.param(said("Done.", tool_calls=[{"name": "ls", "arguments": '{"x":"ls"}'}]), False,
                     id="an offered name in arguments"),
        pytest.param(said(None, tool_calls=[{"name": "ls", "arguments": '{"name": "x"}'}]), True,
                     id="a trigger in a string of arguments"),
        pytest.param(said(None, tool_calls=[{"name": "ls", "arguments": {"name": "x"}}]), True,
                     id="a trigger in an object of arguments"),
        pytest.param(said(None, tool_calls=[{"name": "ls", "arguments": {"a": {"name": "x", "arguments": {}}}}]), True,
                     id="a call in an object of arguments"),
        pytest.param(said(None, tool_calls=[{"name": "ls\njson", "arguments": "{}"}]), True,
                     id="something has run into an offered name"),
        pytest.param(said("I use ls now."), True, id="an offered name in the content"),
        pytest.param(said("", reasoning="I use ls now."), True, id="an offered name in the reasoning"),
        pytest.param(said("I use ls now.", tools=[{"name": "rm"}]), False, id="a name that was not offered"),
        pytest.param(said("Now:\n"), True, id="a short text with an ending"),
        pytest.param(said("x" * 200 + ":"), False, id="a long one"),
    ],
)  # fmt: skip
def test_what_leakdown_has_to_look_at(record: dict[str, Any], worth: bool) -> None:
    assert bool(Arrivals(LEAKDOWN).candidates(batch_of([record]))) is worth


def test_an_empty_trigger_wants_every_output_and_no_search() -> None:
    every = Wanted(frozenset({"", "x"}))
    assert every.everything
    assert every.terms == frozenset()
