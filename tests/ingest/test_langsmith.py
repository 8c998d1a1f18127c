"""LangSmith: only runs of models count, once, however many lines tell them; LangChain's messages keep raw arguments."""

import json
from typing import Any

import pytest

from ingest.formats import Item, Mapped, Skipped
from ingest.formats.langsmith import LANGSMITH
from tests.ingest.samples import decoded, generations, only, reason

Object = dict[str, Any]

LS = {"type": "function", "function": {"name": "ls"}}
ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [LS]}
ANSWERED = {
    "id": "r1",
    "model": "m-1",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}],
    "usage_metadata": {"input_tokens": 9, "output_tokens": 3},
}


def run(**rest: Any) -> Object:
    return {
        "id": "a2", "trace_id": "a1", "dotted_order": "20261101T100000000000Za1.20261101T100001000000Za2",
        "parent_run_id": "a1", "name": "ChatOpenAI", "run_type": "llm", "start_time": "2026-11-01T10:00:01+00:00",
        "extra": {"metadata": {"ls_provider": "openai", "LANGSMITH_API_KEY": "lsv2-secret"}}, "inputs": ASKED,
        "outputs": ANSWERED, **rest,
    }  # fmt: skip


def langchain(said: Object, **rest: Any) -> Object:
    message = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "AIMessage"], "kwargs": said}
    asked = {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "hi"}}
    extra = {"metadata": {"ls_provider": "openai"}, "invocation_params": {"model": "m", "tools": [LS], "api_key": "k"}}
    given = {"inputs": {"messages": [[asked]]}, "extra": extra}
    return run(**{**given, "outputs": {"generations": [[{"text": "x", "message": message}]]}, **rest})


def read(*values: Any) -> list[Item]:
    return list(LANGSMITH.read(decoded(*values)))


def test_a_run_of_a_wrapped_client_is_a_generation() -> None:
    found = only(read(run()))
    assert (found.run_id, found.generation_id, found.content, found.model) == ("a1", "a2", "hello", "m-1")
    assert found.usage
    assert (found.usage.input_tokens, found.usage.output_tokens) == (9, 3)
    assert [tool.name for tool in found.tools or ()] == ["ls"]
    assert (found.model_extra or {})["response_id"] == "r1"


def test_the_environment_in_the_metadata_is_not_kept() -> None:
    for value in (run(), langchain({"content": "hello"})):
        assert "LANGSMITH" not in only(read(value)).model_dump_json()
        assert "secret" not in only(read(value)).model_dump_json()
        assert "api_key" not in only(read(value)).model_dump_json()


def test_a_thread_named_in_the_metadata_is_the_run() -> None:
    assert only(read(run(extra={"metadata": {"thread_id": "talk"}}))).run_id == "talk"


def test_the_columns_of_a_bulk_export_are_json_in_strings() -> None:
    found = only(read(run(inputs=json.dumps(ASKED), outputs=json.dumps(ANSWERED), extra="{}")))
    assert (found.content, [tool.name for tool in found.tools or ()]) == ("hello", ["ls"])


def test_a_text_that_happens_to_be_json_stays_a_text() -> None:
    assert only(read(run(outputs={"output": '{"a": 1}'}))).content == '{"a": 1}'


@pytest.mark.parametrize("kind", ["chain", "tool", "retriever", "prompt", "parser"])
def test_only_runs_of_models_count(kind: str) -> None:
    (item,) = read(run(run_type=kind))
    assert isinstance(item, Skipped)
    assert item.why == "not a call of a model"


def test_post_and_patch_of_one_run_are_one_generation() -> None:
    post = {key: value for key, value in run(end_time=None).items() if key != "outputs"}
    patch = {"id": "a2", "trace_id": "a1", "dotted_order": "x", "outputs": ANSWERED, "end_time": "2026", "inputs": None}
    items = read(post, run(id="a3", outputs=None, error="Timeout"), patch)
    assert {item.line: type(item) for item in items} == {1: Skipped, 2: Mapped, 3: Mapped}
    assert [each.content for each in generations(items)] == [None, "hello"]
    assert [tool.name for tool in generations(items)[1].tools or ()] == ["ls"]


def test_a_copy_of_a_finished_run_is_none() -> None:
    first, second = read(run(), run())
    assert isinstance(first, Mapped)
    assert reason(second) == "a copy of a response already read"


def test_equal_answers_of_two_runs_are_two_generations() -> None:
    assert len(generations(read(run(), run(id="a9")))) == 2


def test_a_run_that_never_ended_is_no_generation() -> None:
    (item,) = read(run(outputs=None))
    assert reason(item) == "a response whose text was not logged"


def test_a_failed_run_is_told_with_its_tools() -> None:
    found = only(read(run(outputs=None, error="RateLimitError: slow down")))
    assert (found.status, [tool.name for tool in found.tools or ()]) == ("error", ["ls"])


def test_the_client_traced_inside_langchain_is_the_same_call() -> None:
    outer, inner = read(langchain({"content": "hello"}), run(id="a3", parent_run_id="a2"))
    assert isinstance(outer, Mapped)
    assert reason(inner) == "a call already told by a span around it or inside"


def test_newest_first_the_client_is_told_and_langchain_around_it_is_the_same_call() -> None:
    inner, outer = read(run(id="a3", parent_run_id="a2"), langchain({"content": "hello"}))
    assert isinstance(inner, Mapped)
    assert reason(outer) == "a call already told by a span around it or inside"


def test_a_call_around_that_has_no_text_hides_none_inside() -> None:
    failed = langchain({}, outputs={"generations": []}, end_time="2026")
    assert [each.content for each in generations(read(run(id="a3", parent_run_id="a2"), failed)[:1])] == ["hello"]


def test_langchain_keeps_raw_arguments_beside_the_parsed_ones() -> None:
    raw = [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"p": "a"'}}]
    broken = [{"name": "ls", "args": '{"p": "a"', "id": "c1", "error": "no JSON"}]
    said = {"content": "", "tool_calls": [], "invalid_tool_calls": broken, "additional_kwargs": {"tool_calls": raw}}
    found = only(read(langchain(said)))
    assert [(call.id, call.name, call.arguments) for call in found.tool_calls or ()] == [("c1", "ls", '{"p": "a"')]
    assert (found.model_extra or {})["invalid_tool_calls"] == broken


def test_langchain_without_raw_calls_gives_objects_and_what_could_not_be_parsed() -> None:
    said = {
        "content": None,
        "tool_calls": [{"name": "ls", "args": {"p": "a"}, "id": "c1", "type": "tool_call"}],
        "invalid_tool_calls": [{"name": "ls", "args": "{", "id": "c2"}, {"name": None, "args": "", "id": "c3"}],
    }
    found = only(read(langchain(said)))
    assert [(call.id, call.arguments) for call in found.tool_calls or ()] == [("c1", {"p": "a"}), ("c2", "{")]
    assert len((found.model_extra or {})["invalid_tool_calls"]) == 2


def test_langchain_tells_model_finish_reason_reasoning_and_usage() -> None:
    said = {
        "content": "<tool_call>{}</tool_call>",
        "additional_kwargs": {"reasoning_content": "hm"},
        "response_metadata": {"finish_reason": "stop", "model_name": "m-1", "system_fingerprint": "fp_ollama"},
        "usage_metadata": {"input_tokens": 9, "output_tokens": 3},
    }
    found = only(read(langchain(said)))
    assert (found.content, found.reasoning) == ("<tool_call>{}</tool_call>", "hm")
    assert (found.model, found.finish_reason, found.finish_fidelity, found.engine) == ("m-1", "stop", "wire", "ollama")
    assert found.usage
    assert (found.usage.input_tokens, found.usage.output_tokens) == (9, 3)
    assert ([tool.name for tool in found.tools or ()], found.call_mode) == (["ls"], "native")
    assert (found.model_extra or {})["requested_model"] == "m"


def test_langchain_without_parameters_does_not_know_the_tools() -> None:
    found = only(read(langchain({"content": "hello"}, extra={})))
    assert (found.tools, found.call_mode, found.finish_fidelity) == (None, None, "absent")


@pytest.mark.parametrize("wrap", [lambda runs: [runs], lambda runs: [{"runs": runs}]], ids=["list", "under runs"])
def test_an_answer_of_the_api_is_read_like_lines(wrap: Any) -> None:
    found = generations(read(*wrap([run(), run(id="a9")])))
    assert [each.generation_id for each in found] == ["a2", "a9"]
    assert LANGSMITH.sniff(wrap([run()])) == 1
