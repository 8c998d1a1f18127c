"""llm, SGLang and LM Studio: what stands before a parser is evidence, and what no id joins is joined only if sure."""

from typing import Any

import pytest

from ingest.files.jsonlines import decode
from ingest.formats import Item, Line, Mapped, Skipped
from ingest.formats.lmstudio import LMSTUDIO
from ingest.formats.sglang_requests import SGLANG_REQUESTS
from ingest.formats.simonw_llm import SIMONW_LLM
from tests.ingest.samples import decoded, generations, only, raw_lines, reason, shared_log

Object = dict[str, Any]

LS = {"type": "function", "function": {"name": "ls"}}
RM = {"type": "function", "function": {"name": "rm"}}
CALL = '<tool_call>{"name": "ls"}</tool_call>'


def row(**rest: Any) -> Object:
    return {
        "id": "01", "model": "m", "prompt_json": {"messages": [{"role": "user", "content": "hi"}]}, "response": "hello",
        "response_json": {"content": "hello", "finish_reason": "stop", "id": "r1"}, "conversation_id": "c1",
        "datetime_utc": "2026-11-01T10:00:00.5", "input_tokens": 9, "output_tokens": 3, **rest,
    }  # fmt: skip


def rows(*values: Any) -> list[Item]:
    return list(SIMONW_LLM.read(decoded(*values)))


def test_a_row_of_a_streamed_response_has_its_text_beside_a_summary() -> None:
    found = only(rows(row()))
    assert (found.run_id, found.generation_id, found.content, found.model) == ("c1", "01", "hello", "m")
    assert (found.finish_reason, found.client) == ("stop", "llm")
    assert (found.tools, found.call_mode) == (None, None)


@pytest.mark.parametrize(
    ("tools", "names", "mode"),
    [
        pytest.param([{"name": "ls", "input_schema": {}}], ["ls"], "native", id="offered"),
        pytest.param([], [], "none", id="none offered"),
    ],
)
def test_llm_logs_json_joins_tools_and_calls(tools: list[Object], names: list[str], mode: str) -> None:
    called = [{"tool_call_id": "t1", "name": "ls", "arguments": {"p": 1}}]
    found = only(rows(row(tools=tools, tool_calls=called, response="")))
    assert ([tool.name for tool in found.tools or ()], found.call_mode) == (names, mode)
    assert [(call.id, call.arguments) for call in found.tool_calls or ()] == [("t1", {"p": 1})]


def test_a_row_without_any_output_is_skipped() -> None:
    (item,) = rows(row(response="", response_json=None))
    assert reason(item) == "a response whose text was not logged"


def openai(tools: list[Object], said: str = "hi") -> Object:
    obj = {"model": "m", "messages": [{"role": "user", "content": said}], "tools": tools}
    return {"timestamp": "2026-11-01T10:00:00", "event": "request.received.openai", "obj": obj}


def received(rid: str) -> Object:
    return {"timestamp": "2026-11-01T10:00:00", "event": "request.received", "rid": rid, "obj": {"rid": rid}}


def finished(rid: str, text: Any = CALL, **rest: Any) -> Object:
    out = {"text": text, "meta_info": {"finish_reason": {"type": "stop", "matched": 7}, "prompt_tokens": 9}, **rest}
    return {
        "timestamp": "2026-11-01T10:00:01.5", "event": "request.finished", "rid": rid, "obj": {"rid": rid}, "out": out,
    }  # fmt: skip


def requests(*values: Any) -> list[Item]:
    return list(SGLANG_REQUESTS.read(decoded(*values)))


def test_the_text_before_the_parser_is_evidence_and_counts_in_no_rate() -> None:
    items = requests(openai([LS]), received("r1"), finished("r1"))
    assert [type(item) for item in items] == [Skipped, Skipped, Mapped]
    found = only(items)
    assert (found.raw_text, found.content, found.call_mode) == (CALL, None, "unknown")
    assert ([tool.name for tool in found.tools or ()], found.model, found.engine) == (["ls"], "m", "sglang")
    assert (found.finish_reason, found.finish_fidelity, found.generation_id) == ("stop", "mapped", "r1")
    assert (found.model_extra or {})["zone"] == "assumed_utc"


def names(item: Any) -> list[str] | None:
    return [tool.name for tool in item.tools] if item.tools is not None else None


@pytest.mark.parametrize(
    ("asked", "tools"),
    [
        pytest.param([[LS], [LS]], [["ls"], ["ls"]], id="the same tools: whichever it was"),
        pytest.param([[LS], [RM]], [None, ["rm"]], id="other tools: known only once no other waits"),
    ],
)
def test_of_overlapping_requests_only_what_is_sure_is_told(asked: list[Any], tools: list[Any]) -> None:
    items = requests(*(openai(each) for each in asked), received("r1"), received("r2"), finished("r2"), finished("r1"))
    found = {each.generation_id: each for each in generations(items)}
    assert [names(found["r1"]), names(found["r2"])] == tools


def test_turns_of_a_conversation_are_one_run() -> None:
    later = openai([LS])
    later["obj"]["messages"] = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": CALL}]
    first, second = generations(requests(openai([LS]), finished("r1"), later, finished("r2")))
    assert first.run_id == second.run_id


@pytest.mark.parametrize(
    ("text", "fidelity"),
    [
        pytest.param("a" * 1024 + "..." + "b" * 1024, "truncated", id="cut in the middle"),
        pytest.param("a" * 1024 + "..." + "b" * 1023, "exact", id="dots of the model's own"),
        pytest.param("a" * 2051, "exact", id="as long, at level 3"),
    ],
)
def test_the_middle_cut_of_level_2_is_known(text: str, fidelity: str) -> None:
    assert only(requests(finished("r1", text))).text_fidelity == fidelity


def test_level_1_logs_no_text() -> None:
    value = finished("r1")
    del value["out"]["text"]
    (item,) = requests(value)
    assert reason(item) == "a response whose text was not logged"


def test_an_aborted_request_is_cancelled() -> None:
    assert only(requests(finished("r1", meta_info={"finish_reason": {"type": "abort"}}))).status == "cancelled"


def test_the_sample_log_is_read_without_its_prefix() -> None:
    texts = shared_log("composed/sglang_requests.log").read_text().splitlines()
    lines = [each for each in decode(raw_lines(*(text.split("] ", 1)[1] for text in texts))) if isinstance(each, Line)]
    assert SGLANG_REQUESTS.sniff([line.value for line in lines]) == 1
    items = list(SGLANG_REQUESTS.read(lines))
    assert [type(item) for item in items] == [Skipped, Mapped]
    found = only(items)
    assert (found.raw_text, found.finish_reason, names(found)) == ('<tool_call>\n{"name": "bash"', "stop", ["bash"])
    assert found.started_at
    assert found.started_at.isoformat() == "2026-11-30T08:40:01.123456+00:00"


def put(text: str, at: int = 1796000000000, model: str = "m") -> Object:
    return {"timestamp": at, "data": {"type": "llm.prediction.input", "modelIdentifier": model, "input": text}}


def got(text: str, at: int = 1796000001000, model: str = "m") -> Object:
    told = {"type": "llm.prediction.output", "modelIdentifier": model, "output": text}
    return {"timestamp": at, "data": {**told, "stats": {"stopReason": "eosFound", "predictedTokensCount": 3}}}


def events(*values: Any) -> list[Item]:
    return list(LMSTUDIO.read(decoded(*values)))


def test_an_output_is_evidence_with_its_prompt() -> None:
    found = only(events(put("<|im_start|>user\nhi"), got(CALL)))
    assert (found.raw_text, found.content, found.call_mode, found.engine) == (CALL, None, "unknown", "lmstudio")
    assert (found.finish_reason, (found.model_extra or {})["prompt_head"]) == ("eosFound", "<|im_start|>user\nhi")
    assert found.started_at
    assert found.started_at.timestamp() == 1796000001


def test_a_prompt_that_goes_on_is_the_same_run() -> None:
    talk = [put("a"), got("b"), put("ab c", 1796000002000), got("d", 1796000003000), put("x"), got("y", 1796000004000)]
    first, second, third = generations(events(*talk))
    assert first.run_id == second.run_id
    assert third.run_id != first.run_id


def test_models_do_not_mix() -> None:
    one, two = generations(events(put("a"), put("b", model="n"), got("1", model="n"), got("2")))
    assert [(each.model_extra or {})["prompt_head"] for each in (one, two)] == ["b", "a"]


def test_overlapping_requests_of_one_model_are_not_guessed() -> None:
    one, two = generations(events(put("a"), put("b"), got("1"), got("2")))
    assert "prompt_head" not in (one.model_extra or {})
    assert "prompt_head" not in (two.model_extra or {})
