"""What is peculiar to BFCL's results."""

from typing import Any

import pytest

from ingest.detection import by_name
from ingest.formats import Item, Mapped, Quarantined
from tests.ingest.recorded.evals import LEAK
from tests.ingest.samples import decoded, generations, only, reason


def read(**fields: Any) -> list[Item]:
    return list(by_name("bfcl").read(decoded({"id": "simple_python_0", "latency": 1.0} | fields)))


def test_a_call_keeps_its_raw_arguments() -> None:
    one = only(read(result=[{"f": '{"a": 1'}, {"g": {"a": 1}}]))
    assert [(call.name, call.arguments) for call in one.tool_calls or []] == [("f", '{"a": 1'), ("g", {"a": 1})]
    assert one.call_mode == "native"


@pytest.mark.parametrize("text", [LEAK, "f(a=1)"], ids=["markup", "text by design"])
def test_the_mode_of_a_text_is_not_told(text: str) -> None:
    one = only(read(result=text, reasoning_content="hm", input_token_count=5, output_token_count=7))
    assert (one.content, one.reasoning, one.call_mode, one.effective_call_mode) == (text, "hm", None, "unknown")
    assert one.usage is not None
    assert (one.usage.input_tokens, one.usage.output_tokens) == (5, 7)


def test_the_replies_of_several_turns() -> None:
    result = [[[{"ls": "{}"}], "done"], [LEAK]]
    found = generations(read(id="multi_turn_base_0", result=result, input_token_count=[[1, 2], [3]]))
    assert [(one.turn, one.round, one.content) for one in found] == [(0, 0, None), (0, 1, "done"), (1, 0, LEAK)]
    assert [one.usage and one.usage.input_tokens for one in found] == [1, 2, 3]
    assert {one.run_id for one in found} == {"multi_turn_base_0"}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        pytest.param({"result": "Error during inference: timeout"}, "error", id="an error"),
        pytest.param({"result": "x", "traceback": "Traceback"}, "error", id="with its traceback"),
        pytest.param({"result": "The tool says: Error during inference: x"}, None, id="a reply that quotes one"),
    ],
)
def test_errors(fields: dict[str, Any], status: str | None) -> None:
    assert only(read(**fields)).status == status


def test_no_call_is_an_empty_list() -> None:
    assert only(read(result=[])).tool_calls == []


def test_no_reply_in_any_turn() -> None:
    assert [reason(item) for item in read(result=[[], []])] == ["no reply of a model"]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"id": 1, "result": "ok", "latency": 3}, id="an application's log"),
        pytest.param({"id": "job 1", "result": "ok", "latency": 3}, id="another id"),
        pytest.param({"id": "simple_0", "result": "ok"}, id="nothing beside it"),
    ],
)
def test_what_is_not_claimed(value: Any) -> None:
    assert by_name("bfcl").sniff([value]) == 0


@pytest.mark.parametrize(
    "result", [5, {"a": 1}, [5], [{"a": 1, "b": 2}]], ids=["a number", "an object", "no call", "two keys"]
)
def test_bad_results(result: Any) -> None:
    assert [type(item) for item in read(result=result)] == [Quarantined]


def test_a_bad_step_leaves_the_others() -> None:
    assert [type(item) for item in read(result=[["x", 5, "y"]])] == [Mapped, Quarantined, Mapped]
