"""What is peculiar to Ollama's own API."""

from typing import Any

import pytest

from ingest.formats import Item
from ingest.formats.ollama_chat import OLLAMA_CHAT
from tests.ingest.provider_bodies import REQUESTS, RESPONSES, STREAMS
from tests.ingest.samples import decoded, only, reason

WHOLE = RESPONSES["ollama-chat"]


def read(*values: Any) -> list[Item]:
    return list(OLLAMA_CHAT.read(decoded(*values)))


def test_a_reply() -> None:
    found = only(read({"request": REQUESTS["ollama-chat"], "response": WHOLE}))
    assert (found.engine, found.model, found.finish_reason, found.finish_fidelity) == ("ollama", "m-1", "stop", "wire")
    assert [made.arguments for made in found.tool_calls or ()] == [{"a": 1}]
    assert found.model_extra == {"requested_model": "m"}


def test_nanoseconds() -> None:
    found = only(read({**WHOLE, "created_at": "2026-11-30T12:00:00.123456789Z"}))
    assert str(found.started_at) == "2026-11-30 12:00:00.123456+00:00"


def test_a_reply_that_is_done_without_a_reason_is_not_cut() -> None:
    found = only(read({key: value for key, value in WHOLE.items() if key != "done_reason"}))
    assert (found.finish_reason, found.finish_fidelity, found.status) == (None, "absent", "ok")
    parts = [{key: value for key, value in part.items() if key != "done_reason"} for part in STREAMS["ollama-chat"]]
    assert only(read(*parts)).status == "ok"


def test_calls_of_several_parts_add_up() -> None:
    def part(name: str) -> dict[str, Any]:
        calls = [{"function": {"name": name, "arguments": {}}}]
        return {"model": "m", "done": False, "message": {"content": "", "tool_calls": calls}}

    found = only(read(part("ls"), part("rm"), {"model": "m", "done": True, "message": {"content": ""}}))
    assert [made.name for made in found.tool_calls or ()] == ["ls", "rm"]


def test_a_plain_request_is_read_beside_a_reply() -> None:
    asked = {key: value for key, value in REQUESTS["ollama-chat"].items() if key != "options"}
    found = only(read({"request": asked, "response": WHOLE}))
    assert [tool.name for tool in found.tools or ()] == ["ls"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param({**WHOLE, "done_reason": 7}, "no text", id="reason"),
        pytest.param({**WHOLE, "message": {"content": 7}}, "content is neither", id="content"),
        pytest.param({**WHOLE, "message": {"role": "assistant"}}, "needs one of content", id="nothing said"),
    ],
)
def test_what_is_not_understood_says_why(value: Any, why: str) -> None:
    (item,) = read(value)
    assert why in reason(item)
