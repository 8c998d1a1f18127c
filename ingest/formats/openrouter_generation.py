"""OpenRouter's records of one generation: `GET /generation` and its content, one after the other or in one object.

Source: @openrouter/sdk 1.3.19. The content has text and reasoning, but neither calls nor tools, and no id: it belongs
to the metadata on the line before.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import Object
from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, validated
from ingest.shapes.parts import PART
from ingest.shapes.threads import Threads, digest
from ingest.shapes.wrapped import NO_TEXT, object_at, part, spread, started, text, texts, tokens

_KEPT = ("native_finish_reason", "upstream_id", "request_id", "router", "api_type")


def recognises(value: Any) -> bool:
    """Whether `value` is the metadata or the content of a generation."""
    data = _data(value)
    return ("native_finish_reason" in data and "provider_name" in data) or _is_content(data)


def _data(value: Any) -> Object:
    if not isinstance(value, dict):
        return {}
    inner = value.get("data")
    return inner if isinstance(inner, dict) else value


def _is_content(data: Object) -> bool:
    """Content has an output with a completion; only wrapped in `data` or beside metadata it is OpenRouter's."""
    return "completion" in object_at(data, "output") and isinstance(data.get("input"), dict)


def sniff(values: Sequence[Any]) -> float:
    """The share of such records."""
    return part(values, recognises, "data")


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """Metadata and content, joined where they follow each other."""
    threads = Threads()
    waiting: Line | None = None
    for line in spread(iter(lines), "data"):
        data = _data(line.value)
        if waiting and (_is_content(data) and "native_finish_reason" not in data):
            yield Skipped(waiting.number, PART)
            line = Line(line.number, {**_data(waiting.value), **data}, line.raw, line.mended)
            waiting = None
        if waiting:
            yield Skipped(waiting.number, NO_TEXT)
            waiting = None
        if "native_finish_reason" in data and not _is_content(data):
            waiting = line
        else:
            yield _item(line, threads)
    if waiting:
        yield Skipped(waiting.number, NO_TEXT)


def _item(line: Line, threads: Threads) -> Item:
    data = _data(line.value)
    if not _is_content(data):
        return quarantined(line, "no generation of OpenRouter: it has neither metadata nor content")
    try:
        asked = data["input"].get("messages")
        history = asked if isinstance(asked, list) and all(isinstance(each, dict) for each in asked) else []
        found = _said(data) | _metadata(data)
        answer = {"content": found.get("content")}
        run_id = text(data, "session_id") or threads.run_of(history or [data["input"]], [answer])
        found |= {"run_id": run_id} | threads.place(run_id, history, text(data, "id"))
        return Mapped(line.number, tuple(validated([_mended(found, line)])), digest([data["input"]]))
    except ValueError as fault:
        return quarantined(line, str(fault))


def _mended(found: Fields, line: Line) -> Fields:
    return {**found, "text_fidelity": "normalised"} if line.mended else found


def _said(data: Object) -> Fields:
    output = object_at(data, "output")
    said: Fields = {"content": output["completion"], "text_fidelity": "exact", "finish_fidelity": "absent"}
    said |= {"reasoning": output["reasoning"]} if "reasoning" in output else {}
    if error := data.get("error"):
        return said | {"status": "error", "error": error}
    return said | ({"status": "cancelled"} if data.get("cancelled") is True else {})


def _metadata(data: Object) -> Fields:
    told = texts(data, "model", *_KEPT) | tokens(data, "tokens_prompt", "tokens_completion")
    told |= started(moment(data.get("created_at")))
    names = (("generation_id", "id"), ("provider", "provider_name"), ("finish_reason", "finish_reason"))
    told |= {ours: data[theirs] for ours, theirs in names if text(data, theirs)}
    attempts = data.get("provider_responses")
    told |= {"provider_responses": attempts} if isinstance(attempts, list) and len(attempts) > 1 else {}
    return told | ({"finish_fidelity": "wire"} if "finish_reason" in told else {})


OPENROUTER_GENERATION = Format(
    name="openrouter-generation",
    title="OpenRouter, generations with their content (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="objects, bare or under `data`, with `native_finish_reason` and `provider_name`, or with an `input` "
    "and an `output` that has a `completion`",
    carries="exact text and reasoning, the upstream provider, OpenRouter's finish reason and the provider's own, "
    "usage, time, failed providers",
    lacks="structured calls and the tools offered: a leak cannot be told from text beside a call but by the finish "
    "reason; engine",
    better="OpenRouter's Broadcast (OTLP) carries calls and tools; or log whole responses",
    example="""\
{"data":{"id":"gen-1","model":"a/m","provider_name":"Host","created_at":"2026-11-01T10:00:00Z","streamed":true,\
"cancelled":false,"finish_reason":"stop","native_finish_reason":"eos","tokens_prompt":9,"tokens_completion":3,\
"session_id":"s1"}}
{"data":{"input":{"messages":[{"role":"user","content":"ls"}]},"output":{"completion":"Two files.","reasoning":null}}}
""",
)
