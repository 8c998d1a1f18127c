"""Anything at all in any place of a wrapped call gets an answer, and records in parts are joined in bounded memory."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import Line, Skipped
from ingest.formats.braintrust import BRAINTRUST
from ingest.formats.helicone import HELICONE
from ingest.formats.langfuse import LANGFUSE
from ingest.formats.langsmith import LANGSMITH
from ingest.formats.lmstudio import LMSTUDIO
from ingest.formats.mlflow import MLFLOW
from ingest.formats.openrouter_generation import OPENROUTER_GENERATION
from ingest.formats.portkey import PORTKEY
from ingest.formats.sglang_requests import SGLANG_REQUESTS
from ingest.formats.simonw_llm import SIMONW_LLM
from ingest.formats.weave import WEAVE
from ingest.shapes.parts import COPY, OPEN, PART, Parts, Recent, joined
from ingest.shapes.wrapped import nanoseconds, response_of, tokens
from tests.ingest.samples import decoded, json_values

FORMATS = (
    BRAINTRUST, HELICONE, LANGFUSE, LANGSMITH, LMSTUDIO, MLFLOW, OPENROUTER_GENERATION, PORTKEY, SGLANG_REQUESTS,
    SIMONW_LLM, WEAVE,
)  # fmt: skip
LANGCHAIN = {"generations": [[{"text": "a", "message": {"kwargs": {"content": "a", "tool_calls": [{"name": "ls"}]}}}]]}


def _changed(value: Any, data: st.DataObject) -> Any:
    """`value` with anything at all somewhere in it."""
    if data.draw(st.integers(0, 3)) and isinstance(value, dict | list) and value:
        places = sorted(value) if isinstance(value, dict) else range(len(value))
        place = data.draw(st.sampled_from(places))
        copy = dict(value) if isinstance(value, dict) else list(value)
        copy[place] = _changed(value[place], data)
        return copy
    return data.draw(json_values | st.just(LANGCHAIN))


@pytest.mark.parametrize("chosen", [pytest.param(each, id=each.name) for each in FORMATS])
@given(data=st.data())
@settings(deadline=None, max_examples=150)
def test_anything_in_any_place_is_answered(chosen: Any, data: st.DataObject) -> None:
    values = [json.loads(line) for line in chosen.example.splitlines()]
    lines = decoded(*(_changed(value, data) for value in [*values, *values]))
    assert 0 <= chosen.sniff([line.value for line in lines]) <= 1
    assert {item.line for item in chosen.read(lines)} == {line.number for line in lines}


@pytest.mark.parametrize(
    ("output", "content"),
    [
        pytest.param({"choices": [{"message": {"content": "a"}}]}, "a", id="a response"),
        pytest.param([{"message": {"content": "a"}}], "a", id="choices"),
        pytest.param({"role": "assistant", "content": "a"}, "a", id="a message"),
        pytest.param({"content": "a", "tool_calls": []}, "a", id="a message without its role"),
        pytest.param([{"role": "assistant", "content": "a"}], "a", id="a list of one message"),
        pytest.param({"output": {"role": "assistant", "content": "a"}}, "a", id="a message one deeper"),
        pytest.param(LANGCHAIN, "a", id="generations of LangChain"),
        pytest.param({"content": "a"}, None, id="an object that may be anything"),
        pytest.param([{"role": "assistant", "content": "a"}, {"role": "assistant"}], None, id="a whole talk"),
        pytest.param({"role": "user", "content": "a"}, None, id="what a user said"),
        pytest.param([{"content": "a"}], None, id="a list of what may be anything"),
        pytest.param("a", None, id="a text"),
    ],
)
def test_what_can_stand_for_a_response(output: Any, content: str | None) -> None:
    found = response_of(output)
    assert (found["choices"][0]["message"]["content"] if found else None) == content


def _parts() -> Parts:
    return Parts(lambda record: "end" in record)


def test_parts_are_joined_and_copies_known_again() -> None:
    parts = _parts()
    told = [each for line in decoded({"a": 1}, {"end": 1}, {"end": 1}) for each in parts.add(line, "x")]
    assert [(each.number, each.value) if isinstance(each, Line) else each for each in told] == [
        Skipped(1, PART),
        (2, {"a": 1, "end": 1}),
        Skipped(3, COPY),
    ]


def test_what_waits_and_what_is_remembered_is_bounded() -> None:
    parts = _parts()
    told = [
        each for n, line in enumerate(decoded(*({"a": n} for n in range(OPEN + 3)))) for each in parts.add(line, str(n))
    ]
    assert [each.number for each in told if isinstance(each, Line)] == [1, 2, 3]
    assert len(list(parts.rest())) == OPEN
    recent = Recent(2)
    for name in "abc":
        recent.add(name)
    assert [name in recent for name in ("a", "b", "c", None)] == [False, True, True, False]


def test_null_says_nothing_over_what_was_said() -> None:
    assert joined({"a": 1, "m": {"x": 1}}, {"a": None, "b": None, "m": {"y": 2}}) == {
        "a": 1,
        "b": None,
        "m": {"x": 1, "y": 2},
    }


@pytest.mark.parametrize("time", ["1796000000500000000", 1796000000500000000, 1.7960000005e18])
def test_nanoseconds_are_numbers_or_their_text(time: Any) -> None:
    found = nanoseconds(time)
    assert found
    assert found.timestamp() == 1796000000.5


@pytest.mark.parametrize("time", [None, True, "", "x", "9" * 4000, 10**400, [], -1])
def test_what_is_no_time_is_none(time: Any) -> None:
    assert nanoseconds(time) is None


def test_counts_that_are_none_are_left_out() -> None:
    assert tokens({"a": 1, "b": "2"}, "a", "b") == {"usage": {"input_tokens": 1}}
    assert tokens({"a": -1}, "a", "b") == {}
