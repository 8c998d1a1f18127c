"""An answer of code becomes a finding, or a failure that says what is wrong with it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.candidates.wire import answer_of, as_json, as_output, line, said, told, verdict
from analysis.detectors import Failure, Finding
from analysis.output import Call, OfferedTool, Output

OUTPUT = Output("Say <a>x</a>.", "Hm <b>", (Call("ls", "{}"), Call("rm", "<c>")), (OfferedTool("ls", {"a": 1}),))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = ["leak", "kind", "family", "tier", "tool", "channel", "start", "end", "markup", "reason", "calls", "error"]
LIKELY = st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON))


@pytest.mark.parametrize(
    ("value", "place", "tier"),
    [
        pytest.param({"markup": "<a>"}, ("content", 4, 7), "likely", id="a markup"),
        pytest.param({"start": 4, "end": 12}, ("content", 4, 12), "likely", id="numbers"),
        pytest.param({"start": 4, "end": 12, "markup": "no"}, ("content", 4, 12), "likely", id="numbers decide"),
        pytest.param({"markup": "<b>", "channel": "reasoning"}, ("reasoning", 3, 6), "likely", id="another channel"),
        pytest.param({"markup": "<c>", "channel": "tool_arguments"}, ("tool_arguments", 0, 3), "likely", id="a call"),
        pytest.param({"markup": "<a>", "leak": False}, ("content", 4, 7), "possible", id="no leak: possible"),
        pytest.param({"markup": "<a>", "tier": "certain"}, ("content", 4, 7), "certain", id="a tier"),
        pytest.param({"markup": "<a>\ud83d"}, ("content", 4, 7), "likely", id="cut inside a surrogate pair"),
    ],
)
def test_a_finding_has_a_place(value: dict[str, Any], place: tuple[str, int, int], tier: str) -> None:
    found = verdict(value, OUTPUT)
    assert isinstance(found, Finding)
    assert ((found.channel, found.start, found.end), found.tier) == (place, tier)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param(b"", "no JSON: it answered ''", id="nothing"),
        pytest.param(b"nul", "no JSON: it answered 'nul'", id="half a null"),
        pytest.param(b"[" * 100_000, "no JSON: it answered '[[[", id="nested deeply"),
        pytest.param(b"true", "no finding: it answered 'true'", id="a truth value"),
        pytest.param(b"[]", "no finding: it answered '[]'", id="a list"),
        pytest.param(b"{}", "no finding: it has no place", id="no place"),
        pytest.param(b'{"markup":"<z>"}', "no finding: its markup does not stand in the content", id="a wrong markup"),
        pytest.param(b'{"start":4}', "no finding: start and end are whole numbers", id="half a place"),
        pytest.param(b'{"start":4.0,"end":5}', "no finding: start and end are whole numbers", id="half numbers"),
        pytest.param(b'{"start":true,"end":5}', "no finding: start and end are whole numbers", id="a truth value"),
        pytest.param(b'{"start":9,"end":99}', "no finding: [9, 99) is no place in the content", id="beyond the end"),
        pytest.param(b'{"start":5,"end":5}', "no finding: [5, 5) is no place", id="nowhere"),
        pytest.param(b'{"markup":"<a>","kind":"odd"}', "no finding: kind 'odd' is none of leaked_call", id="a kind"),
        pytest.param(b'{"markup":"<a>","tier":[1]}', "no finding: tier [1] is none of", id="a tier"),
        pytest.param(b'{"markup":"<a>","colour":1}', "no finding: unknown key 'colour'; known: calls", id="a key"),
        pytest.param(b'{"markup":"<a>","calls":{}}', "no finding: calls is no list", id="calls"),
        pytest.param(b'{"markup":"<a>","calls":[{}]}', "no finding: a call has a name", id="a call without a name"),
        pytest.param(b'{"error":"no idea"}', "raised: no idea", id="an error of its own"),
    ],
)
def test_what_is_no_finding_is_a_failure(answer: bytes, why: str) -> None:
    failure = said(answer, OUTPUT)
    assert isinstance(failure, Failure)
    assert failure.why.startswith(why)


@given(JSON | LIKELY)
def test_any_answer_has_a_verdict_that_a_store_can_hold(value: Any) -> None:
    found = said(line(value), OUTPUT)
    if isinstance(found, Finding):
        for text in (found.markup, found.reason, found.family, found.tool, *(call.arguments for call in found.calls)):
            assert text is None or text.encode()
        assert 0 <= found.start < found.end
    assert told(answer_of(found), OUTPUT) == found


TEXT = st.none() | st.text(st.characters(), max_size=20) | st.just("\ud800\u2028")


@given(
    st.builds(
        Output,
        content=TEXT,
        reasoning=TEXT,
        calls=st.lists(st.builds(Call, st.text(max_size=5), TEXT), max_size=2).map(tuple),
        tools=st.none() | st.lists(st.builds(OfferedTool, st.text(max_size=5), st.none()), max_size=2).map(tuple),
        inferred_names=st.frozensets(st.text(max_size=5), max_size=2),
        finish_reason=TEXT,
    )
)
def test_an_output_comes_through_whole(output: Output) -> None:
    import json

    sent = line(as_json(output))
    assert sent.count(b"\n") == 1
    assert as_output(json.loads(sent)) == output
