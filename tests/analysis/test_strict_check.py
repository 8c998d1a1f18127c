"""The strict check of a retry: accepted, refused for what the log shows, or not to be told from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.output import Call, OfferedTool, Output
from analysis.strict_batch import strict_batch
from analysis.strict_check import strict_check

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TOOLS = (OfferedTool("rate", SCHEMA), OfferedTool("bare"))
GOOD, BAD = Call("rate", '{"n": 1}'), Call("rate", '{"n": "one"}')
RAW = '<tool_call>[{"name": "rate", "parameters": {"n": 1}}]</tool_call>'
BARE = '<tool_call>[{"name": "bare", "parameters": {}}]</tool_call>'


@pytest.mark.parametrize(
    ("calls", "tools", "raw", "parts", "codes", "why"),
    [
        pytest.param([GOOD], TOOLS, RAW, "accepted accepted accepted", (), (), id="all is there, all is well"),
        pytest.param([GOOD], TOOLS, None, "not_checkable accepted not_checkable", (), ("envelope_not_stored",),
                     id="the envelope is not stored"),
        pytest.param([BAD], TOOLS, None, "refused refused not_checkable", ("wrong_type",), ("envelope_not_stored",),
                     id="a wrong type, whatever the envelope was"),
        pytest.param([GOOD], TOOLS, RAW[:-12], "refused accepted refused", ("end_marker_missing",), (),
                     id="good calls that a lenient parser made of half an envelope"),
        pytest.param([Call("rate", '{"n": 2}')], TOOLS, RAW, "refused accepted refused", ("calls_differ",), (),
                     id="other calls than the envelope holds"),
        pytest.param([GOOD], None, RAW, "not_checkable not_checkable accepted", (), ("tools_unknown",),
                     id="tools unknown"),
        pytest.param([Call("bare", "{}")], TOOLS, BARE, "not_checkable not_checkable accepted", (),
                     ("schema_missing",), id="no schema in the source"),
        pytest.param([Call("bare", "{")], TOOLS, None, "refused refused not_checkable", ("unclosed_json",),
                     ("envelope_not_stored", "schema_missing"), id="arguments that are bad under any schema"),
        pytest.param([GOOD, Call("bare", "{}"), BAD], TOOLS, None, "refused refused not_checkable", ("wrong_type",),
                     ("envelope_not_stored", "schema_missing"), id="one bad call refuses the batch"),
        pytest.param([], TOOLS, RAW, "refused refused refused", ("no_calls", "calls_differ"), (),
                     id="an envelope, and no structured call"),
        pytest.param([], (), None, "refused refused not_checkable", ("no_calls",), ("envelope_not_stored",),
                     id="no call at all"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_retry(
    calls: list[Call],
    tools: tuple[OfferedTool, ...] | None,
    raw: str | None,
    parts: str,
    codes: tuple[str, ...],
    why: tuple[str, ...],
) -> None:
    found = strict_check(Output(calls=tuple(calls), tools=tools), raw)
    assert f"{found.verdict} {found.calls} {found.envelope}" == parts
    assert (set(found.codes), found.why) == (set(codes), why)


@given(
    calls=st.lists(st.sampled_from([GOOD, BAD, Call("bare", "{}"), Call("rm", "{"), Call("rate")]), max_size=3),
    tools=st.sampled_from([None, (), TOOLS]),
    raw=st.sampled_from([None, "", RAW, BARE]),
)
def test_it_accepts_no_more_than_the_batch_does(
    calls: list[Call], tools: tuple[OfferedTool, ...] | None, raw: str | None
) -> None:
    found = strict_check(Output(calls=tuple(calls), tools=tools), raw)
    batch = strict_batch(raw, calls, tools)
    assert (found.verdict == "accepted") == (batch.accepted and batch.envelope == "ok")
    assert (found.verdict == "refused") == bool(found.codes)
    assert set(found.codes) <= {each.code for each in batch.refusals}
