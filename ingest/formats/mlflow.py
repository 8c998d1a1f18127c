"""MLflow's traces: `traces.json` of its file store, and `Trace.to_json()`, one document or one a line.

Source: mlflow-skinny 3.17.2 and a recorded file. Every attribute of a span is JSON in a string. The previews in a
trace's info are cut and never read.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic_core import from_json

from ingest.bodies import Object
from ingest.formats import Format, Item, Line, Skipped, quarantined
from ingest.shapes.openai_message import Fields
from ingest.shapes.wrapped import (
    NESTED,
    NO_CALL,
    NO_TEXT,
    fields,
    mapped,
    nanoseconds,
    object_at,
    part,
    response_of,
    spread,
    started,
    text,
    text_response,
    tokens,
)

MODELS = ("CHAT_MODEL", "LLM")
_NAMES = ("mlflow.spanType", "mlflow.spanInputs", "mlflow.traceRequestId")
_WANTED = (
    *_NAMES, "mlflow.spanOutputs", "mlflow.chat.tools", "mlflow.llm.model", "mlflow.llm.provider",
    "mlflow.chat.tokenUsage",
)  # fmt: skip


def recognises(value: Any) -> bool:
    """Whether `value` is a trace with spans of MLflow."""
    spans = _spans(value)
    return bool(spans) and any(_is_span(span) for span in spans[:50])


def _is_span(span: Any) -> bool:
    return isinstance(span, dict) and any(name in object_at(span, "attributes") for name in _NAMES)


def _spans(value: Any) -> list[Any]:
    """The spans of a trace, by themselves or beside its info."""
    for place in (value, value.get("data") if isinstance(value, dict) else None):
        if isinstance(place, dict) and isinstance(place.get("spans"), list):
            return list(place["spans"])
    return []


def sniff(values: Sequence[Any]) -> float:
    """The share of traces."""
    return part(values, recognises, "traces")


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """Every span of every trace."""
    for line in spread(iter(lines), "traces"):
        spans = _spans(line.value)
        if not spans:
            yield quarantined(line, "no trace of MLflow: it has no spans")
        told = [_attributes(span) for span in spans]
        models = {str(span.get("span_id")) for span, each in zip(spans, told, strict=True) if _is_model(each)}
        info = object_at(line.value, "info")
        for span, attributes in zip(spans, told, strict=True):
            yield _item(replace(line, value=span), attributes, models, info)


def _attributes(span: Any) -> Object:
    """The attributes that are read, decoded."""
    told = object_at(span, "attributes")
    return {name: _decoded(told[name]) for name in _WANTED if name in told}


def _decoded(value: Any) -> Any:
    """An attribute; one that holds no JSON is its own text."""
    try:
        return from_json(value, allow_inf_nan=False) if isinstance(value, str) else value
    except ValueError:
        return value


def _is_model(attributes: Object) -> bool:
    return attributes.get("mlflow.spanType") in MODELS


def _item(line: Line, attributes: Object, models: set[str], info: Object) -> Item:
    span: Any = line.value
    if not isinstance(span, dict):
        return quarantined(line, "a span that is no object")
    if not _is_model(attributes):
        return Skipped(line.number, NO_CALL)
    if span.get("parent_span_id") and str(span["parent_span_id"]) in models:
        return Skipped(line.number, NESTED)
    try:
        return _call(line, attributes, info)
    except ValueError as fault:
        return quarantined(line, str(fault))


def _call(line: Line, attributes: Object, info: Object) -> Item:
    output = attributes.get("mlflow.spanOutputs")
    response = text_response(output) if isinstance(output, str) and output else response_of(output)
    error = _error(line.value)
    if response is None and not error and not output:
        return Skipped(line.number, NO_TEXT)
    over = _over(line.value, attributes, info)
    asked, under = _request(attributes), _under(attributes)
    return mapped(line, fields(asked, response, over=over, under=under, error=error, mended=line.mended))


def _request(attributes: Object) -> Object | None:
    """The inputs, and the tools that MLflow keeps beside them."""
    asked = object_at(attributes, "mlflow.spanInputs")
    tools = attributes.get("mlflow.chat.tools")
    if isinstance(tools, list) and "tools" not in asked:
        return {**asked, "messages": asked.get("messages", []), "tools": tools}
    nested = isinstance(asked.get("messages"), list) and any(isinstance(each, list) for each in asked["messages"])
    return None if nested else asked or None


def _error(span: Object) -> Any:
    status = object_at(span, "status")
    if "ERROR" not in str(status.get("code") or span.get("status_code")):
        return None
    return (text(status, "message") or text(span, "status_message") or "error")[:2000]


def _over(span: Object, attributes: Object, info: Object) -> Fields:
    trace = text(attributes, "mlflow.traceRequestId") or text(info, "trace_id", "request_id") or text(span, "trace_id")
    beside = object_at(info, "trace_metadata") or object_at(info, "request_metadata")
    over: Fields = {"run_id": text(beside, "mlflow.trace.session") or trace or "unnamed"}
    if name := text(span, "span_id"):
        over["generation_id"] = f"{trace}:{name}"
    if provider := text(attributes, "mlflow.llm.provider"):
        over["provider"] = provider
    return over | started(nanoseconds(span.get("start_time_unix_nano", span.get("start_time"))))


def _under(attributes: Object) -> Fields:
    model = text(attributes, "mlflow.llm.model")
    usage = tokens(attributes.get("mlflow.chat.tokenUsage"), "input_tokens", "output_tokens")
    return usage | ({"model": model} if model else {})


MLFLOW = Format(
    name="mlflow",
    title="MLflow, traces (JSON, or one a line)",
    sniff=sniff,
    read=read,
    recognised="`spans`, by themselves or under `data`, whose attributes are named `mlflow.*`; also a list of traces",
    carries="exact text, reasoning, raw arguments, tools, finish reason, models, usage, time, errors, session or "
    "trace, engine by fingerprint",
    lacks="host; retries; whatever the traced library did not return",
    better="log with autolog for the client itself; take traces.json, not the previews of trace_info.yaml",
    example="""\
{"spans":[{"trace_id":"dA==","span_id":"cw==","parent_span_id":null,"name":"Completions",\
"start_time_unix_nano":1796000000500000000,"status":{"code":"STATUS_CODE_OK","message":""},"attributes":{\
"mlflow.traceRequestId":"\\"tr-1\\"","mlflow.spanType":"\\"CHAT_MODEL\\"",\
"mlflow.spanInputs":"{\\"model\\": \\"m\\", \\"messages\\": [{\\"role\\": \\"user\\", \\"content\\": \\"ls\\"}]}",\
"mlflow.spanOutputs":"{\\"id\\": \\"r1\\", \\"model\\": \\"m-1\\", \\"choices\\": [{\\"index\\": 0, \
\\"finish_reason\\": \\"stop\\", \\"message\\": {\\"role\\": \\"assistant\\", \\"content\\": \\"Two files.\\"}}]}"}}]}
""",
)
