"""Retries are linked by what stands between two responses: each kind of evidence in each kind of log."""

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.export import records
from ingest.formats import Format, formats
from ingest.records import Generation
from ingest.shapes.openai_message import Fields
from ingest.shapes.threads import Threads
from ingest.store import Store
from tests.ingest import otlp_signals as otlp
from tests.ingest.loading import load
from tests.ingest.samples import generations, read_text

LEAK = "<tool_call>\n<function=ls>\n</function>\n</tool_call>"
REPRIMAND = "[ERROR] You did not use a tool in your previous response! Please retry with a tool use."
NUDGE = "Your last reply contained a tool call as text; it was not executed. Call tools through the interface."
INSTRUCTION = "No action occurred. Use the complete structured tool format."
CALL = [{"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]

SYSTEM: Fields = {"role": "system", "content": "You work."}
ASKED: Fields = {"role": "user", "content": "What is here?"}
LEAKED: Fields = {"role": "assistant", "content": LEAK}
CALLED: Fields = {"role": "assistant", "content": None, "tool_calls": CALL}
RESULT: Fields = {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"}
DONE: Fields = {"role": "assistant", "content": "One file."}
AGAIN: Fields = {"role": "user", "content": "And now?"}
STEPS = [SYSTEM, ASKED, CALLED, RESULT]


def user(text: str) -> Fields:
    return {"role": "user", "content": text}


def system(text: str) -> Fields:
    return {"role": "system", "content": text}


Place = tuple[int | None, int | None, int | None, str | None]


def places(found: list[Generation]) -> list[Place]:
    return [(each.turn, each.round, each.attempt, each.linked_by) for each in found]


def read(name: str, *records: Any) -> list[Generation]:
    chosen: Format = next(each for each in formats() if each.name == name)
    return generations(read_text(chosen, "\n".join(map(json.dumps, records))))


def pair(number: int, messages: list[Fields], answer: Fields, **fields: Any) -> Fields:
    """A request and its response; the number names the response."""
    choice = {"index": 0, "message": answer, "finish_reason": "stop"}
    response = {"id": f"chatcmpl-{number}", "object": "chat.completion", "model": "m", "choices": [choice]}
    return {"request": {"model": "m", "messages": messages}, "response": response, **fields}


FIRST, SECOND = (0, 0, 0, "new_turn"), (0, 1, 0, "next_round")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param([*STEPS], [SECOND], id="a round after a result"),
        pytest.param([*STEPS, LEAKED, user(NUDGE)], [(0, 1, 1, "nudge")], id="a nudge"),
        pytest.param([*STEPS, LEAKED, user(REPRIMAND)], [(0, 1, 1, "reprimand")], id="a reprimand"),
        pytest.param([*STEPS, LEAKED, system(INSTRUCTION)], [(0, 1, 1, "host_instruction")], id="an instruction"),
        pytest.param([*STEPS, system(INSTRUCTION)], [(0, 1, 1, "host_instruction")],
                     id="an instruction in place of the leak, which the history does not keep"),
        pytest.param([*STEPS, user(REPRIMAND), user(REPRIMAND)], [(0, 1, 2, "reprimand")],
                     id="two leaks that the history does not keep"),
        pytest.param([*STEPS, LEAKED, user(NUDGE), LEAKED, user(NUDGE)], [(0, 1, 2, "nudge")], id="two nudges"),
        pytest.param([*STEPS, LEAKED, user(NUDGE), CALLED, RESULT], [(0, 2, 0, "next_round")],
                     id="a round after a retry that was carried out"),
        pytest.param([*STEPS, LEAKED, AGAIN], [(1, 2, 0, "new_turn")], id="a request of the user after a leak"),
        pytest.param([*STEPS, LEAKED], [(0, 2, 0, "next_round")], id="nothing but the leak itself"),
        pytest.param([SYSTEM, user(NUDGE)], [FIRST], id="a run that begins with the words of a nudge"),
        pytest.param([*STEPS, LEAKED, system("Today is Monday.")], [(0, 2, 0, "next_round")],
                     id="a message of the system that is none"),
    ],
)  # fmt: skip
def test_the_history_of_one_request_tells_its_place(asked: list[Fields], expected: list[Place]) -> None:
    """Whatever stood before it in the file, or in another one."""
    assert places(read("openai-chat", pair(9, asked, DONE))) == expected


def test_the_place_does_not_depend_on_the_order_of_lines() -> None:
    log = [
        pair(1, [SYSTEM, ASKED], CALLED), pair(2, STEPS, LEAKED), pair(3, [*STEPS, LEAKED, user(NUDGE)], DONE),
        pair(4, [*STEPS, LEAKED, user(NUDGE), DONE, AGAIN], DONE),
    ]  # fmt: skip
    forwards = [FIRST, SECOND, (0, 1, 1, "nudge"), (1, 2, 0, "new_turn")]
    sessions = [{**each, "session_id": "s"} for each in log]
    assert places(read("openai-chat", *log)) == places(read("openai-chat", *sessions)) == forwards
    assert places(read("openai-chat", *reversed(sessions))) == [*reversed(forwards)]
    assert len({each.run_id for each in read("openai-chat", *log)}) == 1


def test_a_first_leak_that_the_history_does_not_keep_is_of_the_run_that_is_corrected() -> None:
    """As the host of seed 000 does: the leak is left out, one instruction is added, and left out again."""
    found = read(
        "openai-chat",
        pair(1, [SYSTEM, ASKED], LEAKED),
        pair(2, [SYSTEM, ASKED, system(INSTRUCTION)], CALLED),
        pair(3, STEPS, DONE),
    )
    assert places(found) == [FIRST, (0, 0, 1, "host_instruction"), SECOND]
    assert len({each.run_id for each in found}) == 1


def test_identical_requests_of_a_run_are_attempts() -> None:
    log = [pair(n, STEPS, LEAKED if n < 3 else DONE) for n in (1, 2, 3)]
    found = read("openai-chat", pair(0, [SYSTEM, ASKED], CALLED), *log)
    assert places(found) == [FIRST, SECOND, (0, 1, 1, "identical_request"), (0, 1, 2, "identical_request")]


def test_a_response_told_twice_is_no_second_attempt() -> None:
    once, twice = pair(1, STEPS, LEAKED, session_id="s"), pair(2, STEPS, DONE, session_id="s")
    assert places(read("openai-chat", once, once, twice)) == [SECOND, SECOND, (0, 1, 1, "identical_request")]


def test_equal_requests_that_begin_runs_of_their_own_are_samples_and_no_retries() -> None:
    found = read("openai-chat", pair(1, [ASKED], LEAKED), pair(2, [ASKED], DONE))
    assert places(found) == [FIRST, FIRST]
    assert len({each.run_id for each in found}) == 2


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param([user("Name this chat.")], (1, 0, 0, "new_turn"), id="a request of another kind in the session"),
        pytest.param([user("Summary: a file."), DONE, AGAIN], (1, 1, 0, "unclear"),
                     id="a history that a summary replaced"),
        pytest.param([SYSTEM, user("What else?"), DONE, AGAIN], (1, 1, 0, "unclear"), id="a rewritten history"),
    ],
)  # fmt: skip
def test_what_shares_a_session_shares_no_turn(other: list[Fields], expected: Place) -> None:
    log = [pair(1, [SYSTEM, ASKED], LEAKED), pair(2, other, DONE)]
    assert places(read("openai-chat", *({**each, "session_id": "s"} for each in log))) == [FIRST, expected]


def test_a_request_that_names_the_response_before_in_place_of_its_history_goes_on_from_there() -> None:
    def said(name: str, text: str) -> Fields:
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        return {"id": name, "object": "response", "status": "completed", "output": [item]}

    found = read(
        "openai-responses",
        {"request": {"model": "m", "input": "What is here?"}, "response": said("resp_1", LEAK)},
        {"request": {"input": NUDGE, "previous_response_id": "resp_1"}, "response": said("resp_2", "One file.")},
        {"request": {"input": "And now?", "previous_response_id": "resp_2"}, "response": said("resp_3", "Two.")},
    )
    assert places(found) == [FIRST, (0, 0, 1, "nudge"), (1, 1, 0, "new_turn")]


def test_a_reminder_beside_the_results_of_tools_begins_no_turn() -> None:
    used = {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}]}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.txt"}
    reminded = {"role": "user", "content": [result, {"type": "text", "text": "Remember your list."}]}
    said = {"type": "message", "role": "assistant", "id": "msg_1", "content": [{"type": "text", "text": LEAK}]}
    asked = {"model": "m", "max_tokens": 9, "messages": [user("What is here?"), used, reminded]}
    assert places(
        read("anthropic-messages", {"request": asked, "response": {**said, "model": "m", "stop_reason": "end_turn"}})
    ) == [SECOND]


def parted(message: Fields) -> Fields:
    """A message as OpenTelemetry's conventions have it."""
    kind = "tool_call_response" if message is RESULT else "text"
    return {"role": message["role"], "parts": [{"type": kind, "content": message["content"] or ""}]}


def flattened(prefix: str, messages: list[Fields]) -> Fields:
    return {
        f"{prefix}{n}.message.{key}": each[key] or "" for n, each in enumerate(messages) for key in ("role", "content")
    }


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(lambda told: {"gen_ai.input.messages": json.dumps([parted(each) for each in told])}, id="parts"),
        pytest.param(lambda told: {"ai.prompt.messages": json.dumps(told)}, id="the AI SDK"),
        pytest.param(lambda told: flattened("llm.input_messages.", told), id="OpenInference"),
    ],
)
def test_a_span_tells_its_place_by_the_messages_it_was_asked_with(asked: Any) -> None:
    spans = [otlp.span(n, otlp.said(LEAK) | asked(TALK[:n])) for n in (2, 4, 6, 8, 10)]
    assert places(generations(otlp.read(otlp.traces(*spans)))) == TOLD


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"gen_ai.input.messages": '[{"role":"user","parts":[{"ty'}, id="cut"),
        pytest.param({"gen_ai.input.messages": "no JSON"}, id="no JSON"),
        pytest.param({"llm.input_messages.0": 7}, id="no message"),
    ],
)
def test_a_span_without_a_whole_history_tells_no_place(asked: Fields) -> None:
    [found] = generations(otlp.read(otlp.traces(otlp.span(1, otlp.said(LEAK) | asked))))
    assert places([found]) == [(None, None, None, None)]


def test_a_session_of_many_conversations_numbers_each_turn_once() -> None:
    threads = Threads()
    found = [threads.place("r", [user(f"Task {n}."), *more])["turn"] for n in range(20_000) for more in ([], [DONE])]
    assert found == [n for n in range(20_000) for _ in (0, 1)]


def test_what_links_generations_is_exported_and_read_again(tmp_path: Path) -> None:
    talk = {"id": "s", "messages": TALK}
    with Store.open(tmp_path / "one.duckdb", create=True) as store:
        assert load(store, talk, format_name="messages").new_generations == len(TOLD)
        exported = [each for each in records(store) if each["type"] == "generation"]
        assert [each["linked_by"] for each in exported] == [link for *_, link in TOLD]
        assert load(store, *exported).new_generations == 0


TALK = [SYSTEM, ASKED, LEAKED, user(NUDGE), CALLED, RESULT, DONE, AGAIN, LEAKED, user(REPRIMAND), DONE]
TOLD = [FIRST, (0, 0, 1, "nudge"), SECOND, (1, 2, 0, "new_turn"), (1, 2, 1, "reprimand")]


def blocks(message: Fields) -> Fields:
    return {**message, "content": [{"type": "text", "text": message["content"] or ""}]}


def claude_code() -> list[Fields]:
    lines = []
    for n, message in enumerate(each for each in TALK[1:] if each is not RESULT):
        kind = message["role"]
        inner = blocks(message) | ({"id": f"msg_{n}", "model": "m"} if kind == "assistant" else {})
        lines.append({"type": kind, "sessionId": "s", "uuid": f"u{n}", "isSidechain": False, "message": inner})
    return lines


@pytest.mark.parametrize(
    ("name", "records"),
    [
        pytest.param("messages", [{"messages": TALK}], id="messages"),
        pytest.param("sharegpt", [{"conversations": [
            {"from": {"user": "human", "assistant": "gpt", "tool": "tool"}[each["role"]], "value": each["content"]}
            for each in TALK[1:]]}], id="sharegpt"),
        pytest.param("atif", [{"schema_version": "ATIF-v1.5", "session_id": "s", "agent": {"name": "a", "version": "1"},
                               "steps": [{"step_id": n, "message": each["content"] or "",
                                          "source": "agent" if each["role"] == "assistant" else each["role"]}
                                         for n, each in enumerate(TALK[:5] + TALK[6:], 1)]}], id="atif"),
        pytest.param("hf-sts", [{"type": "session", "id": "s", "harness": "h"},
                                *({"type": "message", "message": each} for each in TALK[1:])], id="hf-sts"),
        pytest.param("claude-code", claude_code(), id="claude-code"),
        pytest.param("cline-tasks", [[
            {"role": each["role"], "content": blocks(each)["content"], "ts": 1796000000000 + n}
            for n, each in enumerate(TALK[1:]) if each is not RESULT]], id="cline-tasks"),
        pytest.param("openai-chat", [pair(n, TALK[:n], TALK[n]) for n in (2, 4, 6, 8, 10)], id="pairs"),
    ],
)  # fmt: skip
def test_each_kind_of_log_links_the_same_talk(name: str, records: list[Any]) -> None:
    found = [(turn, round_, attempt or 0, link) for turn, round_, attempt, link in places(read(name, *records))]
    assert found == TOLD


@pytest.mark.parametrize("said", [pytest.param(NUDGE, id="a nudge"), pytest.param(REPRIMAND, id="a reprimand")])
def test_what_was_said_to_a_reply_is_kept_with_it(said: str) -> None:
    [first] = read("messages", {"messages": [ASKED, LEAKED, user(said)]})
    assert (first.model_extra or {})["reprimand"] == said


def test_a_retry_in_the_trace_of_a_gateway_is_one_of_its_group() -> None:
    def call(number: int, answer: Fields | None) -> Fields:
        response = pair(number, [], answer)["response"] if answer else {}
        failed = {"error_information": {"error_code": "503"}} if answer is None else {}
        return {
            "id": f"c-{number}", "litellm_call_id": f"c-{number}", "trace_id": "t", "call_type": "acompletion",
            "status": "success" if answer else "failure", "startTime": 1796000000.5 + number, "model": "m",
            "messages": [ASKED], "response": response, "model_parameters": {}, "hidden_params": {}, **failed,
        }  # fmt: skip

    found = read("litellm", call(1, LEAKED), call(2, None), call(3, DONE))
    assert places(found) == [FIRST, (0, 0, 1, "attempt_group"), (0, 0, 2, "attempt_group")]


@pytest.mark.parametrize("named", [pytest.param(True, id="with ids"), pytest.param(False, id="without")])
def test_thousands_of_equal_requests_are_numbered(named: bool) -> None:
    threads = Threads()
    found = [threads.place("r", [ASKED], f"r{n}" if named else None)["attempt"] for n in range(20_000)]
    assert found == list(range(20_000))
