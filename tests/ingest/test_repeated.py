"""What readers note of a reply beyond the reply: which replies a request sends back, whether a text was carried out."""

from typing import Any

import pytest

from ingest.formats.litellm import LITELLM
from ingest.formats.messages import MESSAGES
from ingest.formats.openai_chat import OPENAI_CHAT
from ingest.formats.portkey import PORTKEY
from ingest.shapes.repeated import reply_hash, sent_back
from tests.ingest.samples import decoded, generations

LEAK = "<tool_call>\n<function=ls>\n</function>\n</tool_call>"
USER = {"role": "user", "content": "What is here?"}
SAID = {"role": "assistant", "content": LEAK}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "a.txt"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "ls"}}]}
BLOCK = {"role": "user", "content": [{"type": "tool_result", "content": "a.txt"}]}
PARTS = [{"type": "text", "text": LEAK}]
TAUGHT = {"role": "system", "content": "<tools>"}
TRIMMED = reply_hash(LEAK)


@pytest.mark.parametrize(
    ("messages", "noted"),
    [
        pytest.param([USER], {}, id="no reply is sent back"),
        pytest.param([USER, SAID, USER], {"history_replies": [TRIMMED]}, id="a reply"),
        pytest.param([{**SAID, "content": f"\n{LEAK} \r\n"}], {"history_replies": [TRIMMED]}, id="blanks around it"),
        pytest.param([{**SAID, "content": PARTS}], {"history_replies": [TRIMMED]}, id="in parts"),
        pytest.param([CALLED, RESULT], {"history_replies": []}, id="a reply without a text"),
        pytest.param([{**SAID, "content": " "}], {"history_replies": []}, id="a blank reply"),
        pytest.param([{**USER, "content": LEAK}], {}, id="a user says the same"),
        pytest.param([7, None, "x"], {}, id="what is no message"),
        pytest.param([{**SAID, "content": "\ud800"}], {"history_replies": [reply_hash("?")]}, id="half a pair"),
    ],
)  # fmt: skip
def test_the_replies_that_a_request_sends_back(messages: list[Any], noted: dict[str, Any]) -> None:
    assert sent_back(messages) == noted


def test_blanks_do_not_matter_and_text_does() -> None:
    assert reply_hash(f" {LEAK}\n") == reply_hash(LEAK) != reply_hash(f"{LEAK}.")
    assert reply_hash(" \n") is None


RESPONSE = {"id": "x", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": SAID}]}


ASKED = {"messages": [USER, SAID], "model": "m"}
RECORDS = [
    (OPENAI_CHAT, {"request": ASKED, "response": RESPONSE}, "pairs"),
    (PORTKEY, {"request": {"body": ASKED}, "response": {"body": RESPONSE}, "trace_id": "t",
               "created_at": "2026-11-01T10:00:00Z", "ai_org": "openai", "ai_model": "m", "cache_status": "MISS"},
     "a gateway"),
    (LITELLM, {"litellm_call_id": "c", "messages": [USER, SAID], "response": RESPONSE, "status": "success",
               "startTime": 1.0, "call_type": "acompletion", "model": "m", "model_parameters": {},
               "hidden_params": {}}, "a proxy"),
]  # fmt: skip


@pytest.mark.parametrize(("format_", "record"), [pytest.param(*row[:2], id=row[2]) for row in RECORDS])
def test_readers_of_requests_note_them(format_: Any, record: dict[str, Any]) -> None:
    [found] = generations(list(format_.read(decoded(record))))
    assert (found.model_extra or {})["history_replies"] == [TRIMMED]


@pytest.mark.parametrize(
    ("messages", "noted"),
    [
        pytest.param([SAID, RESULT], [True], id="a result follows the text"),
        pytest.param([SAID, {**RESULT, "role": "function"}, CALLED], [True, None], id="an old kind of result"),
        pytest.param([SAID, BLOCK, CALLED], [True, None], id="a block with a result"),
        pytest.param([CALLED, RESULT, SAID, USER], [None, False], id="a user follows it"),
        pytest.param([CALLED, RESULT, SAID], [None, False], id="nothing follows it"),
        pytest.param([CALLED, RESULT, {**SAID, "content": "Done."}], [None, None], id="a text without a call"),
        pytest.param([SAID, USER, CALLED], [None, None], id="results stand nowhere"),
        pytest.param([TAUGHT, SAID, {"role": "tool", "content": "a"}], [None], id="calls in text by design"),
    ],
)  # fmt: skip
def test_conversations_tell_whether_a_text_was_carried_out(messages: list[Any], noted: list[bool | None]) -> None:
    found = generations(list(MESSAGES.read(decoded({"messages": [USER, *messages]}))))
    assert [(each.model_extra or {}).get("text_executed") for each in found] == noted
