"""Chat completions are found under any wrapper keys, and every choice of a response is a generation."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import strategies as st

from ingest.files.containers import Source, read_lines
from ingest.files.jsonlines import decode
from ingest.formats import Item, Line, Mapped, Quarantined, Skipped
from ingest.formats.openai_chat import OPENAI_CHAT
from ingest.records import Generation
from ingest.shapes.fingerprint import engine
from tests.ingest.samples import decoded, generations, json_values, only, read_text, reason, shared_log

Object = dict[str, Any]

LS = {"type": "function", "function": {"name": "ls", "description": "list", "parameters": {"type": "object"}}}
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [LS]}

chat_like = st.fixed_dictionaries(
    {},
    optional={
        key: json_values | st.fixed_dictionaries({}, optional={
            "messages": st.lists(st.fixed_dictionaries({"role": json_values}, optional={"content": json_values})),
            "choices": st.lists(st.fixed_dictionaries({"message": st.fixed_dictionaries({}, optional={
                "content": json_values, "tool_calls": json_values, "type": json_values, "": json_values})},
                optional={"finish_reason": json_values, "error": json_values}), max_size=3),
            "tools": json_values, "usage": json_values, "created": json_values, "error": json_values,
        })
        for key in ("request", "response", "messages", "error", "timestamp")
    },
)  # fmt: skip
"""Objects that look like logged chat completions, with anything at all in their places."""


def response(message: Object | None = None, **rest: Any) -> Object:
    choice = {"index": 0, "message": message or {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}
    return {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], **rest}


def read(*values: Any) -> list[Item]:
    return list(OPENAI_CHAT.read(decoded(*values)))


def answered(message: Object, **rest: Any) -> Generation:
    return only(read({"request": REQUEST, "response": response({"role": "assistant", **message}, **rest)}))


def test_a_sample_file_is_one_run_whose_second_response_leaks() -> None:
    path = shared_log("openai/chat_request_response_pairs.jsonl")
    lines = [line for line in decode(read_lines(Source(path, path.name))) if isinstance(line, Line)]
    first, second = generations(list(OPENAI_CHAT.read(lines)))
    assert first.run_id == second.run_id
    assert first.content is None
    assert second.content == (
        'I will list the files.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls -la"}}\n</tool_call>'
    )
    for each in (first, second):
        assert (each.model, each.reasoning) == ("mock-model-2026", "The user wants a listing.")
        assert [tool.name for tool in each.tools or ()] == ["bash"]
        told = {key: value for key, value in (each.model_extra or {}).items() if key != "history_replies"}
        assert told == {"requested_model": "mock-model", "system_fingerprint": "fp_mock"}
        assert each.usage is not None
        assert (each.usage.input_tokens, each.usage.output_tokens) == (11, 7)
        assert (each.turn, each.round, each.attempt) == (0, 0 if each is first else 1, 0)
    assert [(each.finish_reason, each.finish_fidelity) for each in (first, second)] == [
        ("tool_calls", "wire"),
        ("stop", "wire"),
    ]
    sent = [(each.model_extra or {}).get("history_replies") for each in (first, second)]
    assert sent == [None, []]


WRAPPERS = [
    pytest.param({"request": REQUEST, "response": response()}, id="request and response"),
    pytest.param({"input": REQUEST, "output": response()}, id="input and output"),
    pytest.param({"request_body": REQUEST, "response_body": response()}, id="bodies"),
    pytest.param({"request": {"body": REQUEST}, "response": {"status": 200, "body": response()}}, id="one deeper"),
    pytest.param({"request.body": REQUEST, "response.body": response()}, id="dotted keys"),
    pytest.param({"request": json.dumps(REQUEST), "response": json.dumps(response())}, id="JSON in strings"),
    pytest.param({"request": {"body": json.dumps(REQUEST)}, "response": {"body": json.dumps(response())}}, id="deep"),
    pytest.param({**REQUEST, "response": response()}, id="the request's keys beside the response"),
    pytest.param(
        {"messages": REQUEST["messages"], "response": response(), "model_parameters": {"tools": [LS]}},
        id="tools among model parameters",
    ),
    pytest.param({**response(), "request": REQUEST}, id="the request inside the response"),
]


@pytest.mark.parametrize("record", WRAPPERS)
def test_a_pair_is_found_under_any_wrapper(record: Object) -> None:
    found = only(read(record))
    assert (found.content, found.model, found.generation_id) == ("hello", "m", "x")
    assert (found.finish_reason, found.finish_fidelity, found.text_fidelity) == ("stop", "wire", "exact")
    assert [tool.name for tool in found.tools or ()] == ["ls"]
    assert found.call_mode == "native"
    assert OPENAI_CHAT.sniff([record]) == 1


def test_all_wrappers_of_a_request_have_its_hash() -> None:
    hashes = {item.request for record in WRAPPERS for item in read(*record.values) if isinstance(item, Mapped)}
    assert len(hashes) == 1
    assert len(hashes.pop() or b"") == 16


@pytest.mark.parametrize(
    ("request_", "tools", "mode"),
    [
        pytest.param({"tools": [LS]}, ["ls"], "native", id="tools"),
        pytest.param({"functions": [LS["function"]]}, ["ls"], "native", id="functions, the retired name"),
        pytest.param({"tools": [LS], "tool_choice": "none"}, ["ls"], "none", id="offered, but not to be called"),
        pytest.param({"functions": [LS["function"]], "function_call": "none"}, ["ls"], "none", id="the same, retired"),
        pytest.param({}, [], "none", id="a request without tools offered none"),
        pytest.param({"tools": []}, [], "none", id="an empty list"),
        pytest.param({"tools": None}, None, "none", id="null"),
    ],
)
def test_tools_and_call_mode_are_the_requests(request_: Object, tools: list[str] | None, mode: str) -> None:
    found = only(read({"request": {"messages": [], **request_}, "response": response()}))
    assert (None if found.tools is None else [tool.name for tool in found.tools]) == tools
    assert "tools" in found.model_fields_set
    assert found.call_mode == mode


def test_a_response_alone_leaves_tools_and_call_mode_unknown() -> None:
    (item,) = read(response())
    found = only([item])
    assert not found.model_fields_set & {"tools", "call_mode", "tool_choice"}
    assert isinstance(item, Mapped)
    assert item.request is None


def test_a_tool_choice_stays_as_it_came() -> None:
    choice = {"type": "function", "function": {"name": "ls"}}
    found = only(read({"request": {**REQUEST, "tool_choice": choice}, "response": response()}))
    assert found.tool_choice == choice


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param({"content": "a"}, {"content": "a", "text_fidelity": "exact"}, id="text"),
        pytest.param({"content": ""}, {"content": "", "text_fidelity": "exact"}, id="an empty text"),
        pytest.param({"content": None}, {"content": None}, id="null"),
        pytest.param({"reasoning": "r"}, {"reasoning": "r"}, id="an absent content stays absent"),
        pytest.param(
            {"content": [{"type": "text", "text": "a"}]}, {"content": "a", "text_fidelity": "exact"}, id="one part"
        ),
        pytest.param({"content": ["a", "b"]}, {"content": "ab", "text_fidelity": "rebuilt"}, id="two parts"),
        pytest.param(
            {"content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "no"}]},
            {"content": "a", "text_fidelity": "rebuilt", "content_parts": [{"type": "refusal", "refusal": "no"}]},
            id="another part is kept",
        ),
        pytest.param({"content": []}, {"content": "", "text_fidelity": "exact"}, id="no parts"),
        pytest.param({"content": None, "reasoning_content": "r"}, {"content": None, "reasoning": "r"}, id="reasoning"),
        pytest.param(
            {"content": None, "reasoning_content": None, "reasoning": "r"},
            {"content": None, "reasoning": "r"},
            id="the reasoning that is not null",
        ),
        pytest.param(
            {"content": None, "reasoning_content": "r", "reasoning": "s"},
            {"content": None, "reasoning": "r", "message_reasoning": "s"},
            id="two different reasonings",
        ),
        pytest.param({"content": None, "reasoning": None}, {"content": None, "reasoning": None}, id="null reasoning"),
        pytest.param(
            {"content": None, "reasoning": {"a": 1}}, {"content": None, "message_reasoning": {"a": 1}}, id="odd"
        ),
        pytest.param({"content": None, "refusal": "no"}, {"content": None, "refusal": "no"}, id="a refusal is kept"),
        pytest.param(
            {"content": None, "type": "message", "model": "z", "role": "model"},
            {"content": None, "message_type": "message", "message_model": "z"},
            id="names of ours are kept apart",
        ),
        pytest.param({"content": None, "tool_calls": None}, {"content": None, "tool_calls": None}, id="null calls"),
        pytest.param({"content": None, "tool_calls": []}, {"content": None, "tool_calls": []}, id="no calls"),
    ],
)  # fmt: skip
def test_a_message_keeps_absent_null_and_empty_apart(message: Object, expected: Object) -> None:
    found = answered(message).model_dump(exclude_unset=True)
    own = {"type", "run_id", "generation_id", "model", "tools", "call_mode", "finish_reason", "finish_fidelity"}
    own |= {"turn", "round", "attempt", "linked_by"}
    assert {key: value for key, value in found.items() if key not in own} == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(
            {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "ls", "arguments": '{"a": '}}]},
            {"id": "c", "name": "ls", "arguments": '{"a": '},
            id="broken arguments stay as they came",
        ),
        pytest.param(
            {"tool_calls": [{"id": "c", "function": {"name": "ls", "arguments": {"a": 1}}}]},
            {"id": "c", "name": "ls", "arguments": {"a": 1}},
            id="an object stays an object",
        ),
        pytest.param(
            {"tool_calls": [{"id": "c", "function": {"name": "ls"}}]}, {"id": "c", "name": "ls"}, id="none invented"
        ),
        pytest.param(
            {"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}]},
            {"id": "c", "type": "custom", "name": "patch", "arguments": "*** Begin"},
            id="a custom tool",
        ),
        pytest.param(
            {"content": None, "function_call": {"name": "ls", "arguments": "{}"}},
            {"type": "function_call", "name": "ls", "arguments": "{}"},
            id="the retired function_call",
        ),
    ],
)  # fmt: skip
def test_a_structured_call_is_kept_as_it_came(message: Object, expected: Object) -> None:
    calls = answered(message).tool_calls or []
    assert [call.model_dump(exclude_unset=True) for call in calls] == [expected]


def test_a_null_function_call_says_nothing_of_tool_calls() -> None:
    assert "tool_calls" not in answered({"content": "a", "function_call": None}).model_fields_set


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        pytest.param({"finish_reason": "length"}, ("length", "wire"), id="as it came"),
        pytest.param({"finish_reason": None}, (None, "absent"), id="null"),
        pytest.param({}, (None, "absent"), id="absent"),
        pytest.param({"finish_reason": {"type": "stop", "matched": 2}}, ("stop", "mapped"), id="SGLang's object"),
    ],
)
def test_the_finish_reason_tells_how_it_was_obtained(choice: Object, expected: tuple[str | None, str]) -> None:
    found = only(read({**response(), "choices": [{"message": {"content": "a"}, **choice}]}))
    assert (found.finish_reason, found.finish_fidelity) == expected
    assert ("finish_reason" in found.model_fields_set) == ("finish_reason" in choice)


def test_every_choice_is_a_generation_and_the_usage_counts_once() -> None:
    choices = [{"index": number, "message": {"content": str(number)}, "finish_reason": "stop"} for number in range(3)]
    found = generations(read(response(choices=choices, usage={"prompt_tokens": 5, "completion_tokens": 6})))
    assert [each.generation_id for each in found] == ["x", "x#1", "x#2"]
    assert [each.content for each in found] == ["0", "1", "2"]
    assert len({each.run_id for each in found}) == 1
    assert [each.usage is not None for each in found] == [True, False, False]


def test_choices_share_the_tools_of_their_request() -> None:
    choices = [{"message": {"content": text}} for text in "abc"]
    found = generations(read({"request": REQUEST, "response": response(choices=choices)}))
    assert [[tool.name for tool in each.tools or ()] for each in found] == [["ls"]] * 3
    assert all("tools" in each.model_fields_set and each.call_mode == "native" for each in found)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param(
            {"prompt_tokens": 11, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 2}},
            {"input_tokens": 11, "output_tokens": 7, "prompt_tokens_details": {"cached_tokens": 2}},
            id="the rest is kept",
        ),
        pytest.param({"prompt_tokens": 1}, {"input_tokens": 1}, id="one of two"),
        pytest.param({"prompt_tokens": -1, "completion_tokens": 1.5}, {"prompt_tokens": -1, "completion_tokens": 1.5},
                     id="what is no count is not counted"),
        pytest.param(None, None, id="null"),
    ],
)  # fmt: skip
def test_usage(usage: Object | None, expected: Object | None) -> None:
    found = answered({"content": "a"}, usage=usage)
    assert (found.usage.model_dump(exclude_unset=True) if found.usage else found.usage) == expected


NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("created", "wrapper", "expected"),
    [
        pytest.param(NOON.timestamp(), {"timestamp": "2020-01-01T00:00:00Z"}, NOON, id="the response's own"),
        pytest.param(0, {"timestamp": "2026-11-30T12:00:00Z"}, NOON, id="zero is no time"),
        pytest.param(None, {"time": "2026-11-30T14:00:00+02:00"}, NOON, id="another zone"),
        pytest.param(None, {"created_at": "2026-11-30 12:00:00"}, NOON, id="no zone is UTC"),
        pytest.param(None, {"ts": NOON.timestamp() * 1000}, NOON, id="milliseconds"),
        pytest.param(NOON.timestamp() * 1000, {"startTime": NOON.timestamp()}, NOON, id="a response in another unit"),
        pytest.param(None, {"timestamp": "yesterday", "ts": int(NOON.timestamp())}, NOON, id="the first that parses"),
        pytest.param(None, {"timestamp": "0001-01-01T00:00:00+14:00"}, None, id="before all time"),
        pytest.param(True, {"timestamp": 10**400}, None, id="no times"),
    ],
)
def test_the_time_is_the_responses_or_else_the_wrappers(
    created: Any, wrapper: Object, expected: datetime | None
) -> None:
    found = only(read({**wrapper, "request": REQUEST, "response": response(created=created)}))
    assert found.started_at == expected
    assert ("started_at" in found.model_fields_set) == (expected is not None)


@pytest.mark.parametrize(
    ("fingerprint", "expected"),
    [
        pytest.param("vllm-0.30.0-1a2b3c4d", ("vllm", "0.30.0"), id="vLLM"),
        pytest.param("vllm-0.30.1rc1.dev45+g1a2b3c-tp8-pp2-dp4-ep-1a2b3c4d", ("vllm", "0.30.1rc1.dev45+g1a2b3c"),
                     id="vLLM in parallel"),
        pytest.param("b7200-0a1b2c3d4", ("llama.cpp", "b7200"), id="llama.cpp"),
        pytest.param("fp_ollama", ("ollama", None), id="Ollama"),
        pytest.param("fp_44709d6fcb", (None, None), id="OpenAI"),
        pytest.param("vllm-0.30.0", (None, None), id="no hash"),
        pytest.param("1a2b3c4d", (None, None), id="a hash alone"),
        pytest.param("", (None, None), id="empty"),
    ],
)  # fmt: skip
def test_the_fingerprint_names_the_engine_and_is_kept(
    fingerprint: str, expected: tuple[str | None, str | None]
) -> None:
    found = only(read(response(system_fingerprint=fingerprint)))
    assert (found.engine, found.engine_version) == expected
    assert found.model_extra == {"system_fingerprint": fingerprint}
    assert engine(fingerprint).keys() <= found.model_fields_set


def test_provider_and_differing_model_are_kept() -> None:
    found = only(read({"request": REQUEST, "response": response(provider="Novita", model="m-2026")}))
    assert (found.provider, found.model) == ("Novita", "m-2026")
    assert found.model_extra == {"requested_model": "m"}
    assert not only(read({"request": REQUEST, "response": response(provider="Novita")})).model_extra
    assert only(read({"request": REQUEST, "response": {"choices": response()["choices"]}})).model == "m"


@pytest.mark.parametrize(
    ("wrapper", "run_id"),
    [
        pytest.param({"session_id": "s", "trace_id": "t"}, "s", id="a session"),
        pytest.param({"trace_id": "t"}, "t", id="a trace"),
        pytest.param({"metadata": {"conversation_id": "c"}}, "c", id="in the metadata"),
        pytest.param({"request": {**REQUEST, "metadata": {"run_id": "r"}}}, "r", id="in the request's metadata"),
    ],
)
def test_a_run_is_what_the_source_calls_one(wrapper: Object, run_id: str) -> None:
    found = generations(read(*({"request": REQUEST, "response": response(), **wrapper} for _ in range(2))))
    assert [each.run_id for each in found] == [run_id, run_id]


@pytest.mark.parametrize(
    ("record", "error"),
    [
        pytest.param(
            {"error": {"message": "overloaded", "code": 503}}, {"message": "overloaded", "code": 503}, id="bare"
        ),
        pytest.param(
            {"custom_id": "t", "response": None, "error": {"code": "expired", "message": "late"}},
            {"code": "expired", "message": "late"},
            id="a batch line",
        ),
        pytest.param(
            {"request": REQUEST, "response": {"status_code": 429, "body": {"error": {"message": "slow down"}}}},
            {"message": "slow down"},
            id="in a body",
        ),
        pytest.param({"request": REQUEST, "error": "timed out"}, "timed out", id="a text beside a request"),
    ],
)
def test_an_error_is_a_generation_without_output(record: Object, error: Any) -> None:
    found = only(read(record))
    assert (found.status, found.content, found.finish_fidelity) == ("error", None, "absent")
    assert (found.model_extra or {})["error"] == error
    assert ("tools" in found.model_fields_set) == ("request" in record)


def test_an_error_beside_a_choice_is_kept_with_its_output() -> None:
    choice = {"message": {"content": "a"}, "finish_reason": "error", "error": {"code": 502}}
    found = only(read({"choices": [choice]}))
    assert (found.status, found.content, found.model_extra) == ("error", "a", {"error": {"code": 502}})


def test_half_a_surrogate_pair_makes_a_text_normalised() -> None:
    line = json.dumps(response({"content": "a"})).replace('"a"', r'"a\ud83d"')
    assert only(read_text(OPENAI_CHAT, line)).text_fidelity == "normalised"


def test_the_same_id_with_another_request_has_another_hash() -> None:
    records = [{"request": {**REQUEST, "messages": [{"role": "user", "content": text}]}, "response": response()}
               for text in ("a", "b", "a")]  # fmt: skip
    first, second, third = (item.request for item in read(*records) if isinstance(item, Mapped))
    assert first == third != second


@pytest.mark.parametrize(
    ("value", "kind", "why"),
    [
        pytest.param({"body": REQUEST, "custom_id": "t"}, Skipped, "a request without", id="a batch's input"),
        pytest.param({**REQUEST, "response_format": {"type": "text"}}, Skipped, "a request without", id="a request"),
        pytest.param({"request": REQUEST, "response": None}, Skipped, "a request without a response", id="null"),
        pytest.param(response(choices=[]), Skipped, "a response without choices", id="no choices"),
        pytest.param(
            {"object": "chat.completion.chunk", "choices": []}, Skipped, "a response without", id="a chunk without any"
        ),
        pytest.param({"request": REQUEST, "response": "hello"}, Quarantined, "holds no response", id="a text"),
        pytest.param({"level": "info"}, Quarantined, "holds no response", id="another log"),
        pytest.param([], Quarantined, "not an object", id="a list"),
        pytest.param(response({"content": 7}), Quarantined, "the content is neither", id="a number as content"),
        pytest.param(response({"role": "assistant"}), Quarantined, "needs one of content", id="nothing said"),
        pytest.param(
            {"request": {"messages": [7]}, "response": response()}, Quarantined, "messages holds", id="a number"
        ),
        pytest.param(
            {"choices": [{"message": {"content": "a"}, "finish_reason": 7}]}, Quarantined, "finish", id="odd finish"
        ),
    ],
)  # fmt: skip
def test_a_line_without_a_generation_says_why(value: Any, kind: type, why: str) -> None:
    items = sorted(read(value, response()), key=lambda item: item.line)
    assert isinstance(items[0], kind)
    assert why in reason(items[0])
    assert isinstance(items[1], Mapped)
