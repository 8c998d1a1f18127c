"""LiteLLM: calls are known by LiteLLM's own id and start, retries by their trace, and what it cut or hid is told."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats import Format, Item, Mapped, Quarantined, Skipped
from ingest.formats.litellm import LITELLM
from ingest.formats.litellm_spend_logs import LITELLM_SPEND_LOGS
from tests.ingest.samples import decoded, generations, json_values, only, reason

Object = dict[str, Any]

LS = {"type": "function", "function": {"name": "ls"}}
ASKED = [{"role": "user", "content": "what is here?"}]
CUT = '{"text": "aaa... (litellm_truncated skipped 9000 chars. Truncation is a DB storage safeguard.) ...zzz"}'


def response(message: Object | None = None, **rest: Any) -> Object:
    said = {"role": "assistant", **(message or {"content": "hello"})}
    choice = {"index": 0, "message": said, "finish_reason": "stop"}
    return {"id": "same", "object": "chat.completion", "model": "m-2026", "choices": [choice], **rest}


def payload(**rest: Any) -> Object:
    return {
        "id": "same", "litellm_call_id": "c1", "trace_id": "t1", "session_id": "", "call_type": "acompletion",
        "status": "success", "custom_llm_provider": "hosted_vllm", "startTime": 1796000000.5, "model": "m",
        "messages": ASKED, "response": response(), "model_parameters": {"tools": [LS]}, "hidden_params": {},
        "error_information": None, "cache_hit": None, "stream": None, **rest,
    }  # fmt: skip


def read(*values: Object, chosen: Format = LITELLM) -> list[Item]:
    return list(chosen.read(decoded(*values)))


def failed(**rest: Any) -> Object:
    told = {"error_code": "503", "error_class": "ServiceUnavailableError", "error_message": "no", "traceback": "File x"}
    return payload(**{"status": "failure", "response": {}, "error_information": told, **rest})


def test_calls_that_share_a_response_id_are_still_calls_of_their_own() -> None:
    first, second = generations(
        read(payload(), payload(litellm_call_id="c2", trace_id="t2", startTime=1796000001.5, messages=[*ASKED, *ASKED]))
    )
    assert (first.generation_id, second.generation_id) == ("c1", "c2")
    assert (first.model_extra or {})["response_id"] == "same"
    assert first.run_id != second.run_id


def test_choices_of_one_response_keep_apart() -> None:
    two = response()
    two["choices"] = [*two["choices"], {"index": 1, "message": {"content": "hi"}, "finish_reason": "stop"}]
    found = generations(read(payload(response=two)))
    assert [each.generation_id for each in found] == ["c1", "c1#1"]
    assert [(each.model_extra or {}).get("response_id") for each in found] == ["same", "same"]


@pytest.mark.parametrize(
    ("change", "run"),
    [
        pytest.param({"session_id": "s1"}, "s1", id="the session that the client names"),
        pytest.param({"session_id": "", "trace_id": "t9"}, None, id="a trace alone is one call, no run"),
    ],
)
def test_the_run_is_the_session_and_not_the_trace(change: Object, run: str | None) -> None:
    found = only(read(payload(**change)))
    assert found.run_id == (run or found.run_id)
    assert found.run_id != "t9"


def test_calls_without_a_session_are_one_run_where_their_history_continues() -> None:
    later = [*ASKED, {"role": "assistant", "content": "hello"}, {"role": "user", "content": "more"}]
    first, second = generations(
        read(payload(), payload(litellm_call_id="c2", trace_id="t2", startTime=1796000001.0, messages=later))
    )
    assert first.run_id == second.run_id
    assert [(each.turn, each.attempt) for each in (first, second)] == [(0, 0), (1, 0)]


def test_a_retry_is_the_same_request_again_in_the_same_trace() -> None:
    tries = [failed(), failed(startTime=1796000002.5), payload(startTime=1796000003.5, litellm_call_id="c3")]
    found = generations(read(*tries))
    assert [each.attempt for each in found] == [0, 1, 2]
    assert [each.status for each in found] == ["error", "error", None]
    assert len({each.run_id for each in found}) == 1


def test_another_request_of_the_same_trace_is_no_retry() -> None:
    found = generations(read(payload(), payload(messages=[*ASKED, *ASKED], startTime=1796000003.5)))
    assert [each.attempt for each in found] == [0, 0]
    assert len({each.run_id for each in found}) == 1


def test_a_call_logged_by_two_callbacks_has_one_identity() -> None:
    first, second = read(payload(), payload())
    assert isinstance(first, Mapped)
    assert isinstance(second, Mapped)
    assert (first.request, first.records) == (second.request, second.records)
    (third,) = read(payload(startTime=1796000009.5))
    assert isinstance(third, Mapped)
    assert third.request != first.request


def test_a_failure_is_a_generation_without_output() -> None:
    found = only(read(failed()))
    assert (found.status, found.content, found.finish_fidelity) == ("error", None, "absent")
    assert (found.model_extra or {})["error"] == {
        "error_code": "503",
        "error_class": "ServiceUnavailableError",
        "error_message": "no",
    }
    assert [tool.name for tool in found.tools or ()] == ["ls"]


@pytest.mark.parametrize(
    ("change", "fidelity"),
    [
        pytest.param({}, "exact", id="a whole response"),
        pytest.param({"stream": True}, "rebuilt", id="a stream put together again"),
        pytest.param({"response": response({"content": "redacted-by-litellm"})}, "redacted", id="logging is off"),
        pytest.param(
            {"response": response({"content": "it says redacted-by-litellm"})}, "exact", id="a text about the marker"
        ),
    ],
)
def test_what_was_done_to_the_text_is_told(change: Object, fidelity: str) -> None:
    assert only(read(payload(**change))).text_fidelity == fidelity


def test_the_model_of_a_stream_is_the_one_asked_for() -> None:
    streamed = only(read(payload(stream=True, response=response(model="m"))))
    assert (streamed.model, (streamed.model_extra or {})["model_is"]) == ("m", "requested")
    whole = only(read(payload()))
    assert (whole.model, (whole.model_extra or {})["requested_model"]) == ("m-2026", "m")
    assert "model_is" not in (whole.model_extra or {})


@pytest.mark.parametrize(
    ("parameters", "tools", "mode"),
    [
        pytest.param({"tools": [LS]}, ["ls"], "native", id="offered"),
        pytest.param({}, [], "none", id="none offered"),
        pytest.param({"tools": [LS], "tool_choice": "none"}, ["ls"], "none", id="offered and forbidden"),
    ],
)
def test_tools_are_those_of_the_parameters(parameters: Object, tools: list[str], mode: str) -> None:
    found = only(read(payload(model_parameters=parameters)))
    assert ([tool.name for tool in found.tools or ()], found.call_mode) == (tools, mode)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param({"cache_hit": True}, "answered from a cache: no new generation", id="cached"),
        pytest.param({"call_type": "aembedding", "response": {"data": []}}, "not a call of a model", id="embedding"),
        pytest.param({"response": {}}, "a response whose text was not logged", id="no response"),
        pytest.param({"response": "redacted-by-litellm"}, "a response whose text was not logged", id="all redacted"),
    ],
)
def test_what_is_no_generation_is_skipped(change: Object, why: str) -> None:
    (item,) = read(payload(**change))
    assert isinstance(item, Skipped)
    assert item.why == why


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(payload(response={"object": "strange"}), id="a body of no known API"),
        pytest.param({"call_type": "acompletion"}, id="half a payload"),
        pytest.param(payload(response=response({"tool_calls": 3})), id="calls that are no list"),
    ],
)
def test_what_is_not_understood_is_quarantined(value: Object) -> None:
    (item,) = read(value)
    assert isinstance(item, Quarantined)


def test_a_list_of_payloads_is_read_like_lines() -> None:
    found = generations(read([payload(), payload(litellm_call_id="c2", startTime=1.5)]))  # type: ignore[arg-type]
    assert [each.generation_id for each in found] == ["c1", "c2"]


def row(**rest: Any) -> Object:
    request = {"model": "m", "messages": ASKED, "tools": [LS]}
    return {
        "request_id": "r1", "call_type": "acompletion", "api_key": "hash", "spend": 0.0, "prompt_tokens": 9,
        "completion_tokens": 3, "startTime": "2026-11-01 10:00:00.250", "model": "m", "cache_hit": "False",
        "custom_llm_provider": "hosted_vllm", "session_id": "s1", "status": "success", "metadata": "{}",
        "messages": "{}", "response": json.dumps(response()), "proxy_server_request": json.dumps(request), **rest,
    }  # fmt: skip


def spent(**rest: Any) -> list[Item]:
    return read(row(**rest), chosen=LITELLM_SPEND_LOGS)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({}, id="columns in strings"),
        pytest.param(
            {"response": response(), "proxy_server_request": {"messages": ASKED, "tools": [LS]}}, id="objects"
        ),
        pytest.param(
            {"proxy_server_request": {"body": {"messages": ASKED, "tools": [LS]}}}, id="the request in a body"
        ),
    ],
)
def test_a_row_holds_request_and_response(change: Object) -> None:
    found = only(spent(**change))
    assert (found.run_id, found.generation_id, found.content) == ("s1", "r1", "hello")
    assert [tool.name for tool in found.tools or ()] == ["ls"]
    assert found.started_at
    assert found.started_at.isoformat() == "2026-11-01T10:00:00.250000+00:00"
    assert found.text_fidelity == "exact"


def test_a_row_without_its_request_does_not_know_the_tools() -> None:
    found = only(spent(proxy_server_request="{}"))
    assert (found.call_mode, found.tools) == (None, None)


def test_cut_arguments_are_no_fault_of_the_model() -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
        {"id": "b", "type": "function", "function": {"name": "ls", "arguments": CUT[:60] + CUT[-9:]}},
    ]
    found = only(spent(response=response({"content": None, "tool_calls": calls})))
    assert (found.text_fidelity, (found.model_extra or {})["truncated_arguments"]) == ("truncated", [1])


@pytest.mark.parametrize("channel", ["content", "reasoning_content"])
def test_cut_text_is_told(channel: str) -> None:
    found = only(spent(response=response({"content": "", channel: CUT})))
    assert found.text_fidelity == "truncated"
    assert "truncated_arguments" not in (found.model_extra or {})


def test_a_cut_request_is_told_apart() -> None:
    found = only(spent(proxy_server_request={"messages": [{"role": "user", "content": CUT}], "tools": [LS]}))
    assert (found.text_fidelity, (found.model_extra or {})["request_truncated"]) == ("exact", True)


def test_the_error_of_a_failed_row_stands_in_its_metadata() -> None:
    told = json.dumps({"error_information": {"error_class": "Timeout", "traceback": "File x"}})
    found = only(spent(status="failure", response="{}", metadata=told))
    assert (found.status, (found.model_extra or {})["error"]) == ("error", {"error_class": "Timeout"})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param({"response": "{}"}, "a response whose text was not logged", id="prompts are not stored"),
        pytest.param({"cache_hit": "True"}, "answered from a cache: no new generation", id="cached"),
        pytest.param({"request_id": "r1_cache_hit1.5"}, "answered from a cache: no new generation", id="cached, by id"),
        pytest.param({"call_type": "aembedding", "response": "{}"}, "not a call of a model", id="embedding"),
    ],
)
def test_rows_without_a_generation_are_skipped(change: Object, why: str) -> None:
    (item,) = spent(**change)
    assert isinstance(item, Skipped)
    assert reason(item) == why


@pytest.mark.parametrize(("chosen", "make"), [(LITELLM, payload), (LITELLM_SPEND_LOGS, row)])
@given(data=st.data())
@settings(deadline=None, max_examples=200)
def test_anything_in_any_place_is_answered(chosen: Format, make: Any, data: st.DataObject) -> None:
    value = make()
    for key in data.draw(st.lists(st.sampled_from(sorted(value)), max_size=4)):
        value[key] = data.draw(json_values)
    assert len(read(value, chosen=chosen)) == 1
