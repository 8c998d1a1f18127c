"""The native record: what it requires, what it keeps, what it refuses, and the JSON Schema that says so."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, get_args

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import records
from ingest.records import Generation, Label, LeakedToolCall, Run, json_schema, validate
from tests.ingest.loading import event, generation, label, run

VALIDATOR = jsonschema_rs.Draft202012Validator(json_schema())
LAST_ORDINAL = 2**31 - 1
LAST_COUNT = 2**63 - 1


def a_generation(**fields: Any) -> Generation:
    found = validate(generation(**fields))
    assert isinstance(found, Generation)
    return found


def without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


ACCEPTED = [
    pytest.param(generation(), id="the least generation"),
    pytest.param({**without(generation(), "content"), "reasoning": None}, id="reasoning alone, empty"),
    pytest.param({**without(generation(), "content"), "tool_calls": []}, id="calls alone, none made"),
    pytest.param(generation(content=None, tools=None, tool_calls=None, usage=None, tags=None), id="nulls"),
    pytest.param(generation(turn=0, round=LAST_ORDINAL, attempt=1), id="ordinals at their limits"),
    pytest.param(generation(usage={"input_tokens": LAST_COUNT, "cached": {"read": 1}}), id="usage with more in it"),
    pytest.param(generation(tools=[{"name": "ls", "strict": True}]), id="a tool with more in it"),
    pytest.param(generation(tools=[{"type": "function", "function": {"name": "ls"}}]), id="a wrapped tool"),
    pytest.param(generation(tool_calls=[{"id": "c", "function": {"name": "ls"}}]), id="a wrapped call"),
    pytest.param(generation(tool_calls=[{"name": "ls", "arguments": {"a": [1]}}]), id="an object as arguments"),
    pytest.param(generation(tool_calls=[{"name": "ls", "arguments": "{"}]), id="arguments that are no JSON"),
    pytest.param(generation(tool_choice={"type": "function"}), id="a tool choice that is an object"),
    pytest.param(generation(finish_reason="whatever they say"), id="a finish reason of their own"),
    pytest.param(generation(started_at="2026-11-01T12:00:00Z"), id="a time"),
    pytest.param(generation(started_at=1790000000), id="a Unix time"),
    pytest.param(generation(anything={"deep": [None]}), id="an unknown field"),
    pytest.param(event(), id="an event without a run"),
    pytest.param(event(run_id="r", round=0, at="2026-11-01T12:00:00Z", detector="a@1"), id="an event with all"),
    pytest.param(run(), id="the least run"),
    pytest.param(run(tags={}, engine="vllm", extra=1), id="a run with an unknown field"),
    pytest.param(label(), id="a label"),
    pytest.param(label(leak=None), id="an unsure label"),
]
REFUSED = [
    pytest.param(without(generation(), "run_id"), "run_id: Field required", id="a generation without a run"),
    pytest.param(without(generation(), "content"), "needs one of content", id="a generation that says nothing"),
    pytest.param(without(event(), "markup"), "markup: Field required", id="an event without markup"),
    pytest.param(without(event(), "retried"), "retried: Field required", id="an event without retried"),
    pytest.param(without(run(), "run_id"), "run_id: Field required", id="a run without an id"),
    pytest.param(without(label(), "by"), "by: Field required", id="a label by nobody"),
    pytest.param(without(label(), "leak"), "leak: Field required", id="a label without its verdict"),
    pytest.param(without(label(), "generation_id"), "generation_id: Field", id="a label of nothing"),
    pytest.param(label(leak=1), "leak: Input should be a valid boolean", id="1 as a verdict"),
    pytest.param(generation(turn="12"), "turn: Input should be a valid integer", id="a turn as text"),
    pytest.param(generation(turn=1.5), "turn: Input should be a valid integer", id="a broken turn"),
    pytest.param(generation(turn=True), "turn: Input should be a valid integer", id="a turn that is true"),
    pytest.param(event(leak=True), "leak: Input should be a valid integer", id="a number of leaks that is true"),
    pytest.param(event(retried=1), "retried: Input should be a valid boolean", id="1 as retried"),
    pytest.param(generation(round=-1), "round: Input should be greater", id="a round before the first"),
    pytest.param(generation(attempt=LAST_ORDINAL + 1), "attempt: Input should be less", id="an attempt too far"),
    pytest.param(generation(usage={"output_tokens": LAST_COUNT + 1}), "usage.output_tokens", id="too many tokens"),
    pytest.param(generation(content=5), "content: Input should be a valid string", id="a number as content"),
    pytest.param(generation(content=["x"]), "content: Input should be a valid string", id="parts as content"),
    pytest.param(generation(run_id=7), "run_id: Input should be a valid string", id="a number as a run id"),
    pytest.param(generation(tools={}), "tools: Input should be a valid list", id="tools that are no list"),
    pytest.param(generation(tools=[{"type": "function"}]), "tools.0.name: Field required", id="a nameless tool"),
    pytest.param(generation(tools=[{"function": {}}]), "tools.0.name: Field required", id="nameless in a wrapper"),
    pytest.param(generation(tools=[{"name": "a", "parameters": "{}"}]), "tools.0.parameters", id="a schema as text"),
    pytest.param(generation(tools=[{"name": 5, "function": {"name": "a"}}]), "tools.0.name", id="5 as a tool name"),
    pytest.param(generation(tool_calls=[{"name": 5, "function": {"name": "a"}}]), "tool_calls.0.name", id="in a call"),
    pytest.param(generation(tool_calls=[{"arguments": "{}"}]), "tool_calls.0.name", id="a nameless call"),
    pytest.param(generation(tool_calls=[{"id": 1, "function": {"name": "a"}}]), "tool_calls.0.id", id="1 as call id"),
    pytest.param(generation(tags=[]), "tags: Input should be a valid dict", id="tags that are a list"),
    pytest.param(generation(started_at=True), "started_at: Input should be", id="a time that is true"),
    pytest.param({"type": "span"}, "Input tag 'span'", id="another type"),
    pytest.param({"content": "x"}, "Unable to extract tag", id="no type"),
    pytest.param([], "Input should be a valid dictionary", id="a list"),
    pytest.param(None, "Input should be a valid dictionary", id="null"),
]


@pytest.mark.parametrize("value", ACCEPTED)
def test_is_a_record_for_the_models_and_for_the_schema(value: Any) -> None:
    assert validate(value).type == value["type"]
    VALIDATOR.validate(value)


@pytest.mark.parametrize(("value", "why"), REFUSED)
def test_is_no_record_for_the_models_nor_for_the_schema(value: Any, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        validate(value)
    assert not VALIDATOR.is_valid(value)


ENUMS = [
    pytest.param("call_mode", records.CallMode, "native text none unknown", id="call mode"),
    pytest.param("status", records.Status, "ok failed error cancelled cut", id="status"),
    pytest.param("role", records.Role, "agent subagent user_simulator judge summariser title other", id="role"),
    pytest.param("finish_fidelity", records.FinishFidelity, "wire mapped inferred absent", id="finish fidelity"),
    pytest.param("text_fidelity", records.TextFidelity, "exact rebuilt normalised truncated redacted", id="text"),
    pytest.param(
        "kind",
        records.Kind,
        "leaked_call malformed_call truncated_call orphan_markup stripped_call printed_call contaminated_call",
        id="kind of a label",
    ),
]


@pytest.mark.parametrize(("name", "enum", "words"), ENUMS)
def test_an_enum_is_closed(name: str, enum: Any, words: str) -> None:
    assert get_args(enum) == tuple(words.split())
    make: Callable[..., dict[str, Any]] = label if name == "kind" else generation
    for word in words.split():
        assert getattr(validate(make(**{name: word})), name) == word
        VALIDATOR.validate(make(**{name: word}))
    for other in ("", words.split()[0].upper(), "new", 0, False):
        with pytest.raises(ValueError, match=f"{name}: Input should be"):
            validate(make(**{name: other}))
        assert not VALIDATOR.is_valid(make(**{name: other}))


@pytest.mark.parametrize(
    "value",
    [pytest.param({}, id="absent"), pytest.param({"tools": None}, id="null"), pytest.param({"tools": []}, id="empty")],
)
def test_absent_null_and_empty_are_told_apart(value: dict[str, Any]) -> None:
    assert a_generation(**value).model_dump(exclude_unset=True) == generation(**value)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(generation(seed=7, model_dump=1, extra={"a": None}), id="of a generation"),
        pytest.param(generation(tools=[{"name": "ls", "strict": None}]), id="of a tool"),
        pytest.param(generation(tool_calls=[{"name": "ls", "index": 0}]), id="of a call"),
        pytest.param(generation(usage={"input_tokens": 1, "cached_tokens": 3}), id="of the usage"),
        pytest.param(
            event(innerSpan="b", Trace={"Id": 1}, iteration=4, round=2), id="of an event, as they are spelled"
        ),
        pytest.param(run(Host="a"), id="of a run"),
        pytest.param(label(confidence=0.5), id="of a label"),
    ],
)
def test_unknown_fields_are_kept(value: dict[str, Any]) -> None:
    assert validate(value).model_dump(exclude_unset=True) == value


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param("2026-11-01T12:00:00Z", datetime(2026, 11, 1, 12, tzinfo=UTC), id="Z"),
        pytest.param("2026-11-01T01:30:00+02:00", datetime(2026, 10, 31, 23, 30, tzinfo=UTC), id="an offset"),
        pytest.param("2026-11-01T12:00:00", datetime(2026, 11, 1, 12, tzinfo=UTC), id="naive is UTC"),
        pytest.param("2026-11-01 12:00:00.123456", datetime(2026, 11, 1, 12, 0, 0, 123456, UTC), id="microseconds"),
        pytest.param(1790000000, datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC), id="Unix seconds"),
        pytest.param(1790000000.5, datetime(2026, 9, 21, 14, 13, 20, 500000, UTC), id="Unix seconds and a half"),
        pytest.param(None, None, id="null"),
    ],
)
def test_a_time_is_utc(told: Any, expected: datetime | None) -> None:
    assert a_generation(started_at=told).started_at == expected


@pytest.mark.parametrize(
    "told",
    [
        pytest.param("yesterday", id="a word"),
        pytest.param("2026-13-01T00:00:00Z", id="a thirteenth month"),
        pytest.param("0001-01-01T00:00:00+14:00", id="before the first year in UTC"),
        pytest.param("9999-12-31T23:00:00-14:00", id="after the last year in UTC"),
        pytest.param(1e300, id="far beyond"),
    ],
)
def test_what_is_no_time_is_refused(told: Any) -> None:
    with pytest.raises(ValueError, match="started_at: "):
        validate(generation(started_at=told))


EVENT = LeakedToolCall(type="leaked_tool_call", run_id="r", round=3, markup="<", leak=2, retried=True)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"Markup": "<", "Leak": 2, "Retried": True, "RunId": "r", "Round": 3}, id="Pascal case"),
        pytest.param({"markup": "<", "leak": 2, "retried": True, "runId": "r", "round": 3}, id="camel case"),
        pytest.param({"markup": "<", "leak": 2, "retried": True, "run_id": "r", "round": 3}, id="snake case"),
        pytest.param({"MARKUP": "<", "LEAK": 2, "RETRIED": True, "RUN_ID": "r", "ROUND": 3}, id="upper case"),
        pytest.param({"Markup": "<", "Leak": 2, "Retried": True, "RunId": "r", "Iteration": 3}, id="its iteration"),
        pytest.param(
            {"Type": "LeakedToolCallEvent", "Markup": "<", "Leak": 2, "Retried": True, "RunId": "r", "Round": 3},
            id="with its class for a type",
        ),
        pytest.param(
            {"type": "LeakedToolCallEvent", "markup": "<", "leak": 2, "retried": True, "runId": "r", "round": 3},
            id="with its class for a type, camel case",
        ),
    ],
)  # fmt: skip
def test_the_event_of_dotnet_in_any_spelling(value: dict[str, Any]) -> None:
    found = validate(value)
    assert isinstance(found, LeakedToolCall)
    assert found.model_dump(exclude={"iteration"}) == EVENT.model_dump()


def test_an_iteration_beside_a_round_is_kept_as_it_is() -> None:
    found = validate({"Markup": "<", "Leak": 1, "Retried": True, "Iteration": 3, "Round": 1})
    assert isinstance(found, LeakedToolCall)
    assert (found.round, found.model_extra) == (1, {"Iteration": 3})


def test_other_records_are_never_taken_for_events() -> None:
    assert isinstance(validate(generation(markup="<", leak=1, retried=True)), Generation)
    assert isinstance(validate(run(Markup="<", Leak=1, Retried=True)), Run)
    assert isinstance(validate(label(markup="<", retried=True)), Label)


@pytest.mark.parametrize(
    ("wrapped", "bare"),
    [
        pytest.param({"type": "function", "function": {"name": "a"}}, {"name": "a"}, id="the wrapper goes"),
        pytest.param(
            {"type": "function", "function": {"name": "a", "strict": True}, "cache": 1},
            {"cache": 1, "name": "a", "strict": True},
            id="what stands beside it stays",
        ),
        pytest.param(
            {"type": "builtin", "function": {"name": "a"}},
            {"type": "builtin", "name": "a"},
            id="a type of its own stays",
        ),
        pytest.param(
            {"name": "b", "function": {"name": "a"}}, {"name": "b", "function": {"name": "a"}}, id="no wrapper"
        ),
    ],
)
def test_tools_and_calls_come_out_of_their_wrapper(wrapped: dict[str, Any], bare: dict[str, Any]) -> None:
    found = a_generation(tools=[wrapped], tool_calls=[{"id": "c1", **wrapped}]).model_dump(exclude_unset=True)
    assert found["tools"] == [bare]
    assert found["tool_calls"] == [{"id": "c1", **bare}]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param('{"a": 1, "a": 2}', id="a string, as it came"),
        pytest.param("", id="an empty string"),
        pytest.param({"a": 2**80}, id="an object"),
        pytest.param([1], id="a list"),
        pytest.param(None, id="null"),
    ],
)
def test_arguments_stay_what_they_were(arguments: Any) -> None:
    [call] = a_generation(tool_calls=[{"name": "ls", "arguments": arguments}]).tool_calls or []
    assert call.arguments == arguments
    assert "arguments" in call.model_fields_set


def test_absent_arguments_are_not_invented() -> None:
    [call] = a_generation(tool_calls=[{"name": "ls"}]).tool_calls or []
    assert "arguments" not in call.model_fields_set


@pytest.mark.parametrize(
    ("fields", "mode"),
    [
        pytest.param({}, "unknown", id="nothing tells"),
        pytest.param({"tools": []}, "unknown", id="no tools"),
        pytest.param({"tools": [{"name": "a"}]}, "native", id="tools"),
        pytest.param({"tool_calls": [{"name": "a"}]}, "native", id="calls"),
        pytest.param({"tools": [{"name": "a"}], "call_mode": "text"}, "text", id="the source tells"),
    ],
)
def test_an_absent_call_mode_means(fields: dict[str, Any], mode: str) -> None:
    assert a_generation(**fields).effective_call_mode == mode


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"type": "a\nb\u2028c" * 900}, id="a type of many lines"),
        pytest.param(generation(status="a\nb" * 900), id="a status of many lines"),
        pytest.param(generation(tools=[{"name": "a", "parameters": ["\n"]}]), id="deep inside"),
    ],
)
def test_a_reason_is_one_short_line(value: Any) -> None:
    with pytest.raises(ValueError, match=r"\A[^\n\u2028]{1,200}\Z"):
        validate(value)


def test_the_json_schema_is_one() -> None:
    jsonschema_rs.meta.validate(json_schema())


scalars = st.none() | st.booleans() | st.integers(-2, 2**63) | st.floats(-2, 2).filter(lambda x: x % 1) | st.text()
values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.sampled_from(["name", "id", "x"]), scalars)
names = set(Generation.model_fields) | set(Label.model_fields) | set(LeakedToolCall.model_fields)
CLOCK = {"started_at", "at"}
"""A schema can tell that a time is a string or a number, not that it is a time."""


@given(
    st.sampled_from([generation(), event(), run(), label()]),
    st.dictionaries(st.sampled_from(sorted(names - CLOCK - {"type"})), values, max_size=3),
)
def test_models_and_schema_agree(start: dict[str, Any], fields: dict[str, Any]) -> None:
    value = {**start, **fields}
    try:
        validate(value)
    except ValueError:
        assert not VALIDATOR.is_valid(value)
    else:
        assert VALIDATOR.is_valid(value)
