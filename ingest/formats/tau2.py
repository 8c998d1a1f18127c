"""Results of tau2-bench: a document of simulations, or one simulation a document; and the runs of tau-bench 1.

The user of a simulation is a model too. What a model sent stands whole in `raw_data`; the calls beside it are parsed.
Times of messages name no zone.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import body_of, generations
from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.documents import Items, objects, part, runs, started, text, told
from ingest.shapes.openai_message import Fields, message_fields, offered
from ingest.shapes.threads import digest
from ingest.shapes.token_counts import counts

_WRITTEN = "a greeting that no model wrote"


def recognises(value: Any) -> bool:
    """Whether `value` holds simulations or is one."""
    if not isinstance(value, dict):
        return False
    return _is_results(value) or _is_simulation(value) or _is_first(value)


def _is_results(value: Fields) -> bool:
    return isinstance(value.get("simulations"), list) and {"info", "tasks"} <= value.keys()


def _is_simulation(value: Fields) -> bool:
    return {"task_id", "messages", "termination_reason"} <= value.keys()


def _is_first(value: Fields) -> bool:
    """Whether it is a run of tau-bench 1."""
    return {"task_id", "reward", "traj"} <= value.keys()


def sniff(values: Sequence[Any]) -> float:
    """The share of results and simulations."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """The simulations of each document."""
    return runs(lines, recognises, "simulation of tau-bench", _simulations)


def _simulations(line: Line) -> Iterator[Item]:
    if not _is_results(line.value):
        return _run(line, line.value, {})
    info = part(line.value, "info")
    return (item for run in objects(line.value["simulations"]) for item in _run(line, run, info))


def _run(line: Line, run: Fields, info: Fields) -> Iterator[Item]:
    messages = objects(run.get("messages") or run.get("traj"))
    sides, items = _sides(run, messages, info), Items()
    users = number = 0
    links = dict.fromkeys(sides, "new_turn")
    for place, message in enumerate(messages):
        side = sides.get(str(message.get("role")))
        if side is None:
            continue
        users += message["role"] == "user"
        links["assistant"] = "new_turn" if message["role"] == "user" else links["assistant"]
        if _is_greeting(place, message):
            yield Skipped(line.number, _WRITTEN)
            continue
        try:
            where = {"turn": max(users - 1, 0), "round": number, "linked_by": links[message["role"]]}
            fields = side | _reply(message, mended=line.mended) | where
        except ValueError as fault:
            yield quarantined(line, str(fault))
            continue
        number += 1
        links["assistant"] = "next_round" if message["role"] == "assistant" else links["assistant"]
        yield items.of(line, fields | _requested(side, fields))


def _sides(run: Fields, messages: list[Fields], info: Fields) -> dict[str, Fields]:
    """What is true of all replies of the agent, and of all of the user."""
    run_id = text(run.get("id")) or f"m{digest(messages[:4]).hex()}"
    both: Fields = {"run_id": run_id, "client": "tau2-bench" if "messages" in run else "tau-bench"}
    user = both | {"role": "user_simulator"} | told(model=part(info, "user_info").get("llm"))
    return {"assistant": both | _agent(info), "user": user}


def _is_greeting(place: int, message: Fields) -> bool:
    """The first message of the agent is the same in every simulation."""
    told_nothing = message.get("raw_data") is None and message.get("usage") is None
    return place == 0 and message["role"] == "assistant" and "raw_data" in message and told_nothing


def _agent(info: Fields) -> Fields:
    agent = part(info, "agent_info")
    fields = told(model=agent.get("llm"))
    tools = part(info, "environment_info").get("tool_defs")
    if isinstance(tools, list):
        fields["tools"] = offered(tools)
    if str(agent.get("implementation", "")).startswith("llm_agent"):
        fields["call_mode"] = "native"
    return fields


def _requested(side: Fields, fields: Fields) -> Fields:
    asked = side.get("model")
    return {"requested_model": asked} if asked and fields.get("model") != asked else {}


def _reply(message: Fields, *, mended: bool) -> Fields:
    raw = part(message, "raw_data")
    time = started(message.get("timestamp"))
    if (body := body_of(raw)) and (found := generations(body, None, raw, mended=mended)):
        return found[0] if "started_at" in found[0] else found[0] | time
    said: Fields = {key: message[key] for key in ("content", "reasoning_content") if key in message}
    calls = message.get("tool_calls")
    if "tool_calls" in message:
        said["tool_calls"] = [_call(each) for each in calls] if isinstance(calls, list) else calls
    counted = (
        {"usage": counts(message["usage"], "prompt_tokens", "completion_tokens")}
        if isinstance(message.get("usage"), dict)
        else {}
    )
    return message_fields(said, mended=mended) | time | counted | {"finish_fidelity": "absent"}


def _call(call: Any) -> Any:
    return {key: call[key] for key in call if key != "requestor"} if isinstance(call, dict) else call


TAU2 = Format(
    name="tau2",
    title="tau2-bench and tau-bench results",
    sniff=sniff,
    read=read,
    recognised="`simulations` beside `info` and `tasks`, or `task_id` beside `messages` and `termination_reason`, or "
    "beside `reward` and `traj`",
    carries="exact text, requested models, the user's model in a role of its own; reasoning, raw arguments, finish "
    "reason and model where `raw_data` was kept",
    lacks="tools, unless `tool_defs` was filled in; time zone, engine, provider, attempts",
    better="keep `raw_data`, and log the requests in a proxy beside it",
    example="""\
{"timestamp":"2026-11-01T10:00:00.0","info":{"agent_info":{"implementation":"llm_agent","llm":"openai/m"},"user_info":\
{"implementation":"user_simulator","llm":"u"},"environment_info":{"domain_name":"retail","tool_defs":null}},"tasks":[],\
"simulations":[{"id":"s1","task_id":"0","trial":0,"termination_reason":"user_stop","messages":[{"role":"assistant",\
"content":"Hi!","raw_data":null,"usage":null},{"role":"user","content":"Cancel","timestamp":"2026-11-01T10:00:01.1"},\
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","name":"end","arguments":{"id":1},"requestor":"assistant"}],\
"timestamp":"2026-11-01T10:00:02.1","usage":{"prompt_tokens":9,"completion_tokens":3}}]}]}
""",
)
