"""Foundry's policy: every reason code, in both directions."""

from typing import Any, get_args

import pytest

from analysis.foundry_decoder import Code
from analysis.output import Call, OfferedTool
from analysis.recovery.foundry_reasons import REASONS, VISIBLE
from analysis.recovery.policies import Decision, policy
from analysis.recovery.turn import Attempt, Semantic
from tests.analysis.recovery.turns import (
    BROKEN,
    CUT,
    ENVELOPE,
    GOOD,
    WHOLE,
    called,
    leak,
    made,
    schema_of,
    turn,
)

STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def decided(*attempts: Attempt, spec: str = "foundry", **fields: Any) -> Decision:
    return policy(spec).decide(turn(attempts, **fields))


def framed(*parameters: tuple[str, str], name: str = "t") -> str:
    """A call in the exact frame."""
    fields = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in parameters)
    return f"<tool_call>\n<function={name}>\n{fields}</function>\n</tool_call>"


FIRST: list[tuple[Attempt, tuple[str, str], str]] = [
    (leak(), ("retry", "recoverable"), "a broken frame, and nothing else"),
    (leak(status="failed"), ("retry", "recoverable"), "written down as failed"),
    (leak(BROKEN[:40]), ("retry", "recoverable"), "cut at the end of the stream is structural"),
    (leak(f"\n  {BROKEN}"), ("retry", "recoverable"), "white space in front is no text"),
    (leak(f"`{BROKEN}`", streamed=frozenset()), ("retry", "recoverable"), "inline code excuses nothing"),
    (leak(tool_choice="auto"), ("retry", "recoverable"), "automatic tool choice, spelled out"),
    (leak(finish_reason="EOS"), ("retry", "recoverable"), "the end of the sequence is a natural end"),
    (leak(finish_reason="end_turn"), ("retry", "recoverable"), "so is the end of a turn"),
    (leak(f"So:\n{BROKEN}", streamed=frozenset()), ("retry", "recoverable"), "the record tells that nothing was shown"),
    (leak(CUT), ("publish", "no_candidate"), "markup in no such frame"),
    (made(None, leak().finding, reasoning=BROKEN),
     ("publish", "no_candidate"), "thoughts are never read"),
    (leak(f"```\n{BROKEN}\n```"), ("publish", "fenced"), "a fenced example"),
    (leak(WHOLE), ("publish", "valid_call"), "a whole call is taken"),
    (leak(f"{WHOLE}\nAnd:\n{BROKEN}"), ("fail", "call_before"), "a call was parsed before the broken one"),
    (leak(f"{BROKEN}\nAnd:\n{WHOLE}"), ("retry", "recoverable"), "a call behind the broken one is none before it"),
    (leak("<tool_call>\nname_chat\n</tool_call>"), ("publish", "not_entered"), "the frame was not entered"),
    (leak(framed(("p", "x"), name="rm")), ("publish", "undeclared_tool"), "a tool that was not offered"),
    (leak(tools=None, inferred_names=frozenset({"name_chat"})), ("publish", "schema_missing"),
     "a tool known by what the run called"),
    (leak(tools=None), ("publish", "tools_unknown"), "tools unknown"),
    (leak(tools=(OfferedTool("name_chat"),)), ("publish", "schema_missing"), "no schema in the source"),
    (leak(framed(("path", "x"), name="open_file")), ("publish", "unsupported_schema"), "a schema with $ref"),
    (leak(framed(("b", "x")), tools=(schema_of({"a": STRING}),)), ("publish", "unknown_parameter"), "not declared"),
    (leak(framed(("a", "x"), ("a", "y")), tools=(schema_of({"a": STRING}),)), ("publish", "duplicate_parameter"),
     "a parameter twice"),
    (leak(framed(), tools=(schema_of({"a": STRING}, required=["a"]),)), ("publish", "missing_parameter"),
     "a required parameter is missing"),
    (leak(framed(("a", "x")), tools=(schema_of({"a": INTEGER}),)), ("publish", "unfit_value"), "the wrong type"),
    (leak(framed(("a", "x")), tools=(schema_of({"a": STRING}, minProperties=2),)), ("publish", "unfit_arguments"),
     "the arguments as a whole"),
    (leak(framed(("a", "x<tool_call>y")), tools=(schema_of({"a": STRING}),)), ("publish", "reserved_framing"),
     "markup of the frame in a value"),
    (leak(framed(("a", "x" * 70_000)), tools=(schema_of({"a": STRING}),)), ("publish", "oversized"), "over 64 KiB"),
    (leak(f"{WHOLE}\n{BROKEN}"), ("publish", "mixed_batch"), "one batch of a valid and an invalid call"),
    (leak(tool_choice="required"), ("publish", "tool_choice_not_auto"), "a call is required"),
    (leak(tool_choice="none"), ("publish", "tool_choice_not_auto"), "calls are ruled out"),
    (leak(finish_reason="length"), ("fail", "ended_by_length"), "the limit of length"),
    (leak(finish_reason="MAX_TOKENS"), ("fail", "ended_by_length"), "the same, as others spell it"),
    (leak(finish_reason="stop_sequence"), ("fail", "ended_by_stop_sequence"), "a stop sequence"),
    (leak(finish_reason="abort"), ("fail", "ended_by_cancellation"), "cut off by the engine"),
    (leak(finish_reason="content_filter"), ("fail", "ended_otherwise"), "an end that is not natural"),
    (leak(finish_reason=None), ("fail", "end_unknown"), "an end that is not told"),
    (leak(f"Here it is: {BROKEN}"), ("fail", "text_before"), "visible text before it"),
    (leak(reasoning="They want a name."), ("fail", "reasoning_before"), "thoughts before it"),
    (leak(reasoning=" \n"), ("retry", "recoverable"), "blank thoughts are none"),
    (leak(calls=(GOOD,)), ("fail", "call_before"), "a structured call stands beside it"),
    (leak(f"<tool_call>\nx\n</tool_call>\nNo:\n{BROKEN}"), ("fail", "tool_output_before"), "rejected markup was shown"),
    (leak(streamed=frozenset({"text"})), ("fail", "text_before"), "the record tells that text was shown"),
]  # fmt: skip


@pytest.mark.parametrize(("attempt", "expected"), [pytest.param(*row[:2], id=row[2]) for row in FIRST])
def test_what_becomes_of_a_first_attempt(attempt: Attempt, expected: tuple[str, str]) -> None:
    found = decided(attempt)
    assert (found.action, found.reason) == expected


@pytest.mark.parametrize("kind", get_args(Semantic))
def test_whatever_was_shown_before_ends_the_request(kind: Semantic) -> None:
    found = decided(leak(streamed=frozenset({kind})))
    assert (found.action, found.reason) == ("fail", f"{kind}_before")


RETRIES: list[tuple[Attempt, tuple[str, str], tuple[str, ...], str]] = [
    (called(raw_text=ENVELOPE), ("publish", "retry_accepted"), (), "calls and envelope are whole"),
    (called(), ("publish", "retry_not_checkable"), ("envelope_not_stored",), "the envelope is not stored"),
    (called(tools=None, raw_text=ENVELOPE), ("publish", "retry_not_checkable"), ("tools_unknown",), "tools unknown"),
    (called(Call("name_chat", "{}")), ("fail", "retry_refused"), ("missing_required",), "a required value is missing"),
    (called(Call("name_chat", '{"title": 1}')), ("fail", "retry_refused"), ("wrong_type",), "the wrong type"),
    (called(GOOD, Call("rm", "{}")), ("fail", "retry_refused"), ("tool_not_offered",), "one bad call in a batch"),
    (called(raw_text=ENVELOPE[:-12]), ("fail", "retry_refused"), ("end_marker_missing",), "no end marker"),
    (called(status="cancelled"), ("fail", "retry_cancelled"), (), "cancelled"),
    (called(finish_reason="abort"), ("fail", "retry_cancelled"), (), "cut off by the engine"),
    (made(None, status="error"), ("fail", "retry_errored"), (), "an error"),
    (called(finish_reason="length"), ("fail", "retry_truncated"), (), "cut by its length"),
    (called(status="cut"), ("fail", "retry_truncated"), (), "cut in the record"),
    (leak(), ("fail", "retry_malformed"), (), "malformed again"),
    (made("It is done."), ("fail", "retry_text_only"), (), "text alone"),
    (made(" ", reasoning="Hm."), ("fail", "retry_reasoning_only"), (), "thoughts alone"),
    (made(""), ("fail", "retry_empty"), (), "nothing"),
]


@pytest.mark.parametrize(("attempt", "expected", "details"), [pytest.param(*row[:3], id=row[3]) for row in RETRIES])
def test_what_becomes_of_a_retry(attempt: Attempt, expected: tuple[str, str], details: tuple[str, ...]) -> None:
    found = decided(leak(), attempt)
    assert (found.action, found.reason, found.details) == (*expected, details)


@pytest.mark.parametrize(
    ("spec", "engine", "expected"),
    [
        pytest.param("foundry", None, "recoverable", id="any engine, by default"),
        pytest.param("foundry:engines=foundry*", "Foundry-Engine", "recoverable", id="the engine that is named"),
        pytest.param("foundry:engines=foundry*", "vllm", "not_engine_backend", id="another engine"),
        pytest.param("foundry:engines=foundry*", None, "not_engine_backend", id="no engine is told"),
    ],
)
def test_which_engines_count_as_the_backend(spec: str, engine: str | None, expected: str) -> None:
    assert decided(leak(), spec=spec, engine=engine).reason == expected


def test_an_end_that_is_not_told_may_count_as_natural() -> None:
    spec = "foundry:unknown_end=true"
    assert decided(leak(finish_reason=None), spec=spec).reason == "recoverable"
    assert decided(leak(finish_reason="length"), spec=spec).reason == "ended_by_length"


def test_a_call_that_its_decoder_takes_is_given() -> None:
    [call] = decided(leak(WHOLE)).calls
    assert (call.name, call.arguments) == ("name_chat", {"title": "Walks"})


def test_every_code_of_the_decoder_has_its_reason() -> None:
    codes = {code for each in get_args(Code) for code in get_args(each)}
    assert codes - VISIBLE.keys() == {"valid_call", "broken", "cut"}


def test_every_reason_code_is_tested() -> None:
    tested = {row[1] for row in FIRST} | {row[1] for row in RETRIES} | {("publish", "not_engine_backend")}
    assert {(each.action, each.code) for each in REASONS} == tested
