"""Batch files of OpenAI's API and its likes, and the results of Anthropic's message batches.

The output has the responses in any order, the input the tools; lines of both are joined on `custom_id`. The requests of
a batch are sent at once: each is a run of its own. OpenAI allows 50,000 of them in a batch.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from ingest.bodies import asked_of, body_of, joined
from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined, share
from ingest.shapes.openai_message import Fields, unpacked, validated
from ingest.shapes.threads import digest

Object = dict[str, Any]

WAITING = 50_000
"""Responses that may wait for their request at once; the one that waits longest is read without it."""
WAITING_BYTES = 512 << 20
_STATUSES = {"canceled": "cancelled"}


def recognises(value: Any) -> bool:
    """Whether `value` is a line of a batch's input or output."""
    return _is_input(value) or _is_output(value)


def _is_input(value: Any) -> bool:
    match value:
        case {"custom_id": str(), "url": str(), "body": _} | {"custom_id": str(), "params": {"messages": _}}:
            return "response" not in value
        case _:
            return False


def _is_output(value: Any) -> bool:
    match value:
        case {"custom_id": str(), "response": dict() | None} if "error" in value or "id" in value:
            return True
        case {"custom_id": str(), "result": {"type": str()}}:
            return True
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of a batch's lines."""
    return share(values, recognises)


@dataclass(slots=True)
class _Asked:
    """What is kept of a request: its line until that is answered, what it offered, its hash."""

    line: int | None
    offer: Fields
    hash: bytes


@dataclass(slots=True)
class _Waiting:
    """A response whose request has not come: its line, as bytes where they tell all."""

    number: int
    raw: bytes
    value: Any

    def line(self) -> Line:
        """The line again."""
        mended = self.value is not None
        return Line(self.number, self.value if mended else from_json(self.raw), self.raw, mended)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response a line; the line of a request is skipped, for it is no generation."""
    join = _Join()
    for line in lines:
        if _is_input(line.value):
            yield from join.ask(line)
        elif _is_output(line.value):
            yield from join.answer(line)
        else:
            yield quarantined(line, "no line of a batch's input or output")
    yield from join.rest()


class _Join:
    """Requests and responses by their `custom_id`, whichever comes first."""

    def __init__(self) -> None:
        self._asked: dict[str, _Asked] = {}
        self._waiting: dict[str, list[_Waiting]] = {}
        self._tools: dict[bytes, Any] = {}
        self._count = self._bytes = 0

    def ask(self, line: Line) -> Iterator[Item]:
        """Take in a request; those who wait for it are answered."""
        name = line.value["custom_id"]
        try:
            asked = self._compact(line)
        except ValueError as fault:
            yield quarantined(line, str(fault))
            return
        if (earlier := self._asked.get(name)) and earlier.line is not None:
            yield Skipped(earlier.line, "a request without a response")
        self._asked[name] = asked
        for waiting in self._waiting.pop(name, ()):
            yield from self._joined(waiting.line(), asked)
            self._forget(waiting)

    def _compact(self, line: Line) -> _Asked:
        request = unpacked(line.value.get("body", line.value.get("params")))
        body = asked_of(request) if isinstance(request, dict) else None
        if body is None:
            raise ValueError("a request to no API that leakdown knows")
        offer = body.offer(request)
        tools = digest(offer.get("tools"))
        offer["tools"] = self._tools.setdefault(tools, offer.get("tools"))
        return _Asked(line.number, offer, digest([body.history(request), offer["tools"]]))

    def answer(self, line: Line) -> Iterator[Item]:
        """Take in a response; it waits if its request has not come."""
        name = line.value["custom_id"]
        if (asked := self._asked.get(name)) is not None:
            yield from self._joined(line, asked)
            return
        waiting = _Waiting(line.number, line.raw, line.value if line.mended else None)
        self._waiting.setdefault(name, []).append(waiting)
        self._count, self._bytes = self._count + 1, self._bytes + len(line.raw)
        while self._count > WAITING or self._bytes > WAITING_BYTES:
            yield from self._oldest()

    def _oldest(self) -> Iterator[Item]:
        name = next(iter(self._waiting))
        for waiting in self._waiting.pop(name):
            yield _item(waiting.line(), None)
            self._forget(waiting)

    def _forget(self, waiting: _Waiting) -> None:
        self._count, self._bytes = self._count - 1, self._bytes - len(waiting.raw)

    def _joined(self, line: Line, asked: _Asked) -> Iterator[Item]:
        if asked.line is not None:
            yield Skipped(asked.line, "a request whose response stands on another line")
            asked.line = None
        yield _item(line, asked)

    def rest(self) -> Iterator[Item]:
        """Responses without a request, requests without a response."""
        while self._waiting:
            yield from self._oldest()
        for asked in self._asked.values():
            if asked.line is not None:
                yield Skipped(asked.line, "a request without a response")


def _item(line: Line, asked: _Asked | None) -> Item:
    value = line.value
    try:
        replies = _replies(value, line.mended)
        name = digest([value["custom_id"], value.get("id"), value.get("response"), value.get("result")])
        whole = {"run_id": f"b{name.hex()}", "custom_id": value["custom_id"]}
        fields = [whole | reply for reply in joined(asked.offer if asked else {}, replies)]
        if not fields:
            return Skipped(line.number, "a response without choices")
        return Mapped(line.number, tuple(validated(fields)), asked.hash if asked else None)
    except ValueError as fault:
        return quarantined(line, str(fault))


def _replies(value: Object, mended: bool) -> list[Fields]:
    response, status = _response(value)
    if isinstance(response, dict) and (body := body_of(response)) is not None:
        return body.replies(response, mended)
    error = value.get("error") or (response.get("error") if isinstance(response, dict) else None)
    if not error and status is None:
        raise ValueError("holds no response of an API that leakdown knows")
    named = {"generation_id": value["id"]} if isinstance(value.get("id"), str) else {}
    failed = {"content": None, "status": status or "error", "finish_fidelity": "absent"}
    return [named | failed | ({"error": error} if error else {})]


def _response(value: Object) -> tuple[Any, str | None]:
    """The response, or what came in its place, and the status where that tells one."""
    match value:
        case {"response": {"body": body, **told}}:
            code = told.get("status_code")
            return unpacked(body), "error" if isinstance(code, int) and code >= 400 else None
        case {"result": {"type": "succeeded", "message": message}}:
            return message, None
        case {"result": {"type": str() as kind, **told}}:
            return told, _STATUSES.get(kind, "error")
        case _:
            return None, None


OPENAI_BATCH = Format(
    name="openai-batch",
    title="Batch API, output with or without its input (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="lines with a `custom_id` and a `response` or `error` (output), `url` and `body` (input), or "
    "Anthropic's "
    "`result` and `params`",
    carries="all that the response tells; with the input the tools and the model asked for, joined on `custom_id`",
    lacks="tools where the input is not uploaded with the output; retries; runs: each request is one",
    better="upload the input file together with the output file and the error file",
    joint=True,
    across_files=True,
    example="""\
{"custom_id":"task-1","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user",\
"content":"what is here?"}],"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}}]}}
{"id":"batch_req_2","custom_id":"task-2","response":null,"error":{"code":"batch_expired","message":"Too late."}}
{"id":"batch_req_1","custom_id":"task-1","response":{"status_code":200,"request_id":"r1","body":{"id":"chatcmpl-1",\
"object":"chat.completion","created":1796000000,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant",\
"content":null,"tool_calls":[{"id":"call_a","type":"function","function":{"name":"ls","arguments":"{}"}}]},\
"finish_reason":"tool_calls"}]}},"error":null}
""",
)
