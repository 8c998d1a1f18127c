"""What is peculiar to ToolBench's answers."""

from typing import Any

import pytest

from ingest.detection import by_name
from ingest.formats import Item, Quarantined
from tests.ingest.recorded.evals import LEAK
from tests.ingest.samples import decoded, generations, only, reason

TASK = {"role": "user", "content": "list"}
RESULT = {"role": "function", "name": "find", "content": "{}"}


def reply(content: Any = "", **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **fields}


def call(arguments: str) -> dict[str, Any]:
    return reply(function_call={"name": "find", "arguments": arguments})


def read(*chains: Any, **fields: Any) -> list[Item]:
    answer = {"train_messages": list(chains), "function": [{"name": "find"}], "query": "list"} | fields
    return list(by_name("toolbench").read(decoded({"win": True, "answer_generation": answer})))


def test_a_reply_that_later_lists_repeat_is_read_once() -> None:
    first = [TASK, call("{}")]
    second = [*first, RESULT, reply(LEAK)]
    found = generations(read(first, second, [*second, TASK, reply("done")]))
    assert [(one.round, one.content) for one in found] == [(0, ""), (1, LEAK), (2, "done")]
    assert len({one.run_id for one in found}) == 1


def test_the_same_reply_on_another_branch_is_another_generation() -> None:
    assert len(generations(read([TASK, reply("x"), RESULT, reply("x")], [TASK, reply("y"), RESULT, reply("x")]))) == 4


def test_a_call_of_the_retired_kind_keeps_its_raw_arguments() -> None:
    one = only(read([TASK, call("{'a': 1")]))
    assert one.tool_calls is not None
    assert (one.tool_calls[0].name, one.tool_calls[0].arguments) == ("find", "{'a': 1")
    assert one.call_mode == "native"
    assert [tool.name for tool in one.tools or []] == ["find"]


@pytest.mark.parametrize(("function", "mode"), [([], "none"), (None, None)], ids=["no functions", "not told"])
def test_the_call_mode_follows_the_functions(function: Any, mode: str | None) -> None:
    assert only(read([TASK, reply("x")], function=function)).call_mode == mode


@pytest.mark.parametrize("chains", [[[TASK, reply(5)]], [[reply(tool_calls=5)]]], ids=["content", "calls"])
def test_bad_messages(chains: list[Any]) -> None:
    assert [type(item) for item in read(*chains)] == [Quarantined]


def test_no_reply() -> None:
    assert [reason(item) for item in read([TASK], "x", [None])] == ["no reply of a model"]
