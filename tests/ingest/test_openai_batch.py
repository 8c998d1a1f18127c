"""Lines of a batch's input and output are joined on `custom_id`, in either order, each answered once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats import Item, Mapped, Skipped
from ingest.formats import openai_batch as module
from ingest.formats.openai_batch import OPENAI_BATCH
from tests.ingest.provider_bodies import REQUESTS, RESPONSES
from tests.ingest.samples import decoded, generations, only, reason

Object = dict[str, Any]


def asked(name: str, body: Object | None = None) -> Object:
    return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body or REQUESTS["openai-chat"]}


def answered(name: str, body: Object | None = None, status: int = 200) -> Object:
    response = {"status_code": status, "request_id": "r", "body": body or RESPONSES["openai-chat"]}
    return {"id": f"batch_req_{name}", "custom_id": name, "response": response, "error": None}


def read(*values: Any) -> list[Item]:
    return list(OPENAI_BATCH.read(decoded(*values)))


@given(st.permutations([asked("a"), asked("b"), asked("c"), answered("a"), answered("b"), answered("d")]))
def test_any_order_of_lines_gives_the_same(lines: list[Object]) -> None:
    items = read(*lines)
    assert sorted(item.line for item in items) == [1, 2, 3, 4, 5, 6]
    found = {(one.model_extra or {})["custom_id"]: one for one in generations(items)}
    assert {name: "tools" in one.model_fields_set for name, one in found.items()} == {"a": True, "b": True, "d": False}
    assert len({one.run_id for one in found.values()}) == 3
    assert sorted(reason(item) for item in items if isinstance(item, Skipped)) == [
        "a request whose response stands on another line",
        "a request whose response stands on another line",
        "a request without a response",
    ]


def test_a_joined_response_has_what_was_asked() -> None:
    first, second = (only(read(*lines)) for lines in ((asked("a"), answered("a")), (answered("a"), asked("a"))))
    assert first == second
    assert [tool.name for tool in first.tools or ()] == ["ls"]
    assert (first.call_mode, first.model, first.content) == ("native", "m-1", "ab")
    assert first.model_extra == {"custom_id": "a", "requested_model": "m"}


def test_the_request_has_the_hash_it_would_have_in_a_pair() -> None:
    (joined,) = (item for item in read(asked("a"), answered("a")) if isinstance(item, Mapped))
    (alone,) = read(answered("a"))
    assert joined.request
    assert isinstance(alone, Mapped)
    assert alone.request is None


@pytest.mark.parametrize(
    ("line", "status", "error"),
    [
        pytest.param(
            {"id": "q", "custom_id": "a", "response": None, "error": {"code": "batch_expired", "message": "late"}},
            "error",
            {"code": "batch_expired", "message": "late"},
            id="expired",
        ),
        pytest.param(
            answered("a", {"error": {"message": "bad"}}, 400), "error", {"message": "bad"}, id="a bad request"
        ),
        pytest.param(
            {"custom_id": "a", "result": {"type": "errored", "error": {"type": "error", "error": {"message": "x"}}}},
            "error",
            {"type": "error", "error": {"message": "x"}},
            id="Anthropic's error",
        ),
        pytest.param({"custom_id": "a", "result": {"type": "canceled"}}, "cancelled", None, id="Anthropic's cancelled"),
        pytest.param({"custom_id": "a", "result": {"type": "expired"}}, "error", None, id="Anthropic's expired"),
    ],
)
def test_an_error_is_a_generation_without_output(line: Object, status: str, error: Any) -> None:
    assert OPENAI_BATCH.sniff([line]) == 1
    found = only(read(line))
    assert (found.status, found.content, found.finish_fidelity) == (status, None, "absent")
    assert (found.model_extra or {}).get("error") == error
    with_tools = only(read(asked("a"), line))
    assert [tool.name for tool in with_tools.tools or ()] == ["ls"]


def test_anthropics_results_are_joined_with_their_params() -> None:
    message = {"custom_id": "a", "result": {"type": "succeeded", "message": RESPONSES["anthropic-messages"]}}
    params = {"custom_id": "a", "params": REQUESTS["anthropic-messages"]}
    for lines in ([message, params], [params, message]):
        found = only(read(*lines))
        assert (found.content, [tool.name for tool in found.tools or ()]) == ("ab", ["ls"])


def test_responses_of_the_other_api() -> None:
    found = only(read(answered("a", RESPONSES["openai-responses"]), asked("a", REQUESTS["openai-responses"])))
    assert (found.content, [tool.name for tool in found.tools or ()]) == ("ab", ["ls"])


def test_two_responses_to_one_request_are_two_generations() -> None:
    found = generations(read(asked("a"), answered("a"), answered("a", {**RESPONSES["openai-chat"], "id": "y"})))
    assert [one.generation_id for one in found] == ["x", "y"]
    assert all(one.tools for one in found)


def test_the_same_upload_has_the_same_runs() -> None:
    assert only(read(answered("a"))).run_id == only(read(answered("a"))).run_id
    assert only(read(answered("a"))).run_id != only(read(answered("b"))).run_id


def test_responses_that_wait_too_long_are_read_without_their_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAITING", 2)
    items = read(*(answered(name) for name in "abc"), asked("a"), asked("b"))
    found = {(one.model_extra or {})["custom_id"]: bool(one.tools) for one in generations(items)}
    assert found == {"a": False, "b": True, "c": False}
    assert sorted(item.line for item in items) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param({"custom_id": "a"}, "no line of a batch", id="an id alone"),
        pytest.param([], "no line of a batch", id="a list"),
        pytest.param(asked("a", {"prompt": "x"}), "a request to no API", id="another API's request"),
        pytest.param(asked("a", {"messages": [7]}), "messages holds", id="a number as message"),
        pytest.param(answered("a", {"data": []}), "holds no response of an API", id="another API's response"),
        pytest.param({"id": "q", "custom_id": "a", "response": None, "error": None}, "holds no response", id="nothing"),
    ],
)
def test_a_line_that_is_not_understood_says_why(value: Any, why: str) -> None:
    (item,) = read(value)
    assert why in reason(item)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"custom_id": "a", "name": "x"}, id="an id of something else"),
        pytest.param({"custom_id": 7, "response": None, "error": None}, id="a number"),
        pytest.param({"response": {"body": {}}, "error": None}, id="no id"),
        pytest.param({"custom_id": "a", "response": "text"}, id="a text for a response"),
    ],
)
def test_what_is_no_batch(value: Any) -> None:
    assert OPENAI_BATCH.sniff([value]) == 0
