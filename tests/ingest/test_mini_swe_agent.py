"""What is peculiar to trajectories of mini-swe-agent."""

import json
from typing import Any

import pytest

from ingest.detection import by_name
from ingest.formats import Item, Line, Mapped, Quarantined
from ingest.records import Generation
from tests.ingest.recorded.evals import LEAK
from tests.ingest.samples import decoded, generations, only, reason

KIND = "minisweagent.models.litellm_model.LitellmModel"
CALL = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"'}}


def response(**message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return {"id": "r", "created": 1796000000, "model": "m-1", "object": "chat.completion", "choices": [choice]}


def good(**message: Any) -> dict[str, Any]:
    said = {"content": None, "tool_calls": [CALL]} | message
    return {"role": "assistant", **said, "extra": {"response": response(**said), "timestamp": 1796000001.5}}


def refused(answer: Any, text: str = "No tool calls found.", **extra: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, "extra": {"interrupt_type": "FormatError", "response": answer, **extra}}


def run(*messages: Any, kind: str = KIND, version: str = "mini-swe-agent-1.1", **model: Any) -> dict[str, Any]:
    config = {"model": {"model_name": "openai/m", **model}, "model_type": kind}
    info = {"mini_version": "2.4.6", "config": config}
    start = [{"role": "system", "content": "You work."}, {"role": "user", "content": "List the files."}]
    return {"info": info, "messages": [*start, *messages], "trajectory_format": version}


def read(value: Any) -> list[Item]:
    return list(by_name("mini-swe-agent").read(decoded(value)))


def found(*messages: Any, **fields: Any) -> list[Generation]:
    return generations(read(run(*messages, **fields)))


def test_a_refused_reply_stands_in_the_reprimand() -> None:
    one, two = found(refused(response(content=LEAK)), good())
    assert (one.content, one.finish_reason, one.finish_fidelity) == (LEAK, "stop", "wire")
    assert (one.model_extra or {})["reprimand"] == "No tool calls found."
    assert two.content is None
    assert "reprimand" not in (two.model_extra or {})


def test_what_follows_a_reprimand_is_another_attempt_of_its_round() -> None:
    places = [(one.round, one.attempt) for one in found(good(), *[refused(response(content="x"))] * 2, good(), good())]
    assert places == [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0)]


def test_the_same_leak_three_times_is_three_generations() -> None:
    assert len(found(*[refused(response(content=LEAK))] * 3)) == 3


def test_a_reprimand_is_kept_as_far_as_500_characters() -> None:
    (one,) = found(refused(response(content="x"), text="a" * 600))
    assert (one.model_extra or {})["reprimand"] == "a" * 500


def test_a_malformed_call_keeps_its_raw_arguments() -> None:
    (one,) = found(refused(response(content=None, tool_calls=[CALL])))
    assert one.tool_calls is not None
    assert one.tool_calls[0].arguments == '{"command": "ls"'


def test_no_key_is_kept() -> None:
    value = run(good(), refused(response(content="x")), model_kwargs={"api_key": "sk-secret", "api_base": "http://x"})
    records = [record.model_dump_json() for item in read(value) if isinstance(item, Mapped) for record in item.records]
    assert records
    assert not any("secret" in record or "api_" in record for record in records)


@pytest.mark.parametrize(
    ("fields", "messages", "mode"),
    [
        pytest.param({}, [good()], "native", id="a tool-calling model"),
        pytest.param({}, [refused(response(content=LEAK))], "native", id="a tool-calling model that only leaked"),
        pytest.param(
            {"kind": "minisweagent.models.litellm_textbased_model.LitellmTextbasedModel"},
            [good(content="```mswea_bash_command\nls\n```", tool_calls=None)],
            "text",
            id="text by design",
        ),
        pytest.param(
            {"version": "mini-swe-agent-1", "kind": ""},
            [{"role": "assistant", "content": "```bash\nls\n```"}],
            "text",
            id="1.0",
        ),
        pytest.param(
            {"kind": "mine.Model"}, [refused(response(content="x"), model_response="x")], "text", id="a text parser"
        ),
        pytest.param({"kind": "mine.Model"}, [good(tool_calls=None, content="x")], None, id="a model of one's own"),
    ],
)
def test_the_call_mode(fields: dict[str, Any], messages: list[Any], mode: str | None) -> None:
    assert {one.call_mode for one in found(*messages, **fields)} == {mode}


def test_version_1_keeps_messages_alone() -> None:
    (one,) = found({"role": "assistant", "content": "```bash\nls\n```"}, version="mini-swe-agent-1", kind="")
    assert (one.content, one.finish_fidelity, one.model) == ("```bash\nls\n```", "absent", "openai/m")


def test_a_response_that_was_kept_as_text_is_not_guessed_at() -> None:
    items = read(run(refused("ModelResponse(id='x')"), good()))
    assert [type(item) for item in items] == [Quarantined, Mapped]


def test_a_run_without_a_reply() -> None:
    (item,) = read(run())
    assert reason(item) == "no reply of a model"


def test_time_and_models_are_those_of_the_response() -> None:
    (one,) = found(good())
    assert one.started_at is not None
    assert one.started_at.timestamp() == 1796000000
    assert (one.model, (one.model_extra or {})["requested_model"]) == ("m-1", "openai/m")


def test_a_run_that_has_grown_keeps_its_name() -> None:
    assert {one.run_id for one in [*found(good()), *found(good(), good())]} == {found(good())[0].run_id}


def test_an_instance_names_its_run() -> None:
    value = run(good()) | {"instance_id": "astropy-1"}
    assert only(read(value)).run_id.startswith("astropy-1:m")


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"messages": [{"role": "user", "content": "x"}]}, id="a conversation"),
        pytest.param({"trajectory_format": "mini-swe-agent-1.1"}, id="no messages"),
        pytest.param({"info": {"config": {}}, "messages": []}, id="another agent"),
    ],
)
def test_what_is_not_claimed(value: Any) -> None:
    assert by_name("mini-swe-agent").sniff([value]) == 0


def test_broken_messages_leave_the_others() -> None:
    items = read(run(None, "x", {"role": "assistant", "content": 5}, {"role": "assistant", "extra": 1}, good()))
    assert [type(item) for item in items] == [Quarantined, Quarantined, Mapped]


def test_half_a_character_that_was_replaced_is_told() -> None:
    lines = [Line(1, run(refused(response(content="x"))), json.dumps({}).encode(), mended=True)]
    assert only(list(by_name("mini-swe-agent").read(lines))).text_fidelity == "normalised"
