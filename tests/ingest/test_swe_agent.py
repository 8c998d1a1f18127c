"""What is peculiar to trajectories of SWE-agent."""

import json
from typing import Any

import pytest

from ingest.detection import by_name
from ingest.formats import Item, Mapped, Quarantined, Skipped
from ingest.records import Generation
from tests.ingest.recorded.evals import LEAK
from tests.ingest.samples import decoded, generations, reason

CALL = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}


def step(response: Any, action: str = "ls", **fields: Any) -> dict[str, Any]:
    whole = {"action": action, "observation": "a.txt" if action else "", "response": response, "thought": response}
    return whole | {"state": {}, "query": []} | fields


def said(content: Any, action: str = "ls", **fields: Any) -> dict[str, Any]:
    whole = {"role": "assistant", "content": content, "thought": content, "action": action, "agent": "main"}
    return whole | {"tool_calls": [CALL], "message_type": "action"} | fields


def config(parser: str | None = "function_calling", model: str = "gpt-4o", **fields: Any) -> str:
    tools = {"parse_function": {"type": parser}} if parser else {}
    return json.dumps({"agent": {"model": {"name": model, "api_key": "sk-secret"}, "tools": tools | fields}})


def run(steps: list[Any], history: list[Any], **fields: Any) -> dict[str, Any]:
    start = [{"role": "system", "content": "You work.", "agent": "main"}]
    return {"trajectory": steps, "history": [*start, *history], "info": {"swe_agent_version": "1.1.0"}} | fields


def read(value: Any) -> list[Item]:
    return list(by_name("swe-agent").read(decoded(value)))


def found(*args: Any, **fields: Any) -> list[Generation]:
    return generations(read(run(*args, **fields)))


def test_a_refused_reply_stands_in_the_trajectory_alone() -> None:
    query = [{"role": "user", "content": "Your last output did not use any tool calls!"}]
    leak, good = found([step(LEAK, ""), step("I list.", query=query)], [said("I list.")], replay_config=config())
    assert (leak.content, leak.tool_calls, leak.call_mode) == (LEAK, None, "native")
    assert (leak.model_extra or {})["reprimand"] == "Your last output did not use any tool calls!"
    assert good.tool_calls is not None
    assert good.tool_calls[0].arguments == '{"command":"ls"}'
    assert [(one.round, one.attempt) for one in (leak, good)] == [(0, 0), (0, 1)]


def test_a_reply_that_is_repeated_finds_its_own_calls() -> None:
    steps = [step("x"), step("x"), step("y")]
    found_ = found(steps, [said("x"), said("x", tool_calls=[]), said("y")])
    assert [bool(one.tool_calls) for one in found_] == [True, False, True]
    assert [(one.round, one.attempt) for one in found_] == [(0, 0), (1, 0), (2, 0)]


def test_the_last_step_of_older_versions_is_no_failed_attempt() -> None:
    one, last = found([step("x"), step("done", "submit")], [said("x")])
    assert (last.round, last.attempt) == (1, 0)
    assert "reprimand" not in (one.model_extra or {})


@pytest.mark.parametrize(
    ("response", "action", "model"),
    [
        pytest.param("Exit due to cost limit", "", False, id="the agent gave up"),
        pytest.param("Exit due to cost limit", "echo", True, id="a reply that says so"),
        pytest.param("I give up. Exit due to cost", "", True, id="a reply that quotes it"),
    ],
)
def test_notices_of_the_agent_are_no_replies(response: str, action: str, model: bool) -> None:
    items = read(run([step("x"), step(response, action)], [said("x")]))
    assert [type(item) for item in items] == [Mapped, Mapped if model else Skipped]


@pytest.mark.parametrize(
    ("given", "history", "mode"),
    [
        pytest.param(config("function_calling"), [], "native", id="function_calling"),
        pytest.param(config("thought_action"), [], "text", id="thought_action"),
        pytest.param(config("xml_function_calling"), [], "text", id="xml_function_calling"),
        pytest.param(json.loads(config("thought_action")), [], "text", id="a configuration that is no text"),
        pytest.param(None, [said("x")], "native", id="not told, but calls were made"),
        pytest.param(None, [said("x", tool_calls=None)], "text", id="not told, and texts were executed"),
        pytest.param(None, [], None, id="not told"),
        pytest.param("{broken", [], None, id="a configuration that cannot be read"),
    ],
)
def test_the_call_mode(given: Any, history: list[Any], mode: str | None) -> None:
    (one,) = found([step("x")], history, replay_config=given)
    assert one.call_mode == mode


def test_tools_are_named_by_the_documentation_of_commands() -> None:
    docs = "bash:\n  docstring: runs\n  arguments:\n    - command (string)\n\ngoto:\n  docstring: moves to:\n"
    (one,) = found([step("x")], [said("x")], replay_config=config(command_docs=docs))
    assert [tool.name for tool in one.tools or []] == ["bash", "goto"]


def test_tools_that_are_taught_in_the_prompt_are_not_offered() -> None:
    docs = "bash:\n  docstring: runs\n"
    (one,) = found([step("x")], [], replay_config=config("thought_action", command_docs=docs))
    assert "tools" not in one.model_fields_set


def test_each_attempt_at_the_task_is_a_run() -> None:
    attempts = [run([step("a")], [said("a")]), run([step("b")], [said("b")])]
    value = {"attempts": attempts, **attempts[1]}
    assert [one.content for one in generations(read(value))] == ["a", "b"]
    assert len({one.run_id for one in generations(read(value))}) == 2


def test_a_history_alone_is_read_without_its_demonstrations() -> None:
    history = [said("shown", is_demo=True), said("x"), {"role": "user", "content": "ok", "agent": "main"}]
    assert [one.content for one in found([], history)] == ["x"]


def test_what_a_person_wrote_is_no_reply() -> None:
    (item,) = read(run([step("x")], [said("x")], replay_config=config(model="human")))
    assert reason(item) == "replies of a person or a replay"


def test_reasoning_stands_in_the_step_or_in_blocks() -> None:
    blocks = [{"type": "thinking", "thinking": "b"}]
    one, two = found([step("x", reasoning_content="a"), step("y")], [said("x"), said("y", thinking_blocks=blocks)])
    assert (one.reasoning, two.reasoning) == ("a", "b")


def test_no_key_is_kept() -> None:
    (one,) = found([step("x")], [said("x")], replay_config=config())
    assert one.model == "gpt-4o"
    assert "secret" not in one.model_dump_json()


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"history": [{"role": "user", "content": "x"}]}, id="a conversation"),
        pytest.param({"history": [], "trajectory": []}, id="nothing"),
        pytest.param({"trajectory": [{"action": "x"}]}, id="another trajectory"),
        pytest.param({"attempts": [1, {}]}, id="other attempts"),
    ],
)
def test_what_is_not_claimed(value: Any) -> None:
    assert by_name("swe-agent").sniff([value]) == 0


def test_broken_steps_leave_the_others() -> None:
    items = read(run([step("x"), step(5), "what", step("y")], [said("x")]))
    assert [type(item) for item in items] == [Mapped, Quarantined, Mapped]
