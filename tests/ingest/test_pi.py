"""Pi: a tree of entries; STS: the same header, another format."""

from typing import Any

import pytest

from ingest.detection import choose
from ingest.formats import Item, Mapped, Quarantined
from ingest.formats.hf_sts import HF_STS
from ingest.formats.pi import PI
from tests.ingest.samples import decoded, generations, only, reason

TIME = "2026-11-30T08:00:00.000Z"
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/w"}
TEXT = {"type": "text", "text": "hi"}


def entry(key: str, parent: str | None, message: Any = None, kind: str = "message", **rest: Any) -> dict[str, Any]:
    told = {"message": message} if message is not None else {}
    return {"type": kind, "id": key, "parentId": parent, "timestamp": TIME, **told, **rest}


def said(*blocks: Any, stop: str = "stop", **rest: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), "model": "m", "provider": "p", "stopReason": stop, **rest}


USER = {"role": "user", "content": [TEXT]}
RESULT = {"role": "toolResult", "toolCallId": "c", "content": [TEXT]}


def session(*lines: Any, header: Any = HEADER) -> list[Item]:
    return list(PI.read(decoded(header, *lines)))


def test_a_response_has_both_models_and_its_finish_reason() -> None:
    found = only(
        session(entry("a", None, said(TEXT, responseModel="m-1", responseId="r", usage={"input": 9, "output": 3})))
    )
    assert (found.model, (found.model_extra or {})["requested_model"], found.provider) == ("m-1", "m", "p")
    assert (found.finish_reason, found.finish_fidelity, found.text_fidelity) == ("stop", "mapped", "exact")
    assert found.usage
    assert (found.usage.input_tokens, found.usage.output_tokens) == (9, 3)
    assert "tools" not in found.model_fields_set


def test_abandoned_branches_were_generated_too() -> None:
    items = session(
        entry("u", None, USER),
        entry("a", "u", said(TEXT)),
        entry("b", "u", said({"type": "text", "text": "another"})),
        entry("c", "a", USER),
        entry("d", "c", said(TEXT)),
    )
    found = generations(items)
    assert [each.generation_id for each in found] == ["a", "b", "d"]
    assert [(each.turn, each.round, each.attempt) for each in found] == [(0, 0, 0), (0, 1, 0), (1, 2, 0)]


def test_the_call_after_an_error_is_another_attempt() -> None:
    items = session(
        entry("u", None, USER),
        entry("a", "u", said(stop="error", errorMessage="529")),
        entry("b", "a", said(TEXT, stop="toolUse")),
        entry("r", "b", RESULT),
        entry("c", "r", said(TEXT, stop="aborted")),
    )
    found = generations(items)
    assert [(each.round, each.attempt, each.status) for each in found] == [
        (0, 0, "error"), (0, 1, "ok"), (1, 0, "cancelled"),
    ]  # fmt: skip
    assert (found[0].content, (found[0].model_extra or {})["error"]) == (None, "529")


def test_a_fork_holds_copies_of_the_same_responses() -> None:
    """The request that an entry answers is named without its session."""
    line = entry("a", "u", said(TEXT))
    (first,) = [item for item in session(line) if isinstance(item, Mapped)]
    (second,) = [
        item for item in session(line, header=HEADER | {"id": "t", "parentSession": "/s"}) if isinstance(item, Mapped)
    ]
    assert first.request == second.request
    (third,) = [item for item in session(line | {"id": "b"}) if isinstance(item, Mapped)]
    assert third.request != first.request


@pytest.mark.parametrize(
    ("line", "count"),
    [
        pytest.param(entry("x", "a", kind="compaction", summary="s", tokensBefore=1), 1, id="a summary was generated"),
        pytest.param(entry("x", "a", kind="branch_summary", summary="s", fromId="a"), 1, id="that of a branch too"),
        pytest.param(
            entry("x", "a", kind="compaction", summary="s", fromHook=True), 0, id="one by an extension was not"
        ),
        pytest.param(entry("x", "a", kind="model_change", provider="p", modelId="m"), 0, id="bookkeeping"),
        pytest.param(entry("x", "a", kind="custom", data={}), 0, id="an extension's"),
        pytest.param(
            entry("x", "a", {"role": "bashExecution", "output": "<tool_call>"}), 0, id="a command of the user"
        ),
    ],
)
def test_what_else_is_a_response(line: dict[str, Any], count: int) -> None:
    found = generations(session(line))
    assert len(found) == count
    assert all((each.role, each.call_mode) == ("summariser", "none") for each in found)


def test_a_tail_that_a_compaction_retains_is_a_copy() -> None:
    line = entry("x", "a", kind="compaction", summary="s", retainedTail=[said(TEXT)])
    assert only(session(line)).content == "s"


def test_calls_and_thinking() -> None:
    call = {"type": "toolCall", "id": "c", "name": "ls", "arguments": {"a": 1}}
    bare = {"type": "toolCall", "id": "d", "name": "pwd"}
    found = only(session(entry("a", None, said({"type": "thinking", "thinking": "hm"}, call, bare, stop="toolUse"))))
    assert (found.content, found.reasoning) == (None, "hm")
    assert [each.model_dump(exclude_unset=True) for each in found.tool_calls or ()] == [
        {"id": "c", "name": "ls", "arguments": {"a": 1}}, {"id": "d", "name": "pwd"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        pytest.param({"type": "message"}, id="no entry"),
        pytest.param(7, id="no object"),
        pytest.param(entry("a", None, said(TEXT) | {"content": {}}), id="an odd content"),
    ],
)
def test_what_is_not_understood(line: Any) -> None:
    assert [type(item) for item in session(line)[1:]] == [Quarantined]


def test_version_1_without_a_tree_is_read() -> None:
    lines = [HEADER, {"type": "message", "timestamp": TIME, "message": said(TEXT)}]
    assert choose(lines, "x") is PI
    assert only(list(PI.read(decoded(*lines)))).content == "hi"


STS = {"type": "session", "harness": "h", "id": "s"}


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        pytest.param([HEADER, entry("a", None, USER)], "pi", id="Pi"),
        pytest.param([HEADER | {"harness": "h"}, entry("a", None, USER)], "pi", id="Pi with a harness"),
        pytest.param([STS, {"type": "message", "message": USER}], "hf-sts", id="STS"),
    ],
)
def test_a_header_of_one_type_is_of_three_formats(lines: list[Any], name: str) -> None:
    assert choose(lines, "x").name == name


def test_a_header_alone_or_another_tools_is_no_signature() -> None:
    dsh = {"type": "session", "version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
    claude = {"type": "message", "uuid": "x", "sessionId": "s", "timestamp": TIME, "message": USER}
    assert PI.sniff([HEADER]) == PI.sniff([dsh, {"type": "turn/end", "seq": 1}]) == PI.sniff([claude]) == 0
    assert HF_STS.sniff([{"type": "message", "message": USER}]) == 0


def sts(*messages: Any) -> list[Item]:
    return list(HF_STS.read(decoded(STS, *({"type": "message", "message": each} for each in messages))))


def test_an_sts_message_has_raw_arguments() -> None:
    call = {"id": "c", "function": {"name": "ls", "arguments": '{"a": '}}
    items = sts(USER, {"role": "assistant", "content": None, "reasoningContent": "hm", "toolCalls": [call]}, RESULT)
    found = only(items)
    assert (found.content, found.reasoning, found.client) == (None, "hm", "h")
    assert [each.arguments for each in found.tool_calls or ()] == ['{"a": ']
    assert reason(items[3]) == "a tool result"
    assert "started_at" not in found.model_fields_set
    assert isinstance(sts({"role": "assistant", "content": 7})[1], Quarantined)
