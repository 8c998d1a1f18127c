"""LiteLLM's StandardLoggingPayload, as its callbacks, S3 and the generic API write it, one call a line.

Source: litellm 1.110.2, `litellm_core_utils/litellm_logging.py` and a recorded file. `id` is the response's own,
which servers repeat; `litellm_call_id` is LiteLLM's. `trace_id` is new with every call unless a proxy groups the
retries and fallbacks of a request, or the client its session.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import Object, body_of
from ingest.formats import Format, Item, Line, Skipped, quarantined
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, unpacked
from ingest.shapes.repeated import sent_back
from ingest.shapes.threads import Threads, digest
from ingest.shapes.wrapped import (
    CACHED,
    NO_CALL,
    NO_TEXT,
    fields,
    mapped,
    object_at,
    part,
    request_for,
    response_of,
    spread,
    started,
    text,
    texts,
    tokens,
)

REDACTED = "redacted-by-litellm"
OTHER_CALLS = (
    "embedding",
    "image",
    "moderation",
    "transcription",
    "speech",
    "rerank",
    "search",
    "file",
    "batch",
    "ocr",
)
"""Parts of the call types that make no text."""
TRACES = 16_384
"""Traces of which the last call is remembered, for retries."""
_KEPT = ("api_base", "trace_id", "model_group", "model_id", "user_agent")


def recognises(value: Any) -> bool:
    """Whether `value` is such a payload."""
    return isinstance(value, dict) and {"call_type", "model_parameters", "hidden_params"} <= value.keys()


def sniff(values: Sequence[Any]) -> float:
    """The share of payloads."""
    return part(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One call a line."""
    runs = _Runs()
    for line in spread(iter(lines)):
        try:
            yield _item(line, runs)
        except ValueError as fault:
            yield quarantined(line, str(fault))


def _item(line: Line, runs: "_Runs") -> Item:
    if not recognises(line.value):
        return quarantined(line, "no payload of LiteLLM: call_type, model_parameters and hidden_params are missing")
    value: Object = line.value
    if value.get("cache_hit") in (True, "True"):
        return Skipped(line.number, CACHED)
    kind = str(value["call_type"])
    response = response_of(unpacked(value.get("response")))
    if response is None and any(other in kind for other in OTHER_CALLS):
        return Skipped(line.number, NO_CALL)
    error = failure(value, value.get("error_information"))
    if response is None and not error and value.get("response") in (None, {}, "", "{}", REDACTED):
        return Skipped(line.number, NO_TEXT)
    return _call(line, response, error, runs)


def _call(line: Line, response: Object | None, error: Any, runs: "_Runs") -> Item:
    value = line.value
    body = body_of(response) if response is not None else None
    messages = unpacked(value.get("messages")) or []
    parameters = {**object_at(value, "model_parameters"), **texts(value, "model")}
    request = request_for(body, messages, parameters)
    history = messages if isinstance(messages, list) and all(isinstance(each, dict) for each in messages) else []
    said = body.answers(response) if body and response is not None else []
    place, asked = runs.place(value, history, said or [{"error": digest(error).hex()}], parameters.get("tools"))
    over = place | _wrapper(value) | sent_back(history)
    under = {**texts(value, "model"), **tokens(value, "prompt_tokens", "completion_tokens")}
    found = fields(request, response, over=over, under=under, error=error, mended=line.mended)
    return mapped(line, [_as_logged(each, value) for each in found], asked)


def failure(value: Object, information: Any) -> Any:
    """What a failed call says of its error, without the traceback; None for a call that did not fail."""
    if value.get("status") != "failure":
        return None
    told = texts(information, "error_code", "error_class", "llm_provider", "error_message")
    return told or text(value, "error_str") or "failure"


def _wrapper(value: Object) -> Fields:
    own = texts(value, *_KEPT)
    if provider := text(value, "custom_llm_provider"):
        own["provider"] = provider
    if upstream := text(object_at(value, "hidden_params"), "upstream_provider"):
        own["upstream_provider"] = upstream
    if name := text(value, "litellm_call_id", "id"):
        own["generation_id"] = name
    return own | started(moment(value.get("startTime")))


def _as_logged(each: Fields, value: Object) -> Fields:
    """What LiteLLM did to a response: it rebuilds streamed ones, whose model becomes the one asked for."""
    if value.get("stream") is True and "error" not in each:
        each = {**each, "model_is": "requested"}
        each |= {"text_fidelity": "rebuilt"} if each.get("text_fidelity", "exact") == "exact" else {}
    redacted = REDACTED in (each.get("content"), each.get("reasoning"))
    return {**each, "text_fidelity": "redacted"} if redacted else each


class _Runs:
    """Runs and attempts of the calls so far."""

    def __init__(self) -> None:
        self._threads = Threads()
        self._traces: OrderedDict[str, tuple[str, bytes, Any, int]] = OrderedDict()

    def place(self, value: Object, history: list[Object], said: list[Object], tools: Any) -> tuple[Fields, bytes]:
        """The run and attempt of a call, and the hash of its request: with its start, for ids repeat."""
        asked = digest([history, tools])
        moment_told = value.get("startTime")
        trace = text(value, "trace_id")
        earlier = self._traces.get(trace) if trace else None
        run = text(value, "session_id") or (earlier[0] if earlier else self._threads.run_of(history, said))
        name = (text(value, "litellm_call_id", "id"), str(moment_told))
        place: Fields = {"run_id": run} | self._threads.place(run, history, name)
        attempt = _attempt(earlier, asked, moment_told)
        place |= {"attempt": attempt, "linked_by": "attempt_group"} if attempt else {}
        if trace:
            self._traces[trace] = (run, asked, moment_told, attempt)
            self._traces.move_to_end(trace)
            if len(self._traces) > TRACES:
                self._traces.popitem(last=False)
        return place, digest([asked.hex(), moment_told])


def _attempt(earlier: tuple[str, bytes, Any, int] | None, asked: bytes, start: Any) -> int:
    """One more than the trace's last call where that asked the same; the same call may be logged twice."""
    if earlier is None or earlier[1] != asked:
        return 0
    return earlier[3] + int(earlier[2] != start)


LITELLM = Format(
    name="litellm",
    title="LiteLLM, StandardLoggingPayload of its callbacks (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="objects with `call_type`, `model_parameters` and `hidden_params`",
    carries="exact text, reasoning, raw arguments, tools, finish reason, provider and host, errors, usage, time, "
    "engine by fingerprint; retries and fallbacks on the proxy, where they share a `trace_id`",
    lacks="the session unless the client names one; the model that answered a streamed call (LiteLLM writes the one "
    "asked for); text where `turn_off_message_logging` is on",
    better="send `litellm_session_id` with every call; log from the proxy, so that retries share a trace",
    example="""\
{"id":"chatcmpl-1","litellm_call_id":"c-1","trace_id":"t-1","session_id":"s-1","call_type":"acompletion",\
"status":"success","custom_llm_provider":"hosted_vllm","startTime":1796000000.5,"model":"m","stream":null,\
"messages":[{"role":"user","content":"what is here?"}],"response":{"id":"chatcmpl-1","object":"chat.completion",\
"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"<tool_call>{\\"name\\": \\"ls\\"}"},\
"finish_reason":"stop"}]},"model_parameters":{"tools":[{"type":"function","function":{"name":"ls"}}]},\
"hidden_params":{},"error_information":null}
{"id":"c-2","litellm_call_id":"c-2","trace_id":"t-2","session_id":"s-1","call_type":"acompletion","status":"failure",\
"custom_llm_provider":"hosted_vllm","startTime":1796000002.5,"model":"m","messages":[{"role":"user",\
"content":"and now?"}],"response":{},"model_parameters":{},"hidden_params":{},"error_information":{"error_code":"503",\
"error_class":"ServiceUnavailableError","error_message":"no server"}}
""",
)
