"""Helicone, Portkey and OpenRouter: what the gateway says of a call, beside the provider's own bodies."""

from typing import Any

import pytest

from ingest.formats import Item, Mapped, Skipped
from ingest.formats.helicone import HELICONE
from ingest.formats.openrouter_generation import OPENROUTER_GENERATION
from ingest.formats.portkey import PORTKEY
from tests.ingest.samples import decoded, generations, only, reason

Object = dict[str, Any]

LS = {"type": "function", "function": {"name": "ls"}}
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [LS]}
CHOICES = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}]
RESPONSE = {"id": "r1", "object": "chat.completion", "model": "m-1", "created": 1796000000, "choices": CHOICES}
CACHED = "answered from a cache: no new generation"
NO_TEXT = "a response whose text was not logged"


def helicone(**rest: Any) -> Object:
    return {
        "request_id": "q1", "request_created_at": "2026-11-01 10:00:00.500", "request_body": REQUEST,
        "request_properties": {"Helicone-Session-Id": "s1"}, "response_body": RESPONSE, "response_status": 200,
        "provider": "OPENAI", **rest,
    }  # fmt: skip


def portkey(**rest: Any) -> Object:
    return {
        "created_at": "2026-11-01T10:00:00Z", "request": {"body": REQUEST}, "response": {"body": RESPONSE},
        "ai_org": "openai", "ai_model": "m", "cache_status": "MISS", "trace_id": "t1", **rest,
    }  # fmt: skip


def rows(*values: Any) -> list[Item]:
    return list(HELICONE.read(decoded(*values)))


def logs(*values: Any) -> list[Item]:
    return list(PORTKEY.read(decoded(*values)))


def test_helicone_names_session_provider_and_time() -> None:
    found = only(rows(helicone()))
    assert (found.run_id, found.generation_id, found.provider, found.model) == ("s1", "q1", "openai", "m-1")
    assert found.started_at
    assert found.started_at.isoformat() == "2026-11-01T10:00:00.500000+00:00"
    assert (found.model_extra or {})["zone"] == "assumed_utc"
    assert (found.call_mode, (found.model_extra or {})["response_id"]) == ("native", "r1")


def test_a_zone_that_is_told_is_not_assumed() -> None:
    assert "zone" not in (only(rows(helicone(request_created_at="2026-11-01T10:00:00Z"))).model_extra or {})


def test_rows_without_a_session_are_one_run_where_their_history_continues() -> None:
    said = [*REQUEST["messages"], {"role": "assistant", "content": "hello"}, {"role": "user", "content": "more"}]
    later = {**REQUEST, "messages": said}
    bare: Object = {"request_properties": {}}
    first, second = generations(rows(helicone(**bare), helicone(**bare, request_id="q2", request_body=later)))
    assert first.run_id == second.run_id
    apart, other = generations(rows(helicone(**bare), helicone(**bare, request_id="q3")))
    assert apart.run_id != other.run_id


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param({"cache_reference_id": "0195aa2b-0000-4000-8000-000000000001"}, CACHED, id="from the cache"),
        pytest.param({"response_body": None}, NO_TEXT, id="without bodies"),
        pytest.param(
            {"request_body": None, "response_body": None, "signed_body_url": "x"}, NO_TEXT, id="bodies elsewhere"
        ),
    ],
)
def test_rows_without_a_generation_are_skipped(change: Object, why: str) -> None:
    (item,) = rows(helicone(**change))
    assert isinstance(item, Skipped)
    assert item.why == why


def test_the_nil_reference_is_no_cache() -> None:
    assert only(rows(helicone(cache_reference_id="00000000-0000-0000-0000-000000000000"))).content == "hello"


def test_an_error_body_is_a_failed_generation() -> None:
    found = only(rows(helicone(response_status=500, response_body={"error": {"message": "no", "code": 500}})))
    assert (found.status, [tool.name for tool in found.tools or ()]) == ("error", ["ls"])


def test_a_streamed_response_is_put_together() -> None:
    assert only(rows(helicone(request_body={**REQUEST, "stream": True}))).text_fidelity == "rebuilt"
    assert only(rows(helicone())).text_fidelity == "exact"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({}, id="nested"),
        pytest.param(
            {"request": None, "response": None, "request.body": REQUEST, "response.body": RESPONSE}, id="dotted keys"
        ),
    ],
)
def test_portkey_names_trace_and_provider(change: Object) -> None:
    found = only(logs(portkey(**change)))
    assert (found.run_id, found.provider, found.content, found.call_mode) == ("t1", "openai", "hello", "native")
    assert found.started_at
    assert found.started_at.isoformat() == "2026-11-01T10:00:00+00:00"


def test_portkey_tells_how_often_it_retried_unseen() -> None:
    assert (only(logs(portkey(retry_success_count=2))).model_extra or {})["hidden_retries"] == 2
    assert "hidden_retries" not in (only(logs(portkey(retry_success_count=0))).model_extra or {})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param({"cache_status": "HIT"}, CACHED, id="from the cache"),
        pytest.param({"cache_status": "SEMANTIC HIT"}, CACHED, id="from the semantic cache"),
        pytest.param({"request": None, "response": None}, NO_TEXT, id="columns not picked"),
    ],
)
def test_logs_without_a_generation_are_skipped(change: Object, why: str) -> None:
    (item,) = logs(portkey(**change))
    assert reason(item) == why


META = {
    "id": "gen-1", "model": "a/m", "provider_name": "Host", "created_at": "2026-11-01T10:00:00Z", "cancelled": False,
    "finish_reason": "stop", "native_finish_reason": "eos", "tokens_prompt": 9, "tokens_completion": 3,
    "session_id": "s1",
}  # fmt: skip
CONTENT = {
    "input": {"messages": [{"role": "user", "content": "hi"}]},
    "output": {"completion": "hello", "reasoning": None},
}


def routed(*values: Any) -> list[Item]:
    return list(OPENROUTER_GENERATION.read(decoded(*values)))


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        pytest.param([{"data": META}, {"data": CONTENT}], [Skipped, Mapped], id="one after the other"),
        pytest.param([META, CONTENT], [Skipped, Mapped], id="unwrapped"),
        pytest.param([{"data": {**META, **CONTENT}}], [Mapped], id="in one object"),
    ],
)
def test_metadata_and_content_are_one_generation(values: list[Any], kinds: list[type]) -> None:
    items = routed(*values)
    assert [type(item) for item in items] == kinds
    found = only(items)
    assert (found.run_id, found.generation_id, found.provider, found.model) == ("s1", "gen-1", "Host", "a/m")
    assert (found.content, found.reasoning, found.finish_reason) == ("hello", None, "stop")
    assert (found.model_extra or {})["native_finish_reason"] == "eos"


def test_tools_and_calls_of_openrouter_are_unknown() -> None:
    assert not only(routed(META, CONTENT)).model_fields_set & {"tools", "tool_calls", "call_mode"}


def test_content_belongs_to_the_line_before_alone() -> None:
    items = routed(META, {**META, "id": "gen-2"}, CONTENT, CONTENT)
    assert [item.line for item in items] == [1, 2, 3, 4]
    assert reason(items[0]) == NO_TEXT
    assert [each.generation_id for each in generations(items)] == ["gen-2", None]


def test_metadata_at_the_end_has_no_text() -> None:
    (item,) = routed(META)
    assert reason(item) == NO_TEXT


@pytest.mark.parametrize(
    ("change", "status"),
    [
        pytest.param({"cancelled": True}, "cancelled", id="cancelled"),
        pytest.param({"error": {"message": "no"}}, "error", id="an error"),
        pytest.param({"error": None}, None, id="no error"),
    ],
)
def test_how_a_generation_ended_is_told(change: Object, status: str | None) -> None:
    assert only(routed({**META, **CONTENT, **change})).status == status
