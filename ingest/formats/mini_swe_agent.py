"""Trajectories of mini-swe-agent (`.traj.json`), one run a document.

A reply without a usable call never becomes an assistant message: the whole response stands in the `extra` of the
user message that reprimands it (2.4.6, `agents/default.py`, `models/litellm_model.py`). The keys of `model_kwargs`
may hold secrets and are left behind.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import body_of, generations
from ingest.formats import Format, Item, Line, quarantined, share
from ingest.shapes.documents import REPRIMAND, Items, objects, part, runs, started, text, told, without
from ingest.shapes.openai_message import Fields, message_fields
from ingest.shapes.threads import digest


def recognises(value: Any) -> bool:
    """Whether `value` is such a trajectory."""
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    named = str(value.get("trajectory_format", "")).startswith("mini-swe-agent")
    return named or "mini_version" in part(value, "info")


def sniff(values: Sequence[Any]) -> float:
    """The share of trajectories."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One run a document."""
    return runs(lines, recognises, "trajectory of mini-swe-agent", _run)


def _run(line: Line) -> Iterator[Item]:
    messages, items = objects(line.value["messages"]), Items()
    whole = _run_fields(line.value, messages)
    number = attempt = 0
    link = "new_turn"
    for message in messages:
        reprimand = _reprimand(message)
        try:
            replies = _replies(message, mended=line.mended)
        except ValueError as fault:
            yield quarantined(line, str(fault))
            replies = []
        for fields in replies:
            place = {"round": number, "attempt": attempt, "linked_by": link}
            yield items.of(line, whole | fields | place | reprimand)
        if replies:
            number, attempt = (number, attempt + 1) if reprimand else (number + 1, 0)
            link = "reprimand" if reprimand else "next_round"


def _replies(message: Fields, *, mended: bool) -> list[Fields]:
    """The replies of a model that a message holds: in its `extra`, as itself, or as a body of the Responses API."""
    extra = part(message, "extra")
    response = extra.get("response")
    if isinstance(response, str) and response and extra.get("interrupt_type"):
        raise ValueError("the response was kept as a text, which no reader can take apart")
    for whole in (part(extra, "response"), without(message, "extra")):
        if body := body_of(whole):
            return [_timed(each, extra) for each in generations(body, None, whole, mended=mended)]
    if message.get("role") == "assistant":
        said = without(message, "extra", "provider_specific_fields")
        return [message_fields(said, mended=mended) | {"finish_fidelity": "absent"} | started(extra.get("timestamp"))]
    refused = extra.get("model_response")
    return [{"content": refused, "text_fidelity": "exact", "finish_fidelity": "absent"}] if text(refused) else []


def _timed(fields: Fields, extra: Fields) -> Fields:
    """The response's own time, or when the agent had it."""
    return started(extra.get("timestamp")) | without(fields, "provider_specific_fields")


def _reprimand(message: Fields) -> Fields:
    if message.get("role") == "assistant" or not part(message, "extra").get("interrupt_type"):
        return {}
    said = text(message.get("content"))
    return {"reprimand": said[:REPRIMAND]} if said else {}


def _run_fields(value: Fields, messages: list[Fields]) -> Fields:
    info = part(value, "info")
    name = text(value.get("instance_id")) or text(info.get("instance_id"))
    begun = f"m{digest(messages[:3]).hex()}"
    model = part(info, "config", "model").get("model_name")
    fields: Fields = {"run_id": f"{name}:{begun}" if name else begun, "turn": 0, "client": "mini-swe-agent"}
    fields |= told(client_version=info.get("mini_version"), model=model, requested_model=model)
    mode = _mode(value, messages)
    return fields | ({"call_mode": mode} if mode else {})


def _mode(value: Fields, messages: list[Fields]) -> str | None:
    """Version 1 and the text models of version 2 execute fenced commands; the other models offer the tool `bash`."""
    kind = str(part(value, "info", "config").get("model_type", ""))
    if any(message.get("tool_calls") for message in messages):
        return "native"
    if "textbased" in kind or value.get("trajectory_format") == "mini-swe-agent-1":
        return "text"
    if any("model_response" in part(message, "extra") for message in messages):
        return "text"
    return "native" if kind.startswith("minisweagent.models.") else None


MINI_SWE_AGENT = Format(
    name="mini-swe-agent",
    title="mini-swe-agent trajectories (.traj.json)",
    sniff=sniff,
    read=read,
    recognised="`trajectory_format` mini-swe-agent…, or `mini_version` in `info`, beside `messages`",
    carries="exact text, reasoning, raw arguments, finish reason, models, usage, time, attempts, engine by fingerprint",
    lacks="tools (it is always `bash`), provider, chat template, tool parser; finish reason and time in version 1",
    better="nothing: it keeps the whole response of every attempt since 2.0",
    example="""\
{"info":{"mini_version":"2.4.6","config":{"model":{"model_name":"openai/m"},"model_type":\
"minisweagent.models.litellm_model.LitellmModel"}},"messages":[{"role":"system","content":"You work."},{"role":"user",\
"content":"List the files."},{"role":"user","content":"No tool calls found in the response.","extra":{"interrupt_type":\
"FormatError","response":{"id":"c1","created":1796000000,"model":"m-1","object":"chat.completion","choices":[{"index":0,\
"finish_reason":"stop","message":{"role":"assistant","content":"I would call ls."}}]}}}],"trajectory_format":\
"mini-swe-agent-1.1"}
""",
)
