"""What is peculiar to the results of K2 Vendor Verifier."""

from typing import Any

import pytest

from ingest.detection import by_name, choose
from ingest.formats import Item
from ingest.records import Generation
from tests.ingest.recorded.evals import KIMI_LEAK
from tests.ingest.samples import decoded, generations, only

CALL = {"id": "functions.bash:0", "type": "function", "function": {"name": "bash", "arguments": "{}"}}


def line(finish: str = "stop", request: Any = None, **message: Any) -> dict[str, Any]:
    asked = {
        "model": "k2",
        "messages": [],
        "tools": [{"type": "function", "function": {"name": "bash"}}],
        "stream": True,
    }
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    response = {"id": "c", "object": "chat.completion", "model": "k2", "choices": [choice], "usage": None}
    whole = {"data_index": 1, "request": asked | (request or {}), "response": response, "status": "success"}
    return whole | {"last_run_at": "2026-01-01T10:00:00.5", "duration_ms": 5, "hash": "0a"}


def read(*values: Any) -> list[Item]:
    return list(by_name("k2-vendor-verifier").read(decoded(*values)))


def one(value: Any) -> Generation:
    return only(read(value))


@pytest.mark.parametrize(
    ("value", "fidelity", "mode"),
    [
        pytest.param(line(content="x"), "inferred", "native", id="stop, which may be a stream that was cut"),
        pytest.param(line("length", content="x"), "wire", "native", id="another reason"),
        pytest.param(line("tool_calls", content="", tool_calls=[CALL]), "wire", "native", id="a call"),
        pytest.param(line(content="x", request={"stream": False}), "wire", "native", id="no stream"),
        pytest.param(line(content=KIMI_LEAK), "inferred", "native", id="a leak"),
        pytest.param(
            line("tool_calls", content=KIMI_LEAK, tool_calls=[CALL]), "mapped", "text", id="markup and its call"
        ),
        pytest.param(line("tool_calls", content="plain", tool_calls=[CALL]), "wire", "native", id="words and a call"),
        pytest.param(line(content="x", request={"tools": []}), "inferred", "none", id="no tools"),
    ],
)
def test_finish_and_call_mode(value: Any, fidelity: str, mode: str) -> None:
    assert (one(value).finish_fidelity, one(value).call_mode) == (fidelity, mode)


def test_a_raw_completion_is_text_by_design() -> None:
    value = line(content=KIMI_LEAK)
    del value["request"]["messages"]
    value["request"]["prompt"] = "<|im_system|>"
    assert (one(value).call_mode, one(value).finish_fidelity) == ("text", "mapped")


def test_text_was_put_together_from_a_stream() -> None:
    assert one(line(content="x")).text_fidelity == "rebuilt"
    assert one(line(content="x", request={"stream": False})).text_fidelity == "exact"


def test_the_time_of_the_run_has_no_zone_and_that_of_the_response_has() -> None:
    value = line(content="x")
    assert (one(value).model_extra or {})["zone"] == "assumed_utc"
    value["response"]["created"] = 1796000000
    assert "zone" not in (one(value).model_extra or {})


@pytest.mark.parametrize("response", [None, {"error": "timeout"}, "what"], ids=["none", "an error", "no object"])
def test_a_request_that_failed(response: Any) -> None:
    failed = one(line(content="x") | {"response": response, "status": "failed"})
    assert (failed.status, failed.content, failed.call_mode) == ("error", None, "native")


def test_one_run_a_test_and_vendor() -> None:
    values = [line(content="x"), line(content="x") | {"data_index": 2}, line(content="x")]
    assert [each.run_id for each in generations(read(*values))] == ["1:0a", "2:0a", "1:0a"]


def test_it_is_taken_before_mere_pairs() -> None:
    assert choose([line(content="x")], "results.jsonl").name == "k2-vendor-verifier"


def test_a_pair_of_another_logger_is_not_claimed() -> None:
    pair = {key: part for key, part in line(content="x").items() if key not in ("data_index", "hash")}
    assert by_name("k2-vendor-verifier").sniff([pair]) == 0
