"""From a log that numbers nothing to the outcome of its leaks: every kind of evidence, through a real store."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.detectors import detector
from analysis.judging import judge_for
from analysis.recovery.outcomes import follow
from analysis.registry import register
from ingest.files.containers import Source
from ingest.pipeline import ingest
from ingest.store import Store
from tests.analysis.stories import LEAK, TOOLS

Json = dict[str, Any]
NEWEST = detector("leakdown@1")
ASKED: Json = {"role": "user", "content": "What is here?"}
LEAKED: Json = {"role": "assistant", "content": LEAK}
CALLED: Json = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
}
RESULT: Json = {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"}
DONE: Json = {"role": "assistant", "content": "One file."}
AGAIN: Json = {"role": "user", "content": "And now?"}
NUDGE: Json = {"role": "user", "content": "Your last reply had a tool call as text. Use tools through the interface."}
REPRIMAND: Json = {"role": "user", "content": "Your last output did not use any tool calls!"}
SUMMED: Json = {"role": "user", "content": "What was so far: one file."}
HOST: Json = {"role": "system", "content": "No action occurred. Use the complete structured tool format."}


def pair(number: int, messages: list[Json], answer: Json, **fields: Any) -> Json:
    """A request of session `s` and its response."""
    choice = {"index": 0, "message": answer, "finish_reason": "tool_calls" if answer is CALLED else "stop"}
    response = {"id": f"chatcmpl-{number}", "object": "chat.completion", "model": "m", "choices": [choice]}
    tools = [{"type": "function", "function": tool} for tool in TOOLS]
    return {"session_id": "s", "request": {"messages": messages, "tools": tools}, "response": response, **fields}


def judged(folder: Path, *files: list[Json]) -> list[tuple[Any, ...]]:
    """Outcome and evidence of each leak, in order, and whether its round was retried and recovered."""
    with Store.open(folder / "store.duckdb", create=True) as store:
        register(store, NEWEST)
        for number, records in enumerate(files):
            path = folder / f"{number}.jsonl"
            path.write_text("".join(json.dumps(record) + "\n" for record in records))
            ingest(store, Source(path, path.name), judge_for(NEWEST))
        with store.cursor() as cursor:
            follow(cursor, NEWEST.id)
            return cursor.execute(
                "SELECT outcome, evidence, retried, recovered FROM outcomes o LEFT JOIN fates USING (key) "
                "WHERE o.leak ORDER BY run_id, turn, round, attempt"
            ).fetchall()


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param([ASKED, LEAKED, NUDGE, CALLED], [("structured", "nudge", True, True)], id="a nudge"),
        pytest.param([ASKED, LEAKED, REPRIMAND, DONE], [("answered", "reprimand", True, False)], id="a reprimand"),
        pytest.param([ASKED, LEAKED, HOST, CALLED], [("structured", "host_instruction", True, True)], id="a host"),
        pytest.param([ASKED, LEAKED, NUDGE, LEAKED, NUDGE, CALLED],
                     [("leaked_again", "nudge", True, True), ("structured", "nudge", None, None)], id="two nudges"),
        pytest.param([ASKED, LEAKED, NUDGE, LEAKED, AGAIN, DONE],
                     [("leaked_again", "nudge", True, False), ("passed_off", "end_of_turn", None, None)],
                     id="a nudge in vain"),
        pytest.param([ASKED, LEAKED, CALLED], [("structured", "next_round", False, False)], id="the next round"),
        pytest.param([ASKED, LEAKED, AGAIN, CALLED], [("passed_off", "end_of_turn", False, False)],
                     id="a request of the user: what it is answered with recovers nothing"),
        pytest.param([ASKED, LEAKED], [("passed_off", "end_of_turn", False, False)], id="the end"),
        pytest.param([ASKED, LEAKED, NUDGE], [("unknown", "reprimand", False, False)],
                     id="a nudge after which the record ends"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("by_pairs", [pytest.param(False, id="messages"), pytest.param(True, id="pairs")])
def test_the_same_talk_has_the_same_outcomes_in_every_log(
    messages: list[Json], expected: list[tuple[Any, ...]], by_pairs: bool, tmp_path: Path
) -> None:
    answers = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    if not by_pairs:
        assert judged(tmp_path, [{"id": "s", "messages": messages, "tools": TOOLS}]) == expected
    elif messages[-1] is not NUDGE:  # of a nudge that was never sent to the model a log of requests holds nothing
        assert judged(tmp_path, [pair(at, messages[:at], messages[at]) for at in answers]) == expected


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param([pair(1, [ASKED], LEAKED), pair(2, [ASKED], CALLED)],
                     [("structured", "identical_request", True, True)], id="an identical request"),
        pytest.param([pair(1, [ASKED], LEAKED), pair(2, [ASKED, HOST], CALLED), pair(3, [ASKED, CALLED, RESULT], DONE)],
                     [("structured", "host_instruction", True, True)], id="a leak left out of the history"),
        pytest.param([pair(1, [ASKED], LEAKED), pair(1, [ASKED], LEAKED)],
                     [("passed_off", "end_of_turn", False, False)], id="a response logged twice"),
        pytest.param([pair(1, [ASKED], LEAKED), pair(2, [{"role": "user", "content": "Name it."}], DONE)],
                     [("passed_off", "end_of_turn", False, False)], id="another conversation of the session"),
        pytest.param([pair(1, [ASKED], LEAKED), pair(2, [SUMMED, DONE, AGAIN], CALLED)],
                     [("unknown", "none", False, False)], id="a history that a summary replaced"),
    ],
)  # fmt: skip
def test_what_only_requests_tell(records: list[Json], expected: list[tuple[Any, ...]], tmp_path: Path) -> None:
    assert judged(tmp_path, records) == expected


@pytest.mark.parametrize("backwards", [pytest.param(False, id="in order"), pytest.param(True, id="backwards")])
def test_a_retry_in_another_file_of_the_session_is_found_in_any_order(backwards: bool, tmp_path: Path) -> None:
    first, second = [pair(1, [ASKED], LEAKED)], [pair(2, [ASKED, LEAKED, NUDGE], CALLED)]
    files = (second, first) if backwards else (first, second)
    assert judged(tmp_path, *files) == [("structured", "nudge", True, True)]
