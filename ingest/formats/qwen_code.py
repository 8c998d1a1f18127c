"""Sessions of Qwen Code: `~/.qwen/projects/<folder>/chats/<session>.jsonl` (`ChatRecord`, up to 0.15.10).

The envelope is Claude Code's, the message Gemini's: `message.parts`. One assistant line is one response; telemetry
lines repeat its text. A forked session begins with copies that keep their `uuid`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined, share
from ingest.shapes.agent_sessions import NO_GENERATION, Recent, Steps, counts, request
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, validated

_TYPES = frozenset(("user", "assistant", "tool_result", "system"))
_SUBTYPES = frozenset((
    "agent_bootstrap", "agent_launch_prompt", "agent_retry", "agent_session_ready", "at_command",
    "attribution_snapshot", "background_task_completed", "branch_checkpoint", "chat_compression", "cron",
    "custom_title", "file_history_snapshot", "goal_runtime", "goal_state", "goal_turn_end", "mid_turn_user_message",
    "notification", "omni_recall", "parent_session", "realtime_message", "rewind", "session_approval_mode",
    "session_artifact_event", "session_artifact_snapshot", "session_execution_engine", "session_model",
    "session_notes", "session_source", "session_sources_snapshot", "slash_command", "turn_result", "ui_telemetry",
    "user_text_elements",
))  # fmt: skip
_USAGE = {
    "input_tokens": "promptTokenCount",
    "output_tokens": "candidatesTokenCount",
    "thoughts_tokens": "thoughtsTokenCount",
    "cached_tokens": "cachedContentTokenCount",
}
_RUNS = 8192


def recognises(value: Any) -> bool:
    """Whether `value` is a record of a session."""
    match value:
        case {"type": str() as kind, "sessionId": _, "uuid": _, "message": {"parts": _}}:
            return kind in _TYPES
        case {"type": "system" | "user", "sessionId": _, "uuid": _, "subtype": str() as subtype}:
            return "systemPayload" in value or subtype in _SUBTYPES
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of records of a session."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response a line."""
    runs: Recent[str, Steps] = Recent(_RUNS)
    for line in lines:
        yield _item(line, runs)


def _item(line: Line, runs: Recent[str, Steps]) -> Item:
    value = line.value
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in _TYPES or "sessionId" not in value:
        return quarantined(line, "not a record of a Qwen Code session")
    run = _run(value)
    steps = runs.get(run) or runs.put(run, Steps())
    if kind == "assistant":
        return _response(line, run, steps)
    if kind == "user" and value.get("subtype") != "mid_turn_user_message":
        message = value.get("message")
        steps.ask(message.get("parts") if isinstance(message, dict) else None)
    subtype = value.get("subtype")
    known = subtype if isinstance(subtype, str) and subtype in _SUBTYPES else kind
    return Skipped(line.number, f"bookkeeping: {known}")


def _run(value: Fields) -> str:
    session, agent = value.get("sessionId"), value.get("agentId")
    name = session if isinstance(session, str) else ""
    return f"{name}/{agent}" if value.get("isSidechain") is True and isinstance(agent, str) else name


def _response(line: Line, run: str, steps: Steps) -> Item:
    value = line.value
    message = value.get("message")
    parts = message.get("parts") if isinstance(message, dict) else None
    if not isinstance(parts, list):
        return quarantined(line, "an assistant record without parts")
    if not parts:
        return Skipped(line.number, NO_GENERATION)
    fields = _fields(value, run) | part_fields(parts) | counts(value.get("usageMetadata"), **_USAGE)
    if line.mended and fields["text_fidelity"] == "exact":
        fields["text_fidelity"] = "normalised"
    try:
        records = tuple(validated([fields | steps.next()]))
    except ValueError as fault:
        return quarantined(line, str(fault))
    return Mapped(line.number, records, request("qwen-code", value.get("uuid")))


def _fields(value: Fields, run: str) -> Fields:
    told = (("model", "model"), ("version", "client_version"), ("uuid", "generation_id"))
    fields: Fields = {ours: value[key] for key, ours in told if isinstance(value.get(key), str)}
    fields |= {"run_id": run, "client": "qwen-code", "finish_fidelity": "absent"}
    if (time := moment(value.get("timestamp"))) is not None:
        fields["started_at"] = time
    if value.get("isSidechain") is True:
        fields |= {"role": "subagent", "parent_run_id": value.get("sessionId")}
    return fields


def part_fields(parts: list[Any]) -> Fields:
    """Text, thoughts and calls of Gemini's parts; text is null where no part holds any."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Fields] = []
    others: list[Any] = []
    for part in parts:
        match part:
            case {"functionCall": {"name": str()} as call}:
                calls.append(_call(call))
            case {"text": str() as text}:
                (thoughts if part.get("thought") is True else texts).append(text)
            case _:
                others.append(part)
    fields: Fields = {"content": "".join(texts) if texts else None}
    fields["text_fidelity"] = "exact" if len(texts) < 2 and len(thoughts) < 2 else "rebuilt"
    fields |= {"reasoning": "".join(thoughts)} if thoughts else {}
    fields |= {"tool_calls": calls} if calls else {}
    return fields | ({"content_parts": others} if others else {})


def _call(call: Fields) -> Fields:
    found = {key: call[key] for key in ("id", "name") if key in call}
    return found | ({"arguments": call["args"]} if "args" in call else {})


QWEN_CODE = Format(
    name="qwen-code",
    title="Qwen Code sessions (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="lines with `type`, `sessionId`, `uuid` and `message.parts` or `systemPayload`",
    carries="exact text, thoughts, structured calls, requested model, tokens, time, sub-agents, version of the tool",
    lacks="tools, finish reason, arguments as the model wrote them (repaired objects), responded model, attempts, "
    "the summary of a compression apart from its history",
    better="run it with `--openai-logging`: those files hold requests, tools and errors",
    example="""\
{"uuid":"u1","parentUuid":null,"sessionId":"s1","timestamp":"2026-11-30T08:00:00Z","type":"user","cwd":"/p",\
"version":"0.15.10","message":{"role":"user","parts":[{"text":"what is here?"}]}}
{"uuid":"u2","parentUuid":"u1","sessionId":"s1","timestamp":"2026-11-30T08:00:01Z","type":"assistant","cwd":"/p",\
"version":"0.15.10","model":"m","message":{"role":"model","parts":[{"text":"Look.","thought":true},\
{"functionCall":{"id":"call_1","name":"list_directory","args":{"path":"/p"}}}]},"usageMetadata":{"promptTokenCount":9}}
""",
)
