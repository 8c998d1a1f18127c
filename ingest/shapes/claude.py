"""Responses that Claude Code tells block by block, in its session files as in its `stream-json` output.

Each content block of a response of Anthropic's API is a line that repeats the id of the message and its usage
(Claude Code 1.0 to 2.1.332). Behind a proxy several responses may have one id; results of tools stand between the
blocks of one response where tools start early.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ingest.formats import Item, Line, Mapped, Skipped, quarantined
from ingest.records import Generation, Tool
from ingest.shapes.agent_sessions import COPY, LASTING, PART, REPRIMAND, Recent, Steps, counts
from ingest.shapes.openai_message import Fields, offered, validated

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_OPEN = 256
"""Runs whose last response may still grow."""
_RUNS = 8192


@dataclass(slots=True)
class Part:
    """A line with blocks of a response: `request` and `parent` where the log tells them, `fields` of the whole.

    `offer` are the tools, or None where they are not told; `identity` is what names the request in every copy.
    """

    line: Line
    run: str
    message: Fields
    uuid: str | None
    fields: Fields
    request: str | None = None
    parent: str | None = None
    identity: bytes | None = None
    offer: list[Tool] | None = None

    @property
    def message_id(self) -> str | None:
        """The id of the message; None where it has none."""
        found = self.message.get("id")
        return found if isinstance(found, str) and found else None


@dataclass(slots=True)
class Response:
    """A response that may still grow. `line` is its last one; `answered` once a result of a tool stood after it."""

    first: Part
    line: Line
    message: Fields
    fields: Fields
    blocks: list[Any]
    uuids: set[str | None]
    mended: bool = False
    answered: bool = False
    told: Fields = field(default_factory=dict)
    """What lines after the blocks say of it."""

    def continues(self, part: Part) -> bool:
        """Whether `part` holds more blocks of this response."""
        message_id = part.message_id
        if message_id != self.first.message_id or part.request != self.first.request:
            return False
        if message_id is None:
            return part.uuid is not None and part.uuid in self.uuids
        named = max(len(part.request or ""), len(message_id)) >= LASTING
        return named or not self.answered or part.parent in self.uuids

    def add(self, part: Part) -> Item:
        """Take the blocks of `part`; what became of a line."""
        if part.uuid is not None and part.uuid in self.uuids:
            return Skipped(part.line.number, COPY)
        before, self.line = self.line, part.line
        self.uuids.add(part.uuid)
        self.blocks += blocks(part.message)
        self.mended |= part.line.mended
        known = {key: value for key, value in part.message.items() if value is not None}
        self.message = self.message | known
        return Skipped(before.number, PART)

    def item(self) -> Item:
        """The whole response."""
        fields = message_fields(self.message) | block_fields(self.blocks) | self.fields | self.told
        if self.mended and fields.get("text_fidelity") == "exact":
            fields["text_fidelity"] = "normalised"
        if name := self.first.message_id or self.first.uuid:
            fields["generation_id"] = name
        try:
            (record,) = validated([fields])
        except ValueError as fault:
            return quarantined(self.line, str(fault))
        return Mapped(self.line.number, (_with_tools(record, self.first.offer),), self.first.identity)


def _with_tools(record: Generation, offer: list[Tool] | None) -> Generation:
    """Thousands of generations share one list, which is validated once."""
    if offer is None:
        return record
    return record.model_copy(update={"tools": offer, "call_mode": "native" if offer else "none"})


class Responses:
    """The responses of the runs of one file that are being read."""

    def __init__(self) -> None:
        self._open: dict[str, Response] = {}
        self._steps: Recent[str, Steps] = Recent(_RUNS)

    def add(self, part: Part) -> Iterator[Item]:
        """More of a response, or another one."""
        response = self._open.get(part.run)
        if response is not None and response.continues(part):
            yield response.add(part)
            return
        yield from self.close(part.run)
        if len(self._open) >= _OPEN:
            yield from self.close(next(iter(self._open)))
        fields = part.fields | self.steps(part.run).next()
        found = list(blocks(part.message))
        uuids: set[str | None] = {part.uuid}
        self._open[part.run] = Response(part, part.line, part.message, fields, found, uuids, part.line.mended)

    def steps(self, run: str) -> Steps:
        """The steps of a run."""
        return self._steps.get(run) or self._steps.put(run, Steps())

    def last(self, run: str) -> Response | None:
        """The response of a run that may still grow."""
        return self._open.get(run)

    def answer(self, run: str) -> None:
        """A result of a tool, or a user, stands after the last response of `run`."""
        if run in self._open:
            self._open[run].answered = True

    def reprimand(self, run: str, text: str) -> None:
        """The tool told the model that its last response was no good."""
        if run in self._open:
            self._open[run].told.setdefault("reprimand", text[:REPRIMAND])

    def ask(self, run: str, content: Any = None) -> None:
        """A user asked for something."""
        self.answer(run)
        self.steps(run).ask(content)

    def close(self, run: str) -> Iterator[Item]:
        """The last response of `run`, which is whole."""
        response = self._open.pop(run, None)
        if response is not None:
            yield response.item()

    def close_all(self) -> Iterator[Item]:
        """All that are left."""
        for run in list(self._open):
            yield from self.close(run)


def blocks(message: Fields) -> list[Any]:
    """The content blocks of a message; a text alone is one."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def message_fields(message: Fields) -> Fields:
    """What a message says of itself beyond its content."""
    reason = message.get("stop_reason")
    told = isinstance(reason, str)
    fields: Fields = {"finish_reason": reason} if told or message.get("stop_reason", "") is None else {}
    fields["finish_fidelity"] = "wire" if told else "absent"
    if isinstance(message.get("model"), str):
        fields["model"] = message["model"]
    usage = counts(
        message.get("usage"),
        input_tokens="input_tokens",
        output_tokens="output_tokens",
        cache_read_input_tokens="cache_read_input_tokens",
        cache_creation_input_tokens="cache_creation_input_tokens",
    )
    return fields | usage


def block_fields(found: list[Any]) -> Fields:
    """Text, reasoning and calls; text is null where no block holds any."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Fields] = []
    others: list[Any] = []
    for block in found:
        match block:
            case {"type": "text", "text": str() as text}:
                texts.append(text)
            case {"type": "thinking", "thinking": str() as text}:
                thoughts.append(text)
            case {"type": str() as kind, "name": str()} if kind in _CALLS:
                calls.append(_call(block, kind))
            case {"type": "redacted_thinking"}:
                others.append({"type": "redacted_thinking"})
            case _:
                others.append(block)
    fields: Fields = {"content": "".join(texts) if texts else None}
    fields["text_fidelity"] = "exact" if len(texts) < 2 and len(thoughts) < 2 else "rebuilt"
    fields |= {"reasoning": "".join(thoughts)} if thoughts else {}
    fields |= {"tool_calls": calls} if calls else {}
    return fields | ({"content_parts": others} if others else {})


def _call(block: Fields, kind: str) -> Fields:
    call: Fields = {key: block[key] for key in ("id", "name") if key in block}
    if "input" in block:
        call["arguments"] = block["input"]
    return call if kind == "tool_use" else {**call, "type": kind}


def offer_of(tools: Any) -> list[Tool] | None:
    """Tools of Anthropic's API, or bare names; None for no list of tools, and for one that is not understood."""
    if not isinstance(tools, list):
        return None
    named = [_tool(tool) for tool in tools if isinstance(tool, dict | str)]
    try:
        (record,) = validated([{"run_id": "", "content": None, "tools": offered([tool for tool in named if tool])}])
    except ValueError:
        return None
    return record.tools


def _tool(tool: Any) -> Fields | None:
    if isinstance(tool, str):
        return {"name": tool} if tool.replace("_", "").replace("-", "").isalnum() else None
    wire = tool["schema"] if isinstance(tool.get("schema"), dict) else tool
    schema = {"parameters": wire["input_schema"]} if isinstance(wire.get("input_schema"), dict) else {}
    return {
        key: value for key, value in tool.items() if key not in ("input_schema", "schema", "cache_control")
    } | schema
