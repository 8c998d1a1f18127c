"""Every target for a moment: its kept corpus, and a few inputs drawn from that.

The long form is `python -m tests.fuzz`.
"""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.files.jsonlines import decode
from ingest.formats import Format, Line, formats
from tests.fuzz.mutation import exchanged, mutated
from tests.fuzz.targets import CORPUS, Target, targets
from tests.ingest.samples import raw_lines

EVERY = pytest.mark.parametrize("target", [pytest.param(each, id=each.name) for each in targets().values()])
LINES, PARTS = 4, 40
"""Of an example: lines whose parts are exchanged, and parts of each."""
FORMATS, OTHERS, SLOW = 25, 120, 4
"""Inputs of each target. Formats are fewer: other tests give each of them changed values as well; so is what writes."""


@EVERY
def test_what_is_kept_is_answered(target: Target) -> None:
    inputs = list(target.inputs())
    assert inputs
    for data in inputs:
        target.answer(data)


@EVERY
def test_what_is_drawn_from_it_is_answered(target: Target) -> None:
    inputs = list(target.inputs())
    many = FORMATS if target.name.startswith("format-") else SLOW if target.name == "store" else OTHERS

    @given(st.sampled_from(inputs), st.integers(0, 2**32))
    @settings(max_examples=many, database=None)
    def answered(data: bytes, seed: int) -> None:
        target.answer(mutated(data, random.Random(seed), inputs, target.words))

    answered()


@pytest.mark.parametrize("chosen", [pytest.param(each, id=each.name) for each in formats()])
def test_each_part_of_an_example_may_be_anything(chosen: Format) -> None:
    """All in one log: what is joined over lines meets odd values too."""
    values = [line.value for line in decode(raw_lines(*chosen.example.splitlines())) if isinstance(line, Line)]
    odd = [each for value in values[:LINES] for each in exchanged(value, PARTS)]
    lines = list(decode(raw_lines(*map(json.dumps, odd))))
    whole = [line for line in lines if isinstance(line, Line)]
    assert {item.line for item in chosen.read(whole)} == {line.number for line in whole}


def test_the_corpus_is_of_targets_that_are_there() -> None:
    assert {path.name for path in CORPUS.iterdir() if path.is_dir()} <= targets().keys()
