"""Wrappers of gateways and agents around the bodies of any API."""

import json
from typing import Any

import pytest

from ingest.formats import Item
from ingest.records import Generation
from ingest.shapes.pairs import read
from tests.ingest.provider_bodies import REQUESTS, RESPONSES, STREAMS, chunk
from tests.ingest.recorded.openai import LEAK
from tests.ingest.samples import decoded, generations, only, sample_lines, shared_log

Object = dict[str, Any]

KIMI = (
    "I will list the files.<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>"
    '{"command": "ls -la"}<|tool_call_end|><|tool_calls_section_end|>'
)


def items(*values: Any) -> list[Item]:
    return list(read(decoded(*values)))


def of_sample(name: str) -> list[Generation]:
    return generations(list(read(sample_lines(shared_log(name)))))


@pytest.mark.parametrize(
    ("name", "model", "provider", "run", "finish", "time"),
    [
        pytest.param("helicone_export.jsonl", "mock-model-2026", "OPENAI", "s1", "stop", "08:39:59", id="Helicone"),
        pytest.param("portkey_logs.jsonl", "mock-model-2026", "openai", "t1", "stop", "08:39:59", id="Portkey"),
        pytest.param("bedrock_invocation_log.json", "qwen.qwen3-coder-480b-a35b-v1:0", None, None, "end_turn",
                     "08:40:00", id="Bedrock"),
        pytest.param("openhands_llm_completion.json", "mock-model-2026", None, None, "stop", "08:39:59",
                     id="OpenHands"),
    ],
)  # fmt: skip
def test_a_sample_of_a_wrapper(
    name: str, model: str, provider: str | None, run: str | None, finish: str, time: str
) -> None:
    (found,) = of_sample(f"composed/{name}")
    assert (found.content, found.text_fidelity, found.raw_text) == (LEAK, "exact", None)
    assert (found.model, found.provider, found.finish_reason) == (model, provider, finish)
    assert run in (None, found.run_id)
    assert [tool.name for tool in found.tools or ()] == ["bash"]
    assert found.call_mode == "native"
    assert str(found.started_at) == f"2026-11-30 {time}+00:00"


def test_the_results_of_the_vendor_verifier() -> None:
    found = of_sample("composed/k2_vendor_verifier_results.jsonl")
    assert [one.content for one in found] == ["", KIMI, KIMI]
    assert [one.finish_reason for one in found] == ["tool_calls", "stop", "tool_calls"]
    assert [len(one.tool_calls or ()) for one in found] == [1, 0, 1]
    assert len({one.run_id for one in found}) == 3


def test_qwen_codes_log_has_its_time_in_the_wrapper() -> None:
    paths = sorted(shared_log("qwen-code/openai-2026-11-30T08-33-48.692Z-42f7766d.json").parent.glob("openai-*.json"))
    found = [only(list(read(sample_lines(path)))) for path in paths]
    assert [one.content for one in found] == [None, LEAK]
    assert [len(one.tools or ()) for one in found] == [15, 15]
    assert [str(one.started_at)[:10] for one in found] == ["2026-11-30"] * 2


def converted(raw: Object, response: Object | None = None) -> Object:
    response = response or RESPONSES["openai-chat"]
    return {**REQUESTS["openai-chat"], "raw_response": raw, "response": response, "timestamp": 1796028000.1}


def reply(content: str | None, **rest: Any) -> Object:
    return {"choices": [{"message": {"role": "assistant", "content": content, **rest}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(reply("a<function=ls>"), ("ab", "a<function=ls>", "text"), id="calls made of its text"),
        pytest.param(RESPONSES["openai-chat"], ("ab", None, "native"), id="the same reply"),
        pytest.param(
            reply("other", tool_calls=[{"id": "c", "function": {"name": "ls"}}]),
            ("ab", "other", "native"),
            id="trimmed",
        ),
        pytest.param(None, ("ab", None, "native"), id="null"),
        pytest.param({"x": 1}, ("ab", None, "native"), id="something else"),
    ],
)
def test_the_reply_before_its_text_was_converted(raw: Any, expected: tuple[str | None, ...]) -> None:
    found = only(items(converted(raw)))
    assert (found.content, found.raw_text, found.call_mode) == expected


def test_a_list_of_chunks_in_an_invocation_log() -> None:
    log = {
        "schemaType": "ModelInvocationLog",
        "modelId": "anthropic.m",
        "input": {"inputBodyJson": {**REQUESTS["anthropic-messages"], "anthropic_version": "bedrock-2023-05-31"}},
        "output": {"outputBodyJson": STREAMS["anthropic-messages"]},
    }
    found = only(items(log))
    assert (found.content, found.text_fidelity, [tool.name for tool in found.tools or ()]) == ("ab", "rebuilt", ["ls"])
    converse = {"input": {"inputBodyJson": REQUESTS["bedrock-converse"]}, "modelId": "m",
                "output": {"outputBodyJson": STREAMS["bedrock-converse"]}}  # fmt: skip
    assert (only(items(converse)).content, only(items(converse)).model) == ("ab", "m")


@pytest.mark.parametrize(
    ("wrapper", "model", "provider"),
    [
        pytest.param({"provider": "p", "modelId": "w"}, "m-1", "p", id="the provider, not the model that is known"),
        pytest.param({"provider": 7, "ai_org": ""}, "m-1", None, id="what is no name"),
    ],
)
def test_what_the_wrapper_tells(wrapper: Object, model: str, provider: str | None) -> None:
    found = only(items({**wrapper, "response": RESPONSES["openai-chat"]}))
    assert (found.model, found.provider) == (model, provider)


def test_a_time_before_there_were_completions_is_in_another_unit() -> None:
    record = {"timestamp": "2026-11-30T12:00:00Z", "response": {**RESPONSES["openai-chat"], "created": 1796027}}
    assert str(only(items(record)).started_at) == "2026-11-30 12:00:00+00:00"


def test_a_file_of_several_apis() -> None:
    records = [{"request": REQUESTS[name], "response": json.dumps(RESPONSES[name])} for name in sorted(REQUESTS)]
    assert [one.content for one in generations(items(*records))] == ["ab"] * len(records)


def test_a_stream_of_which_one_chunk_was_logged_beside_the_request() -> None:
    found = only(items({"request": REQUESTS["openai-chat"], "response": chunk({"content": "a"})}))
    assert (found.content, found.status, found.call_mode) == ("a", "cut", "native")
