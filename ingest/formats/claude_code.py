"""Session files of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl` and its `subagents/agent-*.jsonl`.

Undocumented; as versions 1.0 to 2.1.332 write it. Requests and their tools stand in `api-request` and
`api-request-shape` lines since about 2.1.33x. A resumed or forked session begins with copies of lines that keep
their `uuid` and `requestId` under another session id.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined, share
from ingest.records import Tool
from ingest.shapes.agent_sessions import NOTICE, Recent, request
from ingest.shapes.claude import Part, Responses, offer_of
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, validated

_SPOKEN = frozenset(("user", "assistant", "system", "attachment", "progress"))
_BOOKKEEPING = frozenset((
    "agent-color", "agent-name", "agent-setting", "ai-title", "api-request", "api-request-blob", "api-request-shape",
    "atis-latch", "attribution-snapshot", "bridge-session", "content-replacement", "continued-in", "cost-state",
    "custom-title", "file-history-delta", "file-history-snapshot", "fork-context-ref", "frame-link", "last-prompt",
    "marble-origami-commit", "marble-origami-snapshot", "mode", "permission-mode", "pr-link", "queue-operation",
    "relocated", "speculation-accept", "summary", "tag", "task-summary", "tools-used", "worktree-state",
))  # fmt: skip
_BESIDE = ("sessionId", "leafUuid", "messageId")
"""One of these stands in every line of bookkeeping."""
_MALFORMED = "Your tool call was malformed"
_TOOL_ERROR = "<tool_use_error>"
_INTERRUPTED = "[Request interrupted by user]"
_SOURCES = {"compact": "summariser", "generate_session_title": "title", "session_title": "title"}
_AGENTS = (("acompact", "summariser"), ("aprompt_suggestion", "other"))
_REQUESTS = 4096
_SHAPES = 256
_LINES = 65_536


def recognises(value: Any) -> bool:
    """Whether `value` is a line of a session; Qwen Code's lines look alike but for `message.parts`."""
    match value:
        case {"type": str() as kind, "sessionId": _, "uuid": _, "isSidechain": _} if kind in _SPOKEN:
            message = value.get("message")
            return "systemPayload" not in value and not (isinstance(message, dict) and "parts" in message)
        case {"type": str() as kind} if kind in _BOOKKEEPING:
            return any(key in value for key in _BESIDE)
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of lines of a session."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response for all the lines that tell its blocks."""
    session = _Session()
    for line in lines:
        yield from session.take(line)
    yield from session.responses.close_all()


class _Session:
    """What is known so far of the sessions of one file."""

    def __init__(self) -> None:
        self.responses = Responses()
        self._roots: Recent[str, str] = Recent(_LINES)
        """The first line of the side conversation that a line belongs to."""
        self._shapes: Recent[str, list[Tool] | None] = Recent(_SHAPES)
        self._requests: Recent[str, tuple[str, str]] = Recent(_REQUESTS)
        """The shape and the purpose of a request."""
        self._snapshots: Recent[str, list[Tool] | None] = Recent(_SHAPES)
        """The tools of a run that a snapshot of its prompt told last."""

    def take(self, line: Line) -> Iterator[Item]:
        """What became of `line`, and of earlier ones that waited for it."""
        value = line.value
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or not any(key in value for key in ("uuid", *_BESIDE)):
            yield quarantined(line, "not a line of a Claude Code session")
            return
        run = self._run(value)
        if kind == "assistant":
            yield from self._assistant(line, run)
        elif kind == "user":
            yield from self._user(line, run)
        else:
            self._note(kind, value, run)
            known = kind in _SPOKEN or kind in _BOOKKEEPING
            yield Skipped(line.number, f"bookkeeping: {kind if known else 'another type'}")

    def _note(self, kind: str, value: Fields, run: str) -> None:
        match value:
            case {"shapeHash": str() as name, "shape": {"tools": tools}} if kind == "api-request-shape":
                self._shapes.put(name, offer_of(tools))
            case {"id": str() as name, "shapeHash": str() as shape} if kind == "api-request":
                self._requests.put(name, (shape, str(value.get("querySource"))))
            case {"attachment": {"type": "prompt_snapshot", "tools": list() as tools}}:
                self._snapshots.put(run, offer_of(tools))

    def _run(self, value: Fields) -> str:
        """The session, or a run of its own for each of its sub-agents, which older versions do not name."""
        session, agent, uuid = (value.get(key) for key in ("sessionId", "agentId", "uuid"))
        session = session if isinstance(session, str) else ""
        if value.get("isSidechain") is not True:
            return session
        if not isinstance(agent, str):
            parent = value.get("parentUuid")
            agent = (self._roots.get(parent) if isinstance(parent, str) else None) or str(uuid)
            self._roots.put(str(uuid), agent)
        return f"{session}/{agent}"

    def _assistant(self, line: Line, run: str) -> Iterator[Item]:
        value = line.value
        message = value.get("message")
        if not isinstance(message, dict):
            yield quarantined(line, "an assistant line without a message")
        elif message.get("model") == "<synthetic>" or value.get("isApiErrorMessage") is True:
            yield Skipped(line.number, NOTICE)
        else:
            yield from self.responses.add(self._part(line, run, message))

    def _part(self, line: Line, run: str, message: Fields) -> Part:
        value = line.value
        ids = (value.get(key) for key in ("requestId", "requestRef", "uuid", "parentUuid"))
        request_id, ref, uuid, parent = (found if isinstance(found, str) and found else None for found in ids)
        shape, source = (self._requests.get(ref) if ref else None) or ("", "")
        offer = self._shapes.get(shape) if shape else self._snapshots.get(run)
        fields = _fields(value, run, source) | ({"request_id": request_id} if request_id else {})
        requested = value.get("requestedModel")
        if isinstance(requested, str) and requested != message.get("model"):
            fields["requested_model"] = requested
        identity = request("claude-code", request_id, ref, uuid)
        return Part(line, run, message, uuid, fields, ref or request_id, parent, identity, offer)

    def _user(self, line: Line, run: str) -> Iterator[Item]:
        value = line.value
        message = value.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if value.get("isCompactSummary") is True and _text(content) is not None:
            yield from self.responses.close(run)
            yield _summary(line, run, str(_text(content)))
            return
        if isinstance(content, list) and any(isinstance(part, dict) and "tool_use_id" in part for part in content):
            self._results(run, content)
        else:
            self._said(run, _text(content) or "", value.get("isMeta") is True)
        yield Skipped(line.number, "bookkeeping: user")

    def _results(self, run: str, content: list[Any]) -> None:
        self.responses.answer(run)
        for part in content:
            text = _text(part.get("content")) if isinstance(part, dict) and part.get("is_error") is True else None
            if text is not None and text.startswith(_TOOL_ERROR):
                self.responses.reprimand(run, text)

    def _said(self, run: str, text: str, meta: bool) -> None:
        response = self.responses.last(run)
        if text.startswith(_MALFORMED):
            self.responses.reprimand(run, text)
            self.responses.answer(run)
            self.responses.steps(run).nudge()
        elif text.startswith(_INTERRUPTED):
            if response is not None and response.message.get("stop_reason") is None and not response.answered:
                response.told["status"] = "cancelled"
        elif not meta:
            self.responses.ask(run, text)


def _text(content: Any) -> str | None:
    match content:
        case str():
            return content
        case [{"text": str() as text}, *_]:
            return text
        case _:
            return None


def _fields(value: Fields, run: str, source: str = "") -> Fields:
    """What a line says of its response beside the message."""
    fields: Fields = {"run_id": run, "client": "claude-code"}
    if (time := moment(value.get("timestamp"))) is not None:
        fields["started_at"] = time
    if isinstance(value.get("version"), str):
        fields["client_version"] = value["version"]
    if value.get("isSidechain") is True:
        agent = str(value.get("agentId"))
        role = next((role for prefix, role in _AGENTS if agent.startswith(prefix)), "subagent")
        return fields | {"role": role, "parent_run_id": value.get("sessionId")}
    return fields | ({"role": _SOURCES[source]} if source in _SOURCES else {})


def _summary(line: Line, run: str, text: str) -> Item:
    """The summary that a model wrote of the conversation so far; the tool puts an introduction before it."""
    told = {"role": "summariser", "content": text, "text_fidelity": "normalised", "finish_fidelity": "absent"}
    uuid = line.value.get("uuid")
    named = {"generation_id": uuid} if isinstance(uuid, str) else {}
    try:
        return Mapped(
            line.number, tuple(validated([_fields(line.value, run) | told | named])), request("claude-code", uuid)
        )
    except ValueError as fault:
        return quarantined(line, str(fault))


CLAUDE_CODE = Format(
    name="claude-code",
    title="Claude Code sessions (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="lines with `type`, `sessionId`, `uuid` and `isSidechain`, and the bookkeeping between them",
    carries="exact text, thinking, structured calls, stop reason, model, usage, time, sub-agents, version of the tool; "
    "tools and requests since about 2.1.33x",
    lacks="arguments as the model wrote them (they are objects here), provider and engine, failed attempts; tools and "
    "requests in older versions",
    better="take the files of `~/.claude/projects`, `subagents` folders included, rather than the printed output",
    example="""\
{"type":"user","sessionId":"s1","uuid":"u1","parentUuid":null,"isSidechain":false,"version":"2.1.332",\
"timestamp":"2026-11-30T08:00:00Z","message":{"role":"user","content":"what is here?"}}
{"type":"assistant","sessionId":"s1","uuid":"u2","parentUuid":"u1","isSidechain":false,"version":"2.1.332",\
"timestamp":"2026-11-30T08:00:01Z","requestId":"req_1","message":{"id":"msg_1","type":"message","role":"assistant",\
"model":"m","content":[{"type":"thinking","thinking":"Look.","signature":"s"}],"stop_reason":null,"usage":{}}}
{"type":"assistant","sessionId":"s1","uuid":"u3","parentUuid":"u2","isSidechain":false,"version":"2.1.332",\
"timestamp":"2026-11-30T08:00:02Z","requestId":"req_1","message":{"id":"msg_1","type":"message","role":"assistant",\
"model":"m","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}],\
"stop_reason":"tool_use","usage":{"input_tokens":30,"output_tokens":9}}}
{"type":"last-prompt","lastPrompt":"what is here?","leafUuid":"u3","sessionId":"s1"}
""",
)
