"""Agent trajectories in ATIF v1.0 to v1.8, Harbor's interchange format, one run a document.

Converters write most of them: they strip and join texts and turn arguments that cannot be parsed into `{}`
(atif 1.8.0, harbor 0.26.0). Steps with `is_copied_context` are history.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.documents import Items, objects, part, runs, started, text, told, without
from ingest.shapes.openai_message import Fields, message_fields, offered
from ingest.shapes.threads import digest
from ingest.shapes.token_counts import counts
from ingest.shapes.told import Place

_TAUGHT = ("<function=", "<tool_call>", "<function_calls>", "<|tool_call", "[TOOL_CALLS]")
"""Markup that a prompt shows to a model that shall write it."""
_TOKENS = ("completion_token_ids", "prompt_token_ids", "logprobs")


def recognises(value: Any) -> bool:
    """Whether `value` is a trajectory."""
    if not isinstance(value, dict) or not isinstance(value.get("steps"), list):
        return False
    return str(value.get("schema_version", "")).startswith("ATIF-v") and isinstance(value.get("agent"), dict)


def sniff(values: Sequence[Any]) -> float:
    """The share of trajectories."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One run a document, and one for each sub-agent that stands in it."""
    return runs(lines, recognises, "ATIF trajectory", lambda line: _trajectories(line, line.value, None))


def _trajectories(line: Line, value: Fields, parent: str | None) -> Iterator[Item]:
    whole = _run_fields(value, parent)
    yield from _steps(line, value, whole)
    for inner in objects(value.get("subagent_trajectories")):
        yield from _trajectories(line, inner, whole["run_id"])


def _steps(line: Line, value: Fields, whole: Fields) -> Iterator[Item]:
    items, place = Items(), Place()
    for step in objects(value.get("steps")):
        copied = step.get("is_copied_context") is True
        if step.get("source") in ("user", "system") and not copied:
            place.user(step.get("message"), system=step["source"] == "system")
        if step.get("source") != "agent":
            continue
        if copied:
            yield Skipped(line.number, "context copied from another trajectory")
            continue
        if step.get("llm_call_count") == 0:
            yield Skipped(line.number, "a step without a model")
            continue
        try:
            fields = whole | _step(step, whole)
        except ValueError as fault:
            yield quarantined(line, str(fault))
            continue
        yield items.of(line, fields | place.take())


def _step(step: Fields, whole: Fields) -> Fields:
    message: Fields = {"content": step["message"]} if "message" in step else {}
    message |= {"reasoning_content": step["reasoning_content"]} if "reasoning_content" in step else {}
    calls = step.get("tool_calls")
    if isinstance(calls, list):
        message["tool_calls"] = [_call(each) for each in calls]
    fields = message_fields(message) | started(step.get("timestamp")) | {"finish_fidelity": "absent"}
    if "text_fidelity" in fields:
        fields["text_fidelity"] = "rebuilt" if fields["text_fidelity"] == "rebuilt" else "normalised"
    asked, model = whole.get("model"), step.get("model_name")
    if text(model) and asked != model:
        fields |= {"model": model} | told(requested_model=asked)
    if metrics := part(step, "metrics"):
        fields["usage"] = counts(without(metrics, *_TOKENS), "prompt_tokens", "completion_tokens")
    several = step.get("llm_call_count")
    return fields | ({"llm_call_count": several} if isinstance(several, int) and several > 1 else {})


def _call(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    names = {"tool_call_id": "id", "function_name": "name", "arguments": "arguments"}
    return {ours: call[theirs] for theirs, ours in names.items() if theirs in call}


def _run_fields(value: Fields, parent: str | None) -> Fields:
    agent = part(value, "agent")
    run_id = text(value.get("trajectory_id")) or text(value.get("session_id"))
    run_id = run_id or f"m{digest(objects(value.get('steps'))[:3]).hex()}"
    place = part(agent, "extra").get("continuation_index")
    origin = run_id if isinstance(place, int) and place else None
    fields: Fields = {"run_id": f"{run_id}/{place}" if origin else run_id}
    if parent:
        fields |= {"role": "summariser" if "-summarization-" in run_id else "subagent", "parent_run_id": parent}
    elif origin:
        fields["continues_run_id"] = origin
    fields |= told(client=agent.get("name"), client_version=agent.get("version"), model=agent.get("model_name"))
    tools = agent.get("tool_definitions")
    fields |= {"tools": offered(tools)} if isinstance(tools, list) else {}
    mode = _mode(value, tools)
    return fields | ({"call_mode": mode} if mode else {})


def _mode(value: Fields, tools: Any) -> str | None:
    """Text by design: no structured call in the run, and texts were executed, or the prompt teaches them."""
    steps = objects(value.get("steps"))
    replies = [step for step in steps if step.get("source") == "agent"]
    if any(step.get("tool_calls") for step in replies):
        return "native"
    if any(map(_executed, replies)) or any(map(_teaches, _prompt(steps))):
        return "text"
    return None if not isinstance(tools, list) else "native" if tools else "none"


def _executed(step: Fields) -> bool:
    """Whether something was done after a text: an observation that answers no structured call."""
    results = objects(part(step, "observation").get("results"))
    return any(text(each.get("content")) and not each.get("source_call_id") for each in results)


def _prompt(steps: list[Fields]) -> list[Fields]:
    """What stands before the first reply."""
    return list(takewhile(lambda step: step.get("source") != "agent", steps))


def _teaches(step: Fields) -> bool:
    said = step.get("message")
    return isinstance(said, str) and any(sign in said for sign in _TAUGHT)


ATIF = Format(
    name="atif",
    title="ATIF agent trajectories (Harbor, Terminal-Bench 2)",
    sniff=sniff,
    read=read,
    recognised="`schema_version` ATIF-v1…, with `agent` and `steps`",
    carries="text and reasoning as the converter left them, structured calls, tools, model, time, usage, sub-agents",
    lacks="finish reason, raw arguments, errors, attempts, provider, engine; whether a text was stripped or joined",
    better="upload the agent's own log, which lies beside it (`agent/`)",
    example="""\
{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"a","version":"1","model_name":"m","tool_definitions":\
[{"type":"function","function":{"name":"bash","parameters":{"type":"object"}}}]},"steps":[{"step_id":1,"source":"user",\
"message":"list the files","timestamp":"2026-11-01T10:00:00Z"},{"step_id":2,"source":"agent","message":"I will.",\
"timestamp":"2026-11-01T10:00:02Z","tool_calls":[{"tool_call_id":"c1","function_name":"bash","arguments":{"command":"ls"}\
}],"observation":{"results":[{"source_call_id":"c1","content":"a.txt"}]},"metrics":{"prompt_tokens":9}}]}
""",
)
