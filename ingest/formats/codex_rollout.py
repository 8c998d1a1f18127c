"""Session rollouts of OpenAI Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.

As codex-rs/protocol defines `RolloutLine` up to 0.171, and the bare items of 2025-04 before it. A text stands there
up to three times: as `response_item`, in an `item_completed` or `agent_message` event, and in `task_complete`; only
the first counts. A response is what stands between two counts of tokens, results of tools or users.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined, share
from ingest.shapes.agent_sessions import COPY, PART, Steps, counts, request
from ingest.shapes.codex import ITEMS, is_output, item_fields
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, validated

_LINES = frozenset((
    "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "token_usage_record",
    "session_state", "inter_agent_communication",
))  # fmt: skip
_EVENT_COPIES = ("item_completed", "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "task_complete")
_INHERITED = "a copy of the history of the session that this one came from"


def recognises(value: Any) -> bool:
    """Whether `value` is a line of a rollout."""
    match value:
        case {"type": str() as kind, "payload": dict()}:
            return kind in _LINES and "timestamp" in value
        case {"record_type": "state"}:
            return True
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of lines of a rollout; bare items are told from other logs by their header."""
    old = any(map(_is_old_header, values))
    return share(values, lambda value: recognises(value) or (old and (_is_old_header(value) or _is_item(value))))


def _is_old_header(value: Any) -> bool:
    return isinstance(value, dict) and {"id", "timestamp", "instructions"} <= value.keys() and "type" not in value


def _is_item(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] in ITEMS


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response for all the lines that tell its items."""
    rollout = _Rollout()
    for line in lines:
        yield from rollout.take(line)
    yield from rollout.close()


class _Rollout:
    """The session so far, and the items of the response that may still grow."""

    def __init__(self) -> None:
        self._session: Fields = {"run_id": "", "client": "codex"}
        self._named = False
        self._start = 0
        """The ordinal before which all is the history of another session."""
        self._model: Fields = {}
        self._steps = Steps()
        self._events = False
        """True once the log tells by events where a user speaks."""
        self._items: list[Fields] = []
        self._last: Line | None = None
        self._fields: Fields = {}
        self._mended = self._answered = False

    def take(self, line: Line) -> Iterator[Item]:
        """What became of `line`, and of earlier ones that waited for it."""
        value = line.value
        if _is_old_header(value) or (isinstance(value, dict) and value.get("record_type") == "state"):
            self._meta(value)
            yield Skipped(line.number, "bookkeeping: session_meta")
        elif recognises(value):
            yield from self._wrapped(line, value["type"], value["payload"])
        elif _is_item(value):
            yield from self._item(line, value)
        else:
            yield quarantined(line, "not a line of a Codex rollout")

    def _wrapped(self, line: Line, kind: str, payload: Fields) -> Iterator[Item]:
        ordinal = line.value.get("ordinal")
        if isinstance(ordinal, int) and ordinal < self._start and kind != "session_meta":
            yield Skipped(line.number, _INHERITED)
        elif kind == "response_item":
            yield from self._item(line, payload)
        elif kind == "compacted":
            yield from self._compacted(line, payload)
        else:
            yield from self._note(kind, payload)
            copied = kind == "event_msg" and payload.get("type") in _EVENT_COPIES
            yield Skipped(line.number, COPY if copied else f"bookkeeping: {kind}")

    def _note(self, kind: str, payload: Fields) -> Iterator[Item]:
        if kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context" and isinstance(payload.get("model"), str):
            self._model = {"model": payload["model"]}
        elif kind == "token_usage_record":
            told = {"generation_id": payload["response_id"]} if isinstance(payload.get("response_id"), str) else {}
            yield from self._mark(payload.get("usage"), told)
        elif kind == "event_msg":
            yield from self._event(payload)

    def _event(self, payload: Fields) -> Iterator[Item]:
        match payload:
            case {"type": "token_count", "info": {"last_token_usage": usage}}:
                yield from self._mark(usage, {})
            case {"type": "task_started" | "user_message" | "turn_started"}:
                self._events = True
                yield from self._ask()
            case {"type": "turn_aborted"}:
                told = {} if self._answered or _called(self._items) else {"status": "cancelled"}
                yield from self.close(told)
            case {"type": "task_complete" | "turn_complete"}:
                yield from self.close()

    def _meta(self, payload: Fields) -> None:
        """The first header is the session's own; those of its ancestors may follow, copied with their history."""
        name = payload.get("id") or payload.get("session_id")
        if self._named or not isinstance(name, str):
            return
        self._named = True
        self._session |= {"run_id": name} | _texts(payload, model_provider="provider", cli_version="client_version")
        base = payload.get("history_base")
        starts = (
            payload.get("subagent_history_start_ordinal"),
            isinstance(base, dict) and base.get("end_ordinal_exclusive"),
        )
        self._start = max(start if type(start) is int else 0 for start in starts)
        self._session |= _lineage(payload)

    def _item(self, line: Line, item: Fields) -> Iterator[Item]:
        if is_output(item):
            if self._answered:
                yield from self.close()
            if self._last is None:
                self._begin(line)
            else:
                yield Skipped(self._last.number, PART)
            self._items.append(item)
            self._last, self._mended = line, self._mended or line.mended
            return
        kind = item.get("type")
        if isinstance(kind, str) and kind.endswith("_output"):
            self._answered = bool(self._items)
        elif item.get("role") == "user" and not self._events:
            yield from self._ask()
        yield Skipped(
            line.number, f"bookkeeping: {kind if isinstance(kind, str) and kind in ITEMS else 'another item'}"
        )

    def _begin(self, line: Line) -> None:
        time = moment(line.value.get("timestamp"))
        self._fields = self._session | self._model | self._steps.next() | ({"started_at": time} if time else {})

    def _ask(self) -> Iterator[Item]:
        yield from self.close()
        self._steps.ask()

    def _mark(self, usage: Any, told: Fields) -> Iterator[Item]:
        """The end of a response with its tokens; of an older one, if a tool has answered meanwhile."""
        found = counts(usage, input_tokens="input_tokens", output_tokens="output_tokens",
                       cached_input_tokens="cached_input_tokens",
                       reasoning_output_tokens="reasoning_output_tokens")  # fmt: skip
        yield from self.close({} if self._answered else found | told)

    def close(self, told: Fields | None = None) -> Iterator[Item]:
        """The response that was open, with what was `told` of it at its end."""
        items, line, fields = self._items, self._last, self._fields
        mended, self._mended, self._answered, self._items, self._last = self._mended, False, False, [], None
        if line is not None:
            yield _response(line, items, fields | (told or {}), mended)

    def _compacted(self, line: Line, payload: Fields) -> Iterator[Item]:
        """The summary that a model wrote; the history that it replaces another with is a copy."""
        yield from self.close()
        text = payload.get("message")
        if not isinstance(text, str) or not text:
            yield Skipped(line.number, "bookkeeping: compacted")
            return
        time = moment(line.value.get("timestamp"))
        told = {"role": "summariser", "content": text, "text_fidelity": "normalised", "finish_fidelity": "absent"}
        fields = self._session | self._model | told | ({"started_at": time} if time else {})
        try:
            yield Mapped(line.number, tuple(validated([fields])))
        except ValueError as fault:
            yield quarantined(line, str(fault))


def _called(items: list[Fields]) -> bool:
    return any(item.get("type") not in ("message", "reasoning") for item in items)


def _texts(payload: Fields, **names: str) -> Fields:
    return {ours: payload[theirs] for theirs, ours in names.items() if isinstance(payload.get(theirs), str)}


def _lineage(payload: Fields) -> Fields:
    """Role and parent of a session that another one started."""
    match payload.get("source"):
        case {"subagent": {"thread_spawn": {"parent_thread_id": str() as parent}}}:
            return {"role": "subagent", "parent_run_id": parent}
        case {"subagent": kind}:
            found = {"role": "summariser" if kind == "compact" else "subagent"}
            return found | _texts(payload, parent_thread_id="parent_run_id")
        case _:
            return _texts(payload, forked_from_id="forked_from")


def _response(line: Line, items: list[Fields], fields: Fields, mended: bool) -> Item:
    ids = [found for item in items for key in ("id", "call_id") if isinstance(found := item.get(key), str) and found]
    named = {"generation_id": ids[0]} if ids else {}
    whole = named | fields | item_fields(items) | {"finish_fidelity": "absent"}
    if mended and whole["text_fidelity"] == "exact":
        whole["text_fidelity"] = "normalised"
    try:
        return Mapped(line.number, tuple(validated([whole])), request("codex", *ids))
    except ValueError as fault:
        return quarantined(line, str(fault))


CODEX_ROLLOUT = Format(
    name="codex-rollout",
    title="OpenAI Codex sessions, rollout files (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="lines with `timestamp`, `type` and `payload`, the first of them `session_meta`; in 2025 bare items "
    "after a header with `instructions`",
    carries="exact text, reasoning or its summary, raw arguments, model, provider id, tokens, time, sub-agents",
    lacks="tools, finish reason, responded model, host, failed attempts; where one response ends before tokens were "
    "counted it is told by results of tools",
    better="log at a gateway beside it, where tools and finish reasons are needed",
    example="""\
{"timestamp":"2026-11-30T08:00:00Z","type":"session_meta","payload":{"id":"s1","cwd":"/p","originator":"codex_exec",\
"cli_version":"0.171.0","source":"exec","model_provider":"local"}}
{"timestamp":"2026-11-30T08:00:00Z","type":"event_msg","payload":{"type":"task_started","turn_id":"t1"}}
{"timestamp":"2026-11-30T08:00:00Z","type":"turn_context","payload":{"turn_id":"t1","cwd":"/p","model":"m"}}
{"timestamp":"2026-11-30T08:00:01Z","type":"response_item","payload":{"type":"message","role":"assistant","id":"msg_1",\
"content":[{"type":"output_text","text":"One file."}]}}
{"timestamp":"2026-11-30T08:00:02Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"t1",\
"last_agent_message":"One file."}}
""",
)
