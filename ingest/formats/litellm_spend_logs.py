"""Rows of LiteLLM's table `LiteLLM_SpendLogs`: second best, since the database keeps long strings only in part.

Source: litellm 1.110.2, `proxy/spend_tracking/spend_tracking_utils.py`. Bodies are there with
`store_prompts_in_spend_logs` only, the request in `proxy_server_request`; exports hold columns as JSON in strings.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic_core import to_json

from ingest.bodies import Object
from ingest.formats import Format, Item, Line, Skipped, quarantined
from ingest.formats.litellm import OTHER_CALLS, REDACTED, failure
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, unpacked
from ingest.shapes.wrapped import (
    CACHED,
    NO_CALL,
    NO_TEXT,
    fields,
    mapped,
    object_at,
    part,
    response_of,
    spread,
    started,
    text,
    texts,
    tokens,
)

CUT = "litellm_truncated skipped"
_SURE = ({"request_id", "call_type", "spend"}, {"api_key", "proxy_server_request", "completionStartTime"})


def recognises(value: Any) -> bool:
    """Whether `value` is a row of that table."""
    return isinstance(value, dict) and _SURE[0] <= value.keys() and not _SURE[1].isdisjoint(value)


def sniff(values: Sequence[Any]) -> float:
    """The share of rows."""
    return part(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One call a row."""
    for line in spread(iter(lines)):
        try:
            yield _item(line)
        except ValueError as fault:
            yield quarantined(line, str(fault))


def _item(line: Line) -> Item:
    if not recognises(line.value):
        return quarantined(line, "no row of LiteLLM_SpendLogs: request_id, call_type and spend are missing")
    value: Object = line.value
    if str(value.get("cache_hit")).lower() == "true" or "_cache_hit" in str(value["request_id"]):
        return Skipped(line.number, CACHED)
    response = response_of(unpacked(value.get("response")))
    if response is None and any(other in str(value["call_type"]) for other in OTHER_CALLS):
        return Skipped(line.number, NO_CALL)
    error = failure(value, object_at(value, "metadata", "error_information"))
    if response is None and not error and unpacked(value.get("response")) in (None, {}, []):
        return Skipped(line.number, NO_TEXT)
    return mapped(line, _call(value, response, error, line.mended))


def _call(value: Object, response: Object | None, error: Any, mended: bool) -> list[Fields]:
    asked = object_at(value, "proxy_server_request")
    asked = object_at(asked, "body") or asked
    name = str(value["request_id"])
    over = {"run_id": text(value, "session_id") or name, "generation_id": name} | _wrapper(value)
    under = {**texts(value, "model"), **tokens(value, "prompt_tokens", "completion_tokens")}
    found = fields(asked or None, response, over=over, under=under, error=error, mended=mended)
    request = {"request_truncated": True} if asked and CUT in to_json(asked).decode() else {}
    return [_damage(each) | request for each in found]


def _wrapper(value: Object) -> Fields:
    own = texts(value, "api_base", "model_group", "litellm_call_id")
    provider = text(value, "custom_llm_provider")
    return own | ({"provider": provider} if provider else {}) | started(moment(value.get("startTime")))


def _damage(each: Fields) -> Fields:
    """What the database cut: `truncated_arguments` are the places of calls whose arguments look malformed by it."""
    calls = each.get("tool_calls")
    cut = [place for place, call in enumerate(calls) if _is_cut(call)] if isinstance(calls, list) else []
    told = {**each, "truncated_arguments": cut} if cut else each
    channels = [each.get(channel) for channel in ("content", "reasoning")]
    if cut or any(isinstance(channel, str) and CUT in channel for channel in channels):
        return {**told, "text_fidelity": "truncated"}
    return {**told, "text_fidelity": "redacted"} if REDACTED in channels else told


def _is_cut(call: Any) -> bool:
    return CUT in to_json(call).decode()


LITELLM_SPEND_LOGS = Format(
    name="litellm-spend-logs",
    title="LiteLLM, rows of its table LiteLLM_SpendLogs (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="objects with `request_id`, `call_type` and `spend`, and `api_key` or `proxy_server_request`",
    carries="text, reasoning, arguments and tools where prompts are stored, finish reason, provider, errors, usage, "
    "time",
    lacks="the middle of every string over 2,048 characters (`truncated_arguments` names the calls that this breaks); "
    "all text unless `store_prompts_in_spend_logs` is on; retries",
    better="log with a callback (format litellm), which cuts nothing, or raise MAX_STRING_LENGTH_PROMPT_IN_DB",
    example="""\
{"request_id":"r-1","call_type":"acompletion","api_key":"hash","spend":0.0,"total_tokens":35,"prompt_tokens":30,\
"completion_tokens":5,"startTime":"2026-11-01 10:00:00.250","endTime":"2026-11-01 10:00:01","model":"m",\
"custom_llm_provider":"hosted_vllm","cache_hit":"False","session_id":"s-1","status":"success","metadata":"{}",\
"messages":"{}","response":"{\\"id\\": \\"r-1\\", \\"model\\": \\"m\\", \\"choices\\": [{\\"index\\": 0, \
\\"message\\": {\\"role\\": \\"assistant\\", \\"content\\": \\"Two files.\\"}, \\"finish_reason\\": \\"stop\\"}]}",\
"proxy_server_request":"{\\"model\\": \\"m\\", \\"messages\\": [{\\"role\\": \\"user\\", \\"content\\": \\"ls\\"}]}"}
""",
)
