"""Every target for a moment: its kept corpus, and a few inputs drawn from that.

The long form is `python -m tests.fuzz`.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.mutation import mutated
from tests.fuzz.targets import CORPUS, Target, targets

EVERY = pytest.mark.parametrize("target", [pytest.param(each, id=each.name) for each in targets().values()])
FORMATS, OTHERS = 25, 120
"""Inputs of each target. Formats are fewer: other tests give each of them changed values as well."""


@EVERY
def test_what_is_kept_is_answered(target: Target) -> None:
    inputs = list(target.inputs())
    assert inputs
    for data in inputs:
        target.answer(data)


@EVERY
def test_what_is_drawn_from_it_is_answered(target: Target) -> None:
    inputs = list(target.inputs())

    @given(st.sampled_from(inputs), st.integers(0, 2**32))
    @settings(max_examples=FORMATS if target.name.startswith("format-") else OTHERS, database=None)
    def answered(data: bytes, seed: int) -> None:
        target.answer(mutated(data, random.Random(seed), inputs, target.words))

    answered()


def test_the_corpus_is_of_targets_that_are_there() -> None:
    assert {path.name for path in CORPUS.iterdir() if path.is_dir()} <= targets().keys()
