"""What `claude -p --output-format stream-json` prints (Claude Code 2.1.332); Qwen Code prints the same.

Assistant lines come before their response has ended: their `stop_reason` is null. It stands in the `message_delta`
of partial messages where these are printed, and for the last response in the `result`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.records import Tool
from ingest.shapes.agent_sessions import NOTICE, Recent, request
from ingest.shapes.claude import Part, Responses, offer_of
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields

_TYPES = frozenset((
    "assistant", "auth_status", "prompt_suggestion", "rate_limit_event", "result", "stream_event", "system",
    "tool_progress", "tool_use_summary", "user",
))  # fmt: skip
_BESIDE = ("parent_tool_use_id", "subtype", "uuid")
_CLIENTS = (("claude_code_version", "claude-code"), ("qwen_code_version", "qwen-code"))
_TOOL_ERROR = "<tool_use_error>"
_SESSIONS = 1024


def recognises(value: Any) -> bool:
    """Whether `value` is a line that is printed."""
    match value:
        case {"type": str() as kind, "session_id": str()} if kind in _TYPES:
            return "sessionId" not in value and any(key in value for key in _BESIDE)
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of printed lines."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response for all the lines that tell its blocks."""
    printed = _Printed()
    for line in lines:
        yield from printed.take(line)
    yield from printed.responses.close_all()


class _Printed:
    """What is known so far of the sessions that were printed."""

    def __init__(self) -> None:
        self.responses = Responses()
        self._sessions: Recent[str, tuple[Fields, list[Tool] | None]] = Recent(_SESSIONS)
        """What the first line of a session says of its client, and the tools."""

    def take(self, line: Line) -> Iterator[Item]:
        """What became of `line`, and of earlier ones that waited for it."""
        value = line.value
        kind = value.get("type") if isinstance(value, dict) else None
        session = value.get("session_id") if isinstance(value, dict) else None
        if not isinstance(kind, str) or not isinstance(session, str):
            yield quarantined(line, "not a line of stream-json")
            return
        parent = value.get("parent_tool_use_id")
        run = f"{session}/{parent}" if isinstance(parent, str) else session
        if kind == "assistant":
            yield from self._assistant(line, session, run)
            return
        yield from self._other(kind, value, session, run)
        yield Skipped(line.number, f"bookkeeping: {kind if kind in _TYPES else 'another type'}")

    def _other(self, kind: str, value: Fields, session: str, run: str) -> Iterator[Item]:
        match value:
            case {"subtype": "init"} if kind == "system":
                self._sessions.put(session, (_client(value), offer_of(value.get("tools"))))
                self.responses.ask(run)
            case {"message": {"content": content}} if kind == "user":
                self._user(run, content)
            case {"event": {"type": "message_start"}}:
                yield from self.responses.close(run)
            case {"event": {"type": "message_delta", "delta": {"stop_reason": str() as reason}}}:
                self._finish(run, reason, "wire")
            case {"stop_reason": str() as reason} if kind == "result":
                self._finish(run, reason, "inferred")
                yield from self.responses.close(run)
                self.responses.ask(run)

    def _finish(self, run: str, reason: str, fidelity: str) -> None:
        response = self.responses.last(run)
        if response is not None and response.message.get("stop_reason") is None:
            response.told.setdefault("finish_reason", reason)
            response.told.setdefault("finish_fidelity", fidelity)

    def _assistant(self, line: Line, session: str, run: str) -> Iterator[Item]:
        value = line.value
        message, uuid = value.get("message"), value.get("uuid")
        if not isinstance(message, dict):
            yield quarantined(line, "an assistant line without a message")
        elif message.get("model") == "<synthetic>":
            yield Skipped(line.number, NOTICE)
        else:
            client, tools = self._sessions.get(session) or ({}, None)
            role = {} if run == session else {"role": "subagent", "parent_run_id": session}
            time = moment(value.get("timestamp"))
            fields = client | {"run_id": run} | role | ({"started_at": time} if time else {})
            name = uuid if isinstance(uuid, str) else None
            identity = request("claude-code", uuid)
            offer = tools if run == session else None
            yield from self.responses.add(Part(line, run, message, name, fields, identity=identity, offer=offer))

    def _user(self, run: str, content: Any) -> None:
        if not isinstance(content, list) or not any(
            isinstance(part, dict) and "tool_use_id" in part for part in content
        ):
            self.responses.ask(run, content)
            return
        self.responses.answer(run)
        for part in content:
            match part:
                case {"is_error": True, "content": str() as text} if text.startswith(_TOOL_ERROR):
                    self.responses.reprimand(run, text)


def _client(value: Fields) -> Fields:
    """The tool that prints."""
    found = ((client, value[key]) for key, client in _CLIENTS if isinstance(value.get(key), str))
    return next(({"client": client, "client_version": version} for client, version in found), {"client": "claude-code"})


CLAUDE_STREAM = Format(
    name="claude-stream",
    title="Claude Code's printed output, stream-json (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="lines with `type` and `session_id`, and `subtype`, `uuid` or `parent_tool_use_id` beside them",
    carries="exact text, thinking, structured calls, tool names, model, usage, sub-agents; time in new versions",
    lacks="stop reason but for the last response, requests, tool schemas, arguments as the model wrote them, attempts",
    better="upload the session file instead (`~/.claude/projects`), or print with `--include-partial-messages`, which "
    "tells every stop reason",
    example="""\
{"type":"system","subtype":"init","session_id":"s1","tools":["Bash"],"model":"m","claude_code_version":"2.1.332","uuid":"u0"}
{"type":"assistant","session_id":"s1","parent_tool_use_id":null,"uuid":"u1","message":{"id":"msg_1","role":"assistant",\
"model":"m","content":[{"type":"text","text":"One file."}],"stop_reason":null,"usage":{"input_tokens":9,\
"output_tokens":3}}}
{"type":"result","subtype":"success","session_id":"s1","is_error":false,"stop_reason":"end_turn","result":"One file."}
""",
)
