"""What is peculiar to tau2-bench."""

from typing import Any

import pytest

from ingest.detection import by_name
from ingest.formats import Item, Mapped, Quarantined
from ingest.records import Generation
from tests.ingest.recorded.evals import LEAK
from tests.ingest.samples import decoded, generations, reason

CALL = {"id": "c", "name": "end", "arguments": {"a": 1}, "requestor": "assistant"}
GREETING = {"role": "assistant", "content": "Hi!", "raw_data": None, "usage": None}


def raw(**message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return {"id": "r", "object": "chat.completion", "created": 1796000000, "model": "m-1", "choices": [choice]}


def agent(content: Any = "x", **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "timestamp": "2026-01-01T10:00:00.5"} | fields


def user(content: Any = "go", **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": content} | fields


def results(*messages: Any, tools: Any = None, implementation: str = "llm_agent") -> dict[str, Any]:
    info = {"agent_info": {"implementation": implementation, "llm": "openai/m"}, "user_info": {"llm": "u"}}
    run = {"id": "s", "task_id": "0", "messages": list(messages), "termination_reason": "user_stop"}
    return {"info": info | {"environment_info": {"tool_defs": tools}}, "tasks": [], "simulations": [run]}


def read(value: Any) -> list[Item]:
    return list(by_name("tau2").read(decoded(value)))


def found(*messages: Any, **fields: Any) -> list[Generation]:
    return generations(read(results(*messages, **fields)))


def test_the_user_is_a_model_in_a_role_of_its_own() -> None:
    said, reply = found(user(LEAK), agent())
    assert (said.role, said.model, said.call_mode) == ("user_simulator", "u", None)
    assert (reply.role, reply.model, reply.call_mode) == (None, "openai/m", "native")


@pytest.mark.parametrize(
    ("messages", "count"),
    [
        pytest.param([GREETING, user(), agent()], 2, id="the greeting"),
        pytest.param([GREETING | {"raw_data": raw(content="Hi!")}], 1, id="a model's first message"),
        pytest.param([user(), GREETING], 2, id="a later message like it"),
        pytest.param([agent()], 1, id="a first message of a log that keeps no raw data"),
    ],
)
def test_the_greeting_is_no_reply(messages: list[Any], count: int) -> None:
    assert len(found(*messages)) == count


def test_raw_data_gives_finish_arguments_model_and_time() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "end", "arguments": '{ "a":1}'}}
    (one,) = found(agent(None, tool_calls=[CALL], raw_data=raw(content=None, tool_calls=[call])))
    assert one.tool_calls is not None
    assert one.tool_calls[0].arguments == '{ "a":1}'
    assert (one.finish_reason, one.finish_fidelity, one.model) == ("stop", "wire", "m-1")
    assert (one.model_extra or {})["requested_model"] == "openai/m"
    assert "zone" not in (one.model_extra or {})


def test_without_raw_data_calls_are_parsed_and_the_time_has_no_zone() -> None:
    (one,) = found(agent(None, tool_calls=[CALL], usage={"prompt_tokens": 3}))
    assert one.tool_calls is not None
    assert (one.tool_calls[0].name, one.tool_calls[0].arguments) == ("end", {"a": 1})
    assert (one.finish_fidelity, (one.model_extra or {})["zone"]) == ("absent", "assumed_utc")
    assert one.usage is not None
    assert one.usage.input_tokens == 3


def test_a_leak_in_raw_data_stands_once() -> None:
    assert [one.content for one in found(agent(LEAK, raw_data=raw(content=LEAK)))] == [LEAK]


@pytest.mark.parametrize(
    ("tools", "told"), [(None, False), ([], True), ([{"name": "end"}], True)], ids=["no", "none", "one"]
)
def test_tools_where_they_are_told(tools: Any, told: bool) -> None:
    (one,) = found(agent(), tools=tools)
    assert ("tools" in one.model_fields_set) is told


def test_turns_and_rounds() -> None:
    places = [(one.turn, one.round) for one in found(GREETING, user(), agent(), agent(), user(), agent())]
    assert places == [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4)]


def test_a_simulation_alone_and_a_run_of_tau_bench_1() -> None:
    alone = results(user(), agent())["simulations"][0]
    assert len(generations(read(alone))) == 2
    first = {"task_id": 0, "reward": 0.0, "info": {}, "traj": [user(), agent(LEAK)], "trial": 0}
    assert [one.content for one in generations(read(first))] == ["go", LEAK]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"simulations": [], "info": {}}, id="another simulation"),
        pytest.param({"task_id": 1, "messages": []}, id="another task"),
        pytest.param({"messages": [user()]}, id="a conversation"),
    ],
)
def test_what_is_not_claimed(value: Any) -> None:
    assert by_name("tau2").sniff([value]) == 0


def test_broken_messages_leave_the_others() -> None:
    items = read(results(agent(5), "x", agent(tool_calls=3), agent("y")))
    assert [type(item) for item in items] == [Quarantined, Quarantined, Mapped]


def test_no_messages() -> None:
    assert [reason(item) for item in read(results())] == ["no reply of a model"]
