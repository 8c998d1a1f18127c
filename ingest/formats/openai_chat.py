"""Chat completions as callers log them: request and response under any wrapper keys, or the response alone.

Every choice of a response is a generation; the history in a request is not. Sampling parameters and
log probabilities are left behind.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from ingest.exchange import Exchange, answers, exchange, streamed
from ingest.fingerprint import engine
from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined, share
from ingest.formats.native import is_native
from ingest.openai_message import Fields, kept, message_fields, offered, validated
from ingest.threads import Threads, digest

RUN_KEYS = ("run_id", "session_id", "trace_id", "conversation_id")
TIME_KEYS = ("timestamp", "created_at", "started_at", "startTime", "time", "ts")
LAST_SECOND = 4_102_444_800
"""Unix time of 2100: a larger number is no time in seconds."""
_COUNTS = (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
_CHOICE_MAPPED = {"index", "message", "finish_reason", "logprobs"}


def recognises(value: Any) -> bool:
    """Whether `value` holds a chat completion, or a chat request with an error for an answer."""
    if not isinstance(value, dict) or is_native(value):
        return False
    found = exchange(value)
    return found.response is not None or (found.request is not None and found.error is not None)


def sniff(values: Sequence[Any]) -> float:
    """The share of logged chat completions."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response a line."""
    threads = Threads()
    for line in lines:
        yield _item(line, threads)


def _item(line: Line, threads: Threads) -> Item:
    if not isinstance(line.value, dict):
        return quarantined(line, "not an object with a chat completion")
    found = exchange(line.value)
    if found.response is None and found.error is None:
        return _unanswered(line, found)
    if found.response is not None and not found.response["choices"]:
        return Skipped(line.number, "a response without choices")
    try:
        return Mapped(line.number, tuple(validated(_generations(found, threads, line.mended))), _request_hash(found))
    except ValueError as fault:
        return quarantined(line, str(fault))


def _unanswered(line: Line, found: Exchange) -> Item:
    if streamed(found.record):
        return quarantined(line, "a chunk of a streamed completion, which is not supported yet: log whole responses")
    answer = any(isinstance(part, dict | list | str) and part for part in answers(found.record))
    if found.request is None or answer:
        return quarantined(line, "holds no chat completion (an object with choices)")
    return Skipped(line.number, "a request without a response")


def _request_hash(found: Exchange) -> bytes | None:
    if found.request is None:
        return None
    tools = found.tools()
    return digest([found.request["messages"], tools and tools[1]])


def _generations(found: Exchange, threads: Threads, mended: bool) -> Iterator[Fields]:
    choices = found.response["choices"] if found.response else []
    run_id = _run_id(found, [choice["message"] for choice in choices], threads)
    whole = _response_fields(found) | _request_fields(found) | {"run_id": run_id}
    if not choices:
        failed = {"status": "error", "content": None, "finish_fidelity": "absent", "error": found.error}
        yield whole | failed
    for position, choice in enumerate(choices):
        fields = message_fields(choice["message"], mended=mended) | _choice_fields(choice)
        yield fields | _numbered(whole, position)


def _numbered(whole: Fields, position: int) -> Fields:
    """The fields of the response for one choice: the id tells choices apart, usage and error count once."""
    if not position:
        return whole
    later = {key: value for key, value in whole.items() if key not in ("usage", "error")}
    if "generation_id" in later:
        later["generation_id"] = f"{later['generation_id']}#{position}"
    return later


def _run_id(found: Exchange, replies: list[Fields], threads: Threads) -> str:
    request = found.request or {}
    messages = request.get("messages", [])
    if not all(isinstance(message, dict) for message in messages):
        raise ValueError("messages holds something other than objects")
    places = (found.record, found.record.get("metadata"), request.get("metadata"))
    named = (place.get(key) for place in places if isinstance(place, dict) for key in RUN_KEYS)
    run_id = next((name for name in named if isinstance(name, str) and name), None)
    return run_id or threads.run_of(messages, replies or [{"error": found.error}])


def _response_fields(found: Exchange) -> Fields:
    response, request = found.response or {}, found.request or {}
    texts = {
        "id": "generation_id",
        "model": "model",
        "provider": "provider",
        "system_fingerprint": "system_fingerprint",
    }
    fields: Fields = {ours: response[key] for key, ours in texts.items() if isinstance(response.get(key), str)}
    fields |= engine(fields.get("system_fingerprint", ""))
    requested = request.get("model")
    if isinstance(requested, str) and fields.setdefault("model", requested) != requested:
        fields["requested_model"] = requested
    if moment := _started(found):
        fields["started_at"] = moment
    if "usage" in response:
        fields["usage"] = _usage(response["usage"])
    return fields | ({"error": response["error"]} if response.get("error") else {})


def _request_fields(found: Exchange) -> Fields:
    """Tools and call mode: a request without tools offered none, no request leaves them unknown."""
    if found.request is None:
        return {}
    key, value = found.tools() or ("tools", [])
    tools = offered(value)
    fields: Fields = {"tools": tools, "call_mode": "native" if tools else "none"}
    choice_key = "function_call" if key == "functions" else "tool_choice"
    if choice_key in found.request:
        fields["tool_choice"] = found.request[choice_key]
        if fields["tool_choice"] == "none":
            fields["call_mode"] = "none"
    return fields


def _choice_fields(choice: Fields) -> Fields:
    fields = kept("choice", choice, _CHOICE_MAPPED)
    fields |= {"status": "error"} if choice.get("error") else {}
    match choice.get("finish_reason"):
        case None:
            given = {"finish_reason": None} if "finish_reason" in choice else {}
            return fields | given | {"finish_fidelity": "absent"}
        case str() as reason:
            return fields | {"finish_reason": reason, "finish_fidelity": "wire"}
        case {"type": str() as reason} as source:  # SGLang's {type, matched}
            return fields | {
                "finish_reason": reason,
                "finish_fidelity": "mapped",
                "choice_finish_reason": source,
            }
        case _:
            raise ValueError("the finish reason is no text")


def _usage(usage: Any) -> Any:
    """OpenAI's counts under our names; one that is no count stays under its own."""
    if not isinstance(usage, dict):
        return usage
    names = {theirs: ours for theirs, ours in _COUNTS if _is_count(usage.get(theirs))}
    taken = {ours for _, ours in _COUNTS}
    return {names.get(key, key): value for key, value in usage.items() if key not in taken}


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _started(found: Exchange) -> datetime | None:
    """When the response was created (unix seconds), else the time that the wrapper tells."""
    created = (found.response or {}).get("created")
    if moment := _seconds(created):
        return moment
    times = (found.record.get(key) for key in TIME_KEYS)
    return next((moment for time in times if (moment := _moment(time))), None)


def _seconds(time: Any) -> datetime | None:
    number = isinstance(time, int | float) and not isinstance(time, bool)
    return datetime.fromtimestamp(time, UTC) if number and 0 < time < LAST_SECOND else None


def _moment(time: Any) -> datetime | None:
    """A moment from unix time, in milliseconds if it is too large, or an ISO 8601 text; None for anything else."""
    match time:
        case str():
            return _iso(time)
        case int() | float() if LAST_SECOND < time < LAST_SECOND * 1000:
            return _seconds(time / 1000)
        case _:
            return _seconds(time)


def _iso(text: str) -> datetime | None:
    """UTC where the text names no zone."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


OPENAI_CHAT = Format(
    name="openai-chat",
    title="OpenAI chat completions, request and response pairs (JSON Lines)",
    sniff=sniff,
    read=read,
    example="""\
{"request":{"model":"m","messages":[{"role":"user","content":"what is here?"}],"tools":[{"type":"function",\
"function":{"name":"ls","parameters":{"type":"object"}}}]},"response":{"id":"chatcmpl-1","created":1796000000,\
"model":"m-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":null,\
"tool_calls":[{"id":"call_a","type":"function","function":{"name":"ls","arguments":"{}"}}]},\
"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":30,"completion_tokens":5,"total_tokens":35}}}
{"request":{"model":"m","messages":[{"role":"user","content":"what is here?"},{"role":"assistant",\
"content":null,"tool_calls":[{"id":"call_a","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool",\
"tool_call_id":"call_a","content":"a.txt"}]},"response":{"id":"chatcmpl-2","created":1796000002,"model":"m-1",\
"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"One file, a.txt."},\
"finish_reason":"stop"}]}}
""",
)
