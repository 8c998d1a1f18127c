"""The telemetry file of the Gemini CLI (`telemetry.outfile`): OpenTelemetry objects of its JavaScript library.

Source: telemetry/ and core/loggingContentGenerator.js of @google/gemini-cli-core 0.61.0. A response is the log event
`gemini_cli.api_response`, with what came from the API, chunk by chunk, in `response_text` if prompts are logged. The
tools stand in the span `llm_call` around it, if traces are written; the span may come before the event or after it,
so that responses wait for one, some time. The event `gen_ai.client.inference.operation.details` tells it again.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.gemini_parts import part_fields
from ingest.shapes.openai_message import Fields, offered, unpacked
from ingest.shapes.told import COPY, counts, item, objects, started, texts

WAITING = 64
"""Responses that wait for their span, and spans that wait for their response, with a common list of tools."""
SILENT = "a response without its text: the setting telemetry.logPrompts was off"
_ROLES = {
    "main": "agent",
    "subagent": "subagent",
    "utility_compressor": "summariser",
    "utility_summarizer": "summariser",
    "utility_state_snapshot_processor": "summariser",
}
_RESPONSE, _ERROR = "gemini_cli.api_response", "gemini_cli.api_error"
Span = tuple[str, float, float, Fields]
"""A model call: session, start, end, and the tools and model that were asked for."""


def recognises(value: Any) -> bool:
    """Whether `value` is a log record, a span or metrics of the Gemini CLI."""
    match value:
        case {"attributes": {"event.name": str()}, "instrumentationScope": {"name": "gemini-cli"}, "hrTime": _}:
            return True
        case {"_spanContext": dict(), "instrumentationScope": {"name": "gemini-cli"}}:
            return True
        case {"resource": {"_rawAttributes": list() as resource}}:
            return ["service.name", "gemini-cli"] in resource
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of its records."""
    return share(values, recognises)


@dataclass(slots=True)
class _File:
    spans: deque[Span] = field(default_factory=lambda: deque(maxlen=WAITING))
    waiting: deque[tuple[Line, Fields, float]] = field(default_factory=deque)
    offers: dict[str, list[Any] | None] = field(default_factory=dict)
    """Lists of tools, by their text; the latest only."""
    rounds: dict[str, int] = field(default_factory=dict)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response an event, once its span was read."""
    file = _File()
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no telemetry of the Gemini CLI")
            continue
        attributes = line.value.get("attributes")
        name = attributes.get("event.name") if isinstance(attributes, dict) else None
        if name in (_RESPONSE, _ERROR):
            yield from _response(file, line, attributes)
        elif line.value.get("name") == "llm_call":
            yield from _span(file, line)
        else:
            told_again = name == "gen_ai.client.inference.operation.details"
            yield Skipped(line.number, COPY if told_again else "bookkeeping: other telemetry")
    for waiting in file.waiting:
        yield _mapped(*waiting[:2], None)


def _response(file: _File, line: Line, attributes: Fields) -> Iterator[Item]:
    try:
        told = _failed(attributes) if attributes["event.name"] == _ERROR else _answered(attributes)
    except ValueError as fault:
        yield quarantined(line, str(fault))
        return
    if not told:
        yield Skipped(line.number, SILENT)
        return
    run_id = str(attributes.get("session.id", "gemini-cli"))
    whole = _whole(attributes) | {"run_id": run_id, "round": file.rounds.get(run_id, 0)}
    file.rounds[run_id] = file.rounds.get(run_id, 0) + 1
    time = _seconds(line.value.get("hrTime"))
    waiting = line, {**told, **whole}, time
    span = next((span for span in file.spans if _is_of(span, waiting)), None)
    if span:
        file.spans.remove(span)
        yield _mapped(line, waiting[1], span)
        return
    file.waiting.append(waiting)
    if len(file.waiting) > WAITING:
        yield _mapped(*file.waiting.popleft()[:2], None)


def _span(file: _File, line: Line) -> Iterator[Item]:
    yield Skipped(line.number, "bookkeeping: the span of a response")
    span = _opened(file, line.value)
    waiting = next((waiting for waiting in file.waiting if _is_of(span, waiting)), None)
    if waiting:
        file.waiting.remove(waiting)
        yield _mapped(*waiting[:2], span)
    else:
        file.spans.append(span)


def _is_of(span: Span, response: tuple[Line, Fields, float]) -> bool:
    """Whether a response ended within a span of its session."""
    return span[0] == response[1]["run_id"] and span[1] <= response[2] <= span[2]


def _opened(file: _File, value: Fields) -> Span:
    attributes = value.get("attributes")
    attributes = attributes if isinstance(attributes, dict) else {}
    asked = texts(attributes, {"gen_ai.request.model": "requested_model"})
    definitions = attributes.get("gen_ai.tool.definitions")
    if isinstance(definitions, str):
        if definitions not in file.offers:
            file.offers = {definitions: _tools(definitions)}
        if (tools := file.offers[definitions]) is not None:
            asked |= {"tools": tools, "call_mode": "native" if tools else "none"}
    session = str(attributes.get("gen_ai.conversation.id", ""))
    return session, _seconds(value.get("startTime")), _seconds(value.get("endTime")) + 0.001, asked


def _tools(definitions: str) -> list[Any] | None:
    """The functions declared; None if the text was cut and holds no JSON any more."""
    groups = unpacked(definitions)
    if not isinstance(groups, list):
        return None
    found = [function for group in objects(groups) for function in objects(group.get("functionDeclarations"))]
    named = {"parametersJsonSchema": "parameters"}
    return offered([{named.get(key, key): value for key, value in function.items()} for function in found])


def _seconds(time: Any) -> float:
    """A time of that library, `[seconds, nanoseconds]`; 0 for anything else."""
    match time:
        case [int() as whole, int() as nano] if 0 < whole < 2**40 and 0 <= nano < 10**9:
            return whole + nano / 1e9
        case _:
            return 0.0


def _mapped(line: Line, fields: Fields, span: Span | None) -> Item:
    asked = dict(span[3]) if span else {}
    if asked.get("requested_model") == fields.get("model"):
        asked.pop("requested_model", None)
    return item(line, {**fields, **asked})


def _whole(attributes: Fields) -> Fields:
    role = attributes.get("role")
    fields = {
        **counts(attributes, "input_token_count", "output_token_count"),
        **texts(attributes, {"model": "model", "prompt_id": "prompt_id"}),
        **started(attributes.get("event.timestamp")),
        "role": _ROLES.get(role, "other") if isinstance(role, str) else "agent",
        "client": "gemini-cli",
    }
    return fields | ({"call_mode": "native"} if fields["role"] in ("agent", "subagent") else {})


def _failed(attributes: Fields) -> Fields:
    fields = {"content": None, "status": "error", "finish_fidelity": "absent"}
    return fields | {"error": attributes.get("error.message", attributes.get("error"))}


def _answered(attributes: Fields) -> Fields:
    """What the API answered; nothing if it was not logged. ValueError if it cannot be read."""
    if not isinstance(attributes.get("response_text"), str):
        return {}
    answer = unpacked(attributes["response_text"])
    chunks = objects(answer if isinstance(answer, list) else [answer])
    if not chunks:
        raise ValueError("response_text holds no response: it was cut, or is of another version")
    candidates = [each for chunk in chunks for each in objects(chunk.get("candidates"))[:1]]
    contents = [each["content"] for each in candidates if isinstance(each.get("content"), dict)]
    parts = [part for content in contents for part in objects(content.get("parts"))]
    named = [texts(chunk, {"responseId": "generation_id", "modelVersion": "model"}) for chunk in chunks]
    reasons = [each["finishReason"] for each in candidates if isinstance(each.get("finishReason"), str)]
    finish = {"finish_reason": reasons[-1], "finish_fidelity": "wire"} if reasons else {"finish_fidelity": "absent"}
    return {**next(filter(None, named), {}), **part_fields(parts), **finish, "status": "ok" if reasons else "cut"}


GEMINI_TELEMETRY = Format(
    name="gemini-telemetry",
    title="Gemini CLI telemetry file (JSON documents, one after the other)",
    sniff=sniff,
    read=read,
    recognised="OpenTelemetry records of the scope `gemini-cli`: `hrTime` and an `event.name`, or a `_spanContext`",
    carries="exact text, reasoning, finish reason, tools offered, calls with parsed arguments, responding and "
    "requested model, usage, time, failed calls",
    lacks="raw arguments, engine, the turn; text if `logPrompts` was off, tools if `traces` was off",
    better='in settings.json: `"telemetry": {"enabled": true, "target": "local", "outfile": "gemini.log", '
    '"logPrompts": true, "traces": true}`',
    example="""\
{"attributes":{"session.id":"s-1","event.name":"gemini_cli.api_response","event.timestamp":"2026-11-30T08:00:01Z",\
"model":"gemini-pro-1","input_token_count":9,"output_token_count":3,"prompt_id":"p","role":"main","response_text":\
"[{\\"candidates\\":[{\\"content\\":{\\"parts\\":[{\\"text\\":\\"One file.\\"}]},\\"finishReason\\":\\"STOP\\"}],\
\\"responseId\\":\\"r1\\"}]"},"instrumentationScope":{"name":"gemini-cli"},"hrTime":[1796025601,0]}
{"_spanContext":{"traceId":"a","spanId":"b"},"instrumentationScope":{"name":"gemini-cli"},"name":"llm_call",\
"startTime":[1796025600,0],"endTime":[1796025601,1000],"attributes":{"gen_ai.conversation.id":"s-1",\
"gen_ai.request.model":"gemini-pro","gen_ai.tool.definitions":"[{\\"functionDeclarations\\":[{\\"name\\":\\"ls\\"}]}]"}}
""",
)
