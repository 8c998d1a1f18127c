"""What is peculiar to OpenAI's Responses API: items, an inferred finish reason, history kept by the provider."""

import json
from typing import Any

import pytest

from ingest.formats import Item
from ingest.formats.openai_responses import OPENAI_RESPONSES
from ingest.records import Generation
from tests.ingest.provider_bodies import REQUESTS, RESPONSES, STREAMS
from tests.ingest.samples import decoded, generations, only, reason

Object = dict[str, Any]

MESSAGE, CALL = RESPONSES["openai-responses"]["output"][1:]


def read(*values: Any) -> list[Item]:
    return list(OPENAI_RESPONSES.read(decoded(*values)))


def response(*output: Any, **rest: Any) -> Object:
    return {**RESPONSES["openai-responses"], "output": list(output), **rest}


def answered(*output: Any, **rest: Any) -> Generation:
    return only(read(response(*output, **rest)))


def message(*parts: Any) -> Object:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def text(value: str) -> Object:
    return {"type": "output_text", "text": value}


REFUSAL = {"type": "refusal", "refusal": "no"}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param([message(text("a"))], {"content": "a", "text_fidelity": "exact"}, id="a text"),
        pytest.param([message(text("a")), message(text("b"))], {"content": "ab", "text_fidelity": "rebuilt"}, id="two"),
        pytest.param([message(REFUSAL)], {"content": None, "content_parts": [REFUSAL]}, id="a refusal"),
        pytest.param([], {"content": None}, id="nothing"),
        pytest.param(
            [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "s"}], "encrypted_content": "x"}],
            {"content": None, "reasoning": "s"},
            id="a summary for encrypted reasoning",
        ),
        pytest.param(
            [{"type": "reasoning", "summary": [{"text": "s"}], "content": [{"text": "r"}]}],
            {"content": None, "reasoning": "r", "reasoning_summary": "s"},
            id="reasoning and its summary",
        ),
        pytest.param(
            [{"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"}],
            {"content": None, "tool_calls": [{"id": "c", "name": "patch", "type": "custom", "arguments": "*** Begin"}]},
            id="a custom tool",
        ),
        pytest.param(
            [{"type": "function_call", "call_id": "c", "name": "ls", "arguments": '{"a": '}],
            {"content": None, "tool_calls": [{"id": "c", "name": "ls", "arguments": '{"a": '}]},
            id="broken arguments stay as they came",
        ),
        pytest.param(
            [{"type": "web_search_call", "id": "w"}],
            {"content": None, "output_items": [{"type": "web_search_call", "id": "w"}]},
            id="an item of another kind is kept",
        ),
    ],
)  # fmt: skip
def test_items(output: list[Any], expected: Object) -> None:
    own = {"type", "run_id", "generation_id", "model", "usage", "finish_reason", "finish_fidelity"}
    found = answered(*output).model_dump(exclude_unset=True)
    assert {key: value for key, value in found.items() if key not in own} == expected


@pytest.mark.parametrize(
    ("output", "rest", "expected"),
    [
        pytest.param([MESSAGE], {}, ("stop", "inferred", None), id="text"),
        pytest.param([MESSAGE, CALL], {}, ("tool_calls", "inferred", None), id="a call"),
        pytest.param(
            [MESSAGE], {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            ("max_output_tokens", "mapped", None), id="incomplete",
        ),
        pytest.param([MESSAGE], {"status": "incomplete"}, (None, "absent", None), id="incomplete, who knows why"),
        pytest.param([], {"status": "failed", "error": {"code": "x"}}, (None, "absent", "error"), id="failed"),
        pytest.param([MESSAGE], {"status": "cancelled"}, (None, "absent", "cancelled"), id="cancelled"),
        pytest.param([MESSAGE], {"status": "in_progress"}, (None, "absent", "cut"), id="in progress"),
        pytest.param([MESSAGE], {"status": None}, (None, "absent", None), id="no status"),
    ],
)  # fmt: skip
def test_the_finish_reason_is_inferred(output: list[Any], rest: Object, expected: tuple[str | None, ...]) -> None:
    found = answered(*output, **rest)
    assert (found.finish_reason, found.finish_fidelity, found.status) == expected


def test_a_response_tells_its_tools_and_the_request_counts_more() -> None:
    echo = response(MESSAGE, tools=[{"type": "function", "name": "echo"}], tool_choice="auto")
    alone, paired = generations(read(echo, {"request": REQUESTS["openai-responses"], "response": echo}))
    assert ([tool.name for tool in alone.tools or ()], alone.call_mode) == (["echo"], "native")
    assert [tool.name for tool in paired.tools or ()] == ["ls"]


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        pytest.param([{"type": "web_search"}], ["web_search"], id="a type for a name"),
        pytest.param([{"type": "custom", "name": "patch"}], ["patch"], id="custom"),
        pytest.param([], [], id="none"),
    ],
)
def test_tools(tools: list[Object], names: list[str]) -> None:
    record = {"request": {**REQUESTS["openai-responses"], "tools": tools}, "response": response(MESSAGE)}
    assert [tool.name for tool in only(read(record)).tools or ()] == names


def test_a_previous_response_is_followed_to_its_run() -> None:
    values = [
        {"request": {"model": "m", "input": "hi"}, "response": response(MESSAGE, id="r1")},
        {
            "request": {"model": "m", "input": "go on", "previous_response_id": "r1"},
            "response": response(CALL, id="r2"),
        },
        response(MESSAGE, id="r3", previous_response_id="r2"),
        response(MESSAGE, id="r4", previous_response_id="elsewhere"),
    ]
    runs = [one.run_id for one in generations(read(*values))]
    assert (len(set(runs[:3])), len(set(runs))) == (1, 2)


def test_results_of_calls_link_a_run() -> None:
    later = [{"type": "function_call_output", "call_id": "c", "output": "f"}]
    pairs = [{"request": {"model": "m", "input": value}, "response": response(CALL)} for value in ("hi", later)]
    assert len({one.run_id for one in generations(read(*pairs))}) == 1


CREATED = STREAMS["openai-responses"][0]


def delta(kind: str, piece: str, index: int = 0) -> Object:
    return {"type": f"response.{kind}.delta", "output_index": index, "item_id": "i", "delta": piece}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([delta("output_text", "a"), delta("output_text", "b")], ("ab", None, None), id="text, no start"),
        pytest.param(
            [{"type": "response.output_item.added", "output_index": 0, "item": message(text("ab"))},
             delta("output_text", "ab")], ("ab", None, None), id="a start that told the text already",
        ),
        pytest.param(
            [{"type": "response.output_item.added", "output_index": 0, "item": message(text("ab"))}],
            ("ab", None, None), id="a start alone",
        ),
        pytest.param([delta("reasoning_text", "r")], (None, "r", None), id="reasoning"),
        pytest.param([delta("reasoning_summary_text", "s")], (None, "s", None), id="a summary"),
        pytest.param(
            [{"type": "response.output_item.added", "output_index": 0,
              "item": {"type": "function_call", "call_id": "c", "name": "ls", "arguments": ""}},
             delta("function_call_arguments", '{"a'), delta("function_call_arguments", '": ')],
            (None, None, '{"a": '), id="arguments that were cut",
        ),
    ],
)  # fmt: skip
def test_a_stream_that_was_cut_keeps_what_came(events: list[Object], expected: tuple[str | None, ...]) -> None:
    found = only(read(CREATED, *events))
    calls = found.tool_calls or []
    assert (found.content, found.reasoning, calls[0].arguments if calls else None) == expected
    assert (found.finish_reason, found.status) == (None, "cut")


def test_a_last_event_without_output_is_filled_from_the_items() -> None:
    done = {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE}
    last = {"type": "response.completed", "response": response()}
    found = only(read(CREATED, done, last))
    assert (found.content, found.finish_reason, found.status) == ("ab", "stop", None)


def test_an_error_event_ends_the_stream() -> None:
    error = {"type": "error", "code": "server_error", "message": "gone", "sequence_number": 3}
    found = only(read({"response": "".join(f"data: {json.dumps(e)}\n\n" for e in (CREATED, error))}))
    assert (found.status, (found.model_extra or {})["error"]) == ("error", {"code": "server_error", "message": "gone"})


def test_what_is_not_understood_says_why() -> None:
    (item,) = read({"request": {"model": "m", "input": [7]}, "response": response(MESSAGE)})
    assert reason(item) == "the input holds something other than objects"
