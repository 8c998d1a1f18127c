"""Trajectories of SWE-agent (`.traj`), one run a document.

Every reply stands in `trajectory`; one that could not be parsed is taken out of `history` again (SWE-agent 1.1,
`agent/agents.py`). The structured calls stand in `history` alone. The prompts of a file of demonstrations are
`history` without a `trajectory`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, share
from ingest.shapes.documents import REPRIMAND, Items, objects, part, runs, text, told
from ingest.shapes.openai_message import Fields, message_fields, unpacked
from ingest.shapes.threads import digest

_NATIVE = "function_calling"
_NO_MODEL = ("human", "human_thought", "replay", "instant_empty_submit")
_EXITS = ("Exit due to ", "Exiting due to ")
_COMMAND = re.compile(r"^(\S+):\n {2}docstring:", re.MULTILINE)
"""A tool in `command_docs`."""


def recognises(value: Any) -> bool:
    """Whether `value` is such a trajectory."""
    if not isinstance(value, dict):
        return False
    if objects(value.get("attempts")):
        return "trajectory" in value["attempts"][0] if isinstance(value["attempts"][0], dict) else False
    history = objects(value.get("history"))
    steps = objects(value.get("trajectory"))
    if steps:
        return {"response", "action", "observation"} <= steps[0].keys()
    return bool(history) and history[0].keys() >= {"role", "content", "agent"} and "events" not in value


def sniff(values: Sequence[Any]) -> float:
    """The share of trajectories."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One run a document; one run an attempt, where an agent tries the whole task several times."""
    return runs(lines, recognises, "trajectory of SWE-agent", _attempts)


def _attempts(line: Line) -> Iterator[Item]:
    for number, run in enumerate(objects(line.value.get("attempts")) or [line.value]):
        yield from _run(line, run, number)


def _run(line: Line, run: Fields, number: int) -> Iterator[Item]:
    config = _config(run) or _config(line.value)
    model = part(config, "agent", "model").get("name")
    if model in _NO_MODEL:
        yield Skipped(line.number, "replies of a person or a replay")
        return
    history = [each for each in objects(run.get("history")) if _is_reply(each)]
    whole = _run_fields(run, config, history) | told(model=model)
    if number:
        whole["run_id"] += f"/{number}"
    steps = objects(run.get("trajectory"))
    items = Items()
    for item in _steps(steps, history) if steps else _replies(history):
        if isinstance(item, str):
            yield Skipped(line.number, item)
        else:
            yield items.of(line, whole | item | ({"text_fidelity": "normalised"} if line.mended else {}))


def _is_reply(message: Fields) -> bool:
    return message.get("role") == "assistant" and not message.get("is_demo")


def _steps(steps: list[Fields], history: list[Fields]) -> Iterator[Fields | str]:
    """The replies of a trajectory. One that is not in the history is followed by another attempt of its round."""
    number = attempt = place = 0
    link = "new_turn"
    for n, step in enumerate(steps):
        if _is_exit(step):
            yield "a notice of the agent"
            continue
        entry = history[place] if place < len(history) else {}
        kept = (
            bool(entry) and entry.get("content") == step.get("response") and entry.get("action") == step.get("action")
        )
        place += kept
        following = steps[n + 1] if n + 1 < len(steps) else {}
        again = not kept and bool(following) and not _is_exit(following)
        where: Fields = {"round": number, "attempt": attempt, "linked_by": link}
        yield _reply(step, entry if kept else {}) | where | (told := _reprimand(following, again))
        number, attempt = (number, attempt + 1) if again else (number + 1, 0)
        link = ("reprimand" if told else "after_error") if again else "next_round"


def _is_exit(step: Fields) -> bool:
    """Whether the agent wrote the step itself, as it gave up."""
    said = step.get("response")
    return not step.get("action") and isinstance(said, str) and said.startswith(_EXITS) and said == step.get("thought")


def _reply(step: Fields, entry: Fields) -> Fields:
    message: Fields = {"content": step.get("response")}
    message |= {key: entry[key] for key in ("tool_calls",) if entry.get(key)}
    thinking = [text(each.get("thinking")) for each in objects(entry.get("thinking_blocks"))]
    reasoning = text(step.get("reasoning_content")) or "\n".join(filter(None, thinking))
    message |= {"reasoning_content": reasoning} if reasoning else {}
    return _message(message)


def _message(message: Fields) -> Fields:
    """The fields of a message; one that cannot be read is left to be refused with its content."""
    try:
        return message_fields(message) | {"finish_fidelity": "absent"}
    except ValueError:
        return message | {"finish_fidelity": "absent"}


def _reprimand(following: Fields, again: bool) -> Fields:
    """What the agent asked the model with, the last message of the next query."""
    query = objects(following.get("query")) if again else []
    said = text(query[-1].get("content")) if query else None
    return {"reprimand": said[:REPRIMAND]} if said else {}


def _replies(history: list[Fields]) -> Iterator[Fields]:
    """The replies of a history that has no trajectory beside it."""
    for number, message in enumerate(history):
        said: Fields = {key: message[key] for key in ("content", "tool_calls") if key in message}
        link = "next_round" if number else "new_turn"
        yield _message(said) | {"round": number, "attempt": 0, "linked_by": link}


def _config(value: Fields) -> Fields:
    config = unpacked(value.get("replay_config"))
    return config if isinstance(config, dict) else {}


def _run_fields(run: Fields, config: Fields, history: list[Fields]) -> Fields:
    name = text(part(config, "problem_statement").get("id"))
    begun = f"m{digest([objects(run.get('history'))[:2], history[:1], objects(run.get('trajectory'))[:1]]).hex()}"
    fields: Fields = {"run_id": f"{name}:{begun}" if name else begun, "turn": 0, "client": "swe-agent"}
    fields |= told(client_version=part(run, "info").get("swe_agent_version"))
    mode = _mode(config, history)
    docs = text(part(config, "agent", "tools").get("command_docs"))
    if mode == "native" and docs and (names := _COMMAND.findall(docs)):
        fields["tools"] = [{"name": each} for each in names]
    return fields | ({"call_mode": mode} if mode else {})


def _mode(config: Fields, history: list[Fields]) -> str | None:
    """Only the parser `function_calling` takes structured calls; all others execute what stands in the text."""
    parser = part(config, "agent", "tools", "parse_function").get("type")
    if isinstance(parser, str):
        return "native" if parser == _NATIVE else "text"
    if any(message.get("tool_calls") for message in history):
        return "native"
    return "text" if any(message.get("action") for message in history) else None


SWE_AGENT = Format(
    name="swe-agent",
    title="SWE-agent trajectories (.traj)",
    sniff=sniff,
    read=read,
    recognised="`trajectory` of `response`, `action` and `observation`, or `history` of messages with `agent`",
    carries="exact text, reasoning, raw arguments of executed calls, attempts; model and names of tools from "
    "`replay_config`",
    lacks="finish reason, time, usage by reply, calls of refused replies, provider, engine",
    better="log the requests in a proxy beside it, or use mini-swe-agent, which keeps whole responses",
    example="""\
{"environment":"main","trajectory":[{"action":"ls","observation":"a.txt","response":"I will list the files.","thought":\
"I will list the files.","state":{},"query":[]}],"history":[{"role":"system","content":"You work.","agent":"main",\
"message_type":"system_prompt"},{"role":"assistant","content":"I will list the files.","thought":"I will list them.",\
"action":"ls","agent":"main","tool_calls":[{"id":"call_a","type":"function","function":{"name":"bash","arguments":\
"{\\"command\\":\\"ls\\"}"}}],"message_type":"action"}],"info":{"swe_agent_version":"1.1.0","exit_status":"submitted"}}
""",
)
