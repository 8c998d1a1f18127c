"""What is peculiar to ATIF trajectories."""

from typing import Any

import pytest

from ingest.detection import by_name
from ingest.formats import Item, Mapped, Quarantined
from ingest.records import Generation
from tests.ingest.recorded.evals import LEAK
from tests.ingest.samples import decoded, generations, reason

TOOLS = [{"type": "function", "function": {"name": "bash"}}]
CALLS = [{"tool_call_id": "c", "function_name": "bash", "arguments": {"command": "ls"}}]
TASK = {"source": "user", "message": "list the files"}
RESULT = {"results": [{"source_call_id": "c", "content": "a.txt"}]}
EXECUTED = {"results": [{"content": "a.txt"}]}


def reply(message: Any = "hi", **fields: Any) -> dict[str, Any]:
    return {"source": "agent", "message": message} | fields


def run(*steps: Any, agent: Any = None, **fields: Any) -> dict[str, Any]:
    named = {"name": "a", "version": "1", "model_name": "openai/m"} | (agent or {})
    return {"schema_version": "ATIF-v1.7", "session_id": "s", "agent": named, "steps": [TASK, *steps]} | fields


def read(value: Any) -> list[Item]:
    return list(by_name("atif").read(decoded(value)))


def found(*steps: Any, **fields: Any) -> list[Generation]:
    return generations(read(run(*steps, **fields)))


@pytest.mark.parametrize(
    ("steps", "tools", "mode"),
    [
        pytest.param([reply(tool_calls=CALLS, observation=RESULT), reply(LEAK)], None, "native", id="calls were made"),
        pytest.param(
            [reply(tool_calls=CALLS), reply(LEAK, observation=EXECUTED)], TOOLS, "native", id="a leak, answered"
        ),
        pytest.param([reply(LEAK)], TOOLS, "native", id="a leak at once"),
        pytest.param([reply(LEAK, observation=EXECUTED), reply("x")], None, "text", id="a text was executed"),
        pytest.param([reply("x")], None, None, id="nothing told"),
        pytest.param([reply("x")], [], "none", id="no tools"),
        pytest.param(
            [{"source": "system", "message": "Write <function=bash>"}, reply(LEAK)], None, "text", id="taught"
        ),
        pytest.param(
            [reply(LEAK), {"source": "user", "message": "no <tool_call> please"}], None, None, id="a reprimand"
        ),
        pytest.param(
            [reply("x", observation={"results": [{"subagent_trajectory_ref": []}]})],
            None,
            None,
            id="a sub-agent was called",
        ),
    ],
)
def test_the_call_mode(steps: list[Any], tools: Any, mode: str | None) -> None:
    agent = {} if tools is None else {"tool_definitions": tools}
    assert {one.call_mode for one in found(*steps, agent=agent)} == {mode}


def test_copied_context_is_no_output() -> None:
    items = read(run(reply(LEAK, is_copied_context=True), {**TASK, "is_copied_context": True}, reply("x")))
    assert [one.content for one in generations(items)] == ["x"]
    assert reason(items[0]) == "context copied from another trajectory"
    assert generations(items)[0].turn == 0


def test_a_step_without_a_model_is_skipped() -> None:
    items = read(run(reply("x", llm_call_count=0), reply("y", llm_call_count=3)))
    assert reason(items[0]) == "a step without a model"
    assert [(one.content, (one.model_extra or {})["llm_call_count"]) for one in generations(items)] == [("y", 3)]


def test_a_continuation_is_a_run_of_its_own_that_names_the_other() -> None:
    (one,) = found(reply(), agent={"extra": {"continuation_index": 1}})
    assert (one.run_id, (one.model_extra or {})["continues_run_id"]) == ("s/1", "s")


@pytest.mark.parametrize(
    ("name", "role"), [("s-explore", "subagent"), ("s-summarization-1-summary", "summariser")], ids=["one", "a summary"]
)
def test_sub_agents_in_the_document(name: str, role: str) -> None:
    agent, inner = found(reply("x"), subagent_trajectories=[run(reply("y"), session_id=name)])
    assert (agent.role, inner.role, inner.run_id) == (None, role, name)
    assert (inner.model_extra or {})["parent_run_id"] == "s"


def test_the_model_of_the_step_and_of_the_agent() -> None:
    one, two = found(reply(model_name="m-1"), reply())
    assert (one.model, (one.model_extra or {})["requested_model"], two.model) == ("m-1", "openai/m", "openai/m")


def test_text_is_what_a_converter_left() -> None:
    one, two = found(reply("x"), reply([{"type": "text", "text": "a"}, {"type": "image", "source": {}}]))
    assert (one.text_fidelity, two.content, two.text_fidelity) == ("normalised", "a", "rebuilt")


def test_calls_usage_and_place() -> None:
    metrics = {"prompt_tokens": 9, "completion_tokens": 2, "logprobs": [1], "completion_token_ids": [1]}
    one, two = found(reply(tool_calls=CALLS, metrics=metrics, timestamp="2026-01-01T10:00:00Z"), TASK, reply())
    assert one.tool_calls is not None
    assert (one.tool_calls[0].id, one.tool_calls[0].name, one.tool_calls[0].arguments) == (
        "c",
        "bash",
        {"command": "ls"},
    )
    assert one.usage is not None
    assert one.usage.model_dump() == {"input_tokens": 9, "output_tokens": 2}
    assert [(each.turn, each.round) for each in (one, two)] == [(0, 0), (1, 1)]
    assert "zone" not in (one.model_extra or {})


def test_a_time_without_a_zone_is_told() -> None:
    (one,) = found(reply(timestamp="2026-01-01T10:00:00"))
    assert (one.model_extra or {})["zone"] == "assumed_utc"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"schema_version": "1.0", "agent": {}, "steps": []}, id="another schema"),
        pytest.param({"schema_version": "ATIF-v1.0", "steps": []}, id="no agent"),
        pytest.param({"steps": [TASK]}, id="steps alone"),
    ],
)
def test_what_is_not_claimed(value: Any) -> None:
    assert by_name("atif").sniff([value]) == 0


def test_broken_steps_leave_the_others() -> None:
    items = read(run(reply(5), "x", reply(tool_calls=[{}]), reply("y")))
    assert [type(item) for item in items] == [Quarantined, Quarantined, Mapped]
