"""Results of K2 Vendor Verifier (`results.jsonl`): one request to a vendor and its response a line.

It puts streams together itself and writes `finish_reason or "stop"`, so that a stream that was cut says "stop"
(`tool_calls_eval.py`@0bc5061). With `--use_raw_completions` it takes the calls out of the text and leaves them there.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import body_of, generations
from ingest.bodies.openai_chat import offer
from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.documents import Items, part, started, without
from ingest.shapes.openai_message import Fields

_SECTION = "<|tool_calls_section_begin|>"


def recognises(value: Any) -> bool:
    """Whether `value` is a result."""
    return isinstance(value, dict) and value.keys() >= {"data_index", "request", "response", "hash"}


def sniff(values: Sequence[Any]) -> float:
    """The share of results."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response a line."""
    items = Items()
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no result of K2 Vendor Verifier")
            continue
        try:
            found = _generations(line.value, mended=line.mended)
        except ValueError as fault:
            yield quarantined(line, str(fault))
            continue
        if not found:
            yield Skipped(line.number, "a response without choices")
        for fields in found:
            yield items.of(line, fields)


def _generations(value: Fields, *, mended: bool) -> list[Fields]:
    request, response = part(value, "request"), part(value, "response")
    whole: Fields = {"run_id": f"{value['data_index']}:{value['hash']}", "client": "k2-vendor-verifier"}
    whole |= {key: value[key] for key in ("tool_calls_valid", "duration_ms") if value.get(key) is not None}
    ran = started(value.get("last_run_at"))
    body = body_of(response)
    if body is None or value.get("status") == "failed":
        failed = {"content": None, "status": "error", "finish_fidelity": "absent"}
        return [offer(request) | whole | ran | failed | {"error": response.get("error", value["response"])}]
    replies = generations(body, request, response, mended=mended)
    raw = "messages" not in request and isinstance(request.get("prompt"), str)
    return [_told(whole, ran, fields, streamed=bool(request.get("stream")), raw=raw) for fields in replies]


def _told(whole: Fields, ran: Fields, fields: Fields, *, streamed: bool, raw: bool) -> Fields:
    """What the verifier changed of a response, and when it came: the response's own time is in UTC."""
    both = whole | fields | (ran if "started_at" not in fields else {})
    both = without(both, "usage") if both.get("usage", {}) is None else both
    if streamed and both.get("text_fidelity") == "exact":
        both["text_fidelity"] = "rebuilt"
    if raw or (both.get("tool_calls") and _SECTION in (both.get("content") or "")):
        return both | {"call_mode": "text", "finish_fidelity": "mapped"}
    return both | ({"finish_fidelity": "inferred"} if streamed and both.get("finish_reason") == "stop" else {})


K2_VENDOR_VERIFIER = Format(
    name="k2-vendor-verifier",
    title="results of K2 Vendor Verifier (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="`data_index` and `hash` beside `request` and `response`",
    carries="text, reasoning, raw arguments, tools, requested model, time, errors; finish reason unless it is `stop`",
    lacks="the finish reason of streams that were cut, responded model, engine, usage, reasoning under the key "
    "`reasoning`",
    better="log the vendor's responses in a proxy beside it",
    example="""\
{"data_index":1,"request":{"model":"k2","messages":[{"role":"user","content":"list the files"}],"tools":[{"type":\
"function","function":{"name":"bash","parameters":{"type":"object"}}}],"stream":true},"extra_body":{},"response":{"id":\
"c1","object":"chat.completion","created":1796000000,"model":"k2","choices":[{"index":0,"message":{"role":"assistant",\
"content":"I cannot.","tool_calls":null},"finish_reason":"stop"}],"usage":null},"status":"success","finish_reason":\
"stop","tool_calls_valid":null,"last_run_at":"2026-11-01T10:00:00.000001","duration_ms":812,"hash":"0a"}
""",
)
