"""LangSmith's runs, as its API, its SDKs and its bulk export give them.

Source: langsmith 0.15.1, a recorded file, and docs.langchain.com "run data format". Only runs of type `llm` are
responses of a model; a run is posted when it starts and patched when it ends. `extra.metadata` may hold LANGSMITH_*
variables of the environment: nothing of it is kept.
"""

from collections.abc import Sequence
from typing import Any

from ingest.bodies import Object
from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, unpacked
from ingest.shapes.parts import Nesting
from ingest.shapes.traced import Traced
from ingest.shapes.wrapped import (
    NESTED,
    NO_CALL,
    NO_TEXT,
    fields,
    mapped,
    object_at,
    part,
    response_of,
    started,
    text,
    text_response,
    tokens,
)

THREAD_KEYS = ("session_id", "thread_id", "conversation_id")
"""Metadata that LangSmith groups the traces of a conversation by."""
_OWN = ("run_type", "dotted_order", "parent_run_id", "child_run_ids", "trace_id")
_OFFER = ("tools", "functions", "tool_choice", "function_call")


def recognises(value: Any) -> bool:
    """Whether `value` is a run, or the end of one."""
    if not isinstance(value, dict) or "id" not in value:
        return False
    return "dotted_order" in value or (sum(key in value for key in _OWN) > 1 and "run_type" in value)


def sniff(values: Sequence[Any]) -> float:
    """The share of runs."""
    return part(values, recognises, "runs")


def _ended(run: Object) -> bool:
    return "run_type" in run and bool(run.get("outputs") or run.get("error"))


def _item(line: Line, models: Nesting) -> Item:
    run: Object = line.value
    if run.get("run_type") != "llm":
        return Skipped(line.number, NO_CALL)
    names = run.get("id"), [run.get("parent_run_id")]
    if models.told_twice(*names):
        return Skipped(line.number, NESTED)
    try:
        item = _call(line, run)
    except ValueError as fault:
        return quarantined(line, str(fault))
    if isinstance(item, Mapped):
        models.tell(*names)
    return item


def _call(line: Line, run: Object) -> Item:
    outputs = unpacked(run.get("outputs"))
    response = response_of(outputs)
    if response is None and (said := _text(outputs)) is not None:
        response = text_response(said)
    error = run.get("error")
    if response is None and not error and not outputs:
        return Skipped(line.number, NO_TEXT)
    over = {"run_id": _run_id(run)} | started(moment(run.get("start_time")))
    if isinstance(run.get("id"), str):
        over["generation_id"] = run["id"]
    told = object_at(run, "extra", "metadata")
    provider = text(told, "ls_provider")
    over |= {"provider": provider} if provider else {}
    under = _usage(run, told, outputs) | ({"model": told["ls_model_name"]} if text(told, "ls_model_name") else {})
    return mapped(
        line, fields(_request(run), response, over=over, under=under, error=_error(error), mended=line.mended)
    )


def _text(outputs: Any) -> str | None:
    """The text of a run that a function traced by hand returned."""
    return text(outputs, "output", "completion", "content") if isinstance(outputs, dict) else None


def _error(error: Any) -> Any:
    return error[:2000] if isinstance(error, str) else error


def _run_id(run: Object) -> str:
    thread = text(object_at(run, "extra", "metadata"), *THREAD_KEYS)
    return thread or text(run, "trace_id", "id") or "unnamed"


def _request(run: Object) -> Object | None:
    """What the wrapper of a client was given; of LangChain's runs only what `invocation_params` say is needed."""
    inputs = object_at(run, "inputs")
    invoked = object_at(run, "extra", "invocation_params")
    if invoked:
        model = text(invoked, "model", "model_name")
        asked = {key: invoked[key] for key in _OFFER if key in invoked} | ({"model": model} if model else {})
        return {"messages": [], **asked}
    nested = object_at(inputs, "kwargs")
    asked = nested if "messages" in nested else inputs
    serialised = isinstance(asked.get("messages"), list) and any(map(_is_langchain, asked["messages"]))
    return None if serialised else asked or None


def _is_langchain(message: Any) -> bool:
    return isinstance(message, list) or (isinstance(message, dict) and "lc" in message)


def _usage(run: Object, told: Object, outputs: Any) -> Fields:
    for counts in (outputs.get("usage_metadata") if isinstance(outputs, dict) else None, told.get("usage_metadata")):
        if found := tokens(counts, "input_tokens", "output_tokens"):
            return found
    return tokens(run, "prompt_tokens", "completion_tokens")


_TRACED = Traced(
    within="runs",
    recognises=recognises,
    foreign="no run of LangSmith: run_type or dotted_order is missing",
    ended=_ended,
    item=_item,
)
LANGSMITH = Format(
    name="langsmith",
    title="LangSmith, runs (JSON Lines)",
    sniff=sniff,
    read=_TRACED.read,
    recognised="objects with an `id` and `dotted_order`, or `run_type` beside `trace_id` or `parent_run_id`; also a "
    "list of them, or one under `runs`",
    carries="exact text, reasoning, raw arguments where the client's wrapper or LangChain kept them, "
    "`invalid_tool_calls`, tools, finish reason, models, provider, usage, time, errors, thread or trace",
    lacks="host; attempts; the response's own reasoning where LangChain drops it; runs nested in a later line",
    better="wrap the client itself (`wrap_openai`), and set `session_id` in the metadata",
    example="""\
{"id":"a1","trace_id":"a1","dotted_order":"20261101T100000000000Za1","name":"agent","run_type":"chain",\
"inputs":{"q":"ls"},"outputs":{"output":"Two files."},"start_time":"2026-11-01T10:00:00+00:00"}
{"id":"a2","trace_id":"a1","dotted_order":"20261101T100000000000Za1.20261101T100001000000Za2","parent_run_id":"a1",\
"name":"ChatOpenAI","run_type":"llm","start_time":"2026-11-01T10:00:01+00:00","extra":{"metadata":{"ls_provider":\
"openai","ls_model_name":"m"}},"inputs":{"model":"m","messages":[{"role":"user","content":"ls"}],"tools":[{"type":\
"function","function":{"name":"ls"}}]},"outputs":{"id":"r1","model":"m-1","choices":[{"index":0,"finish_reason":\
"stop","message":{"role":"assistant","content":"Two files."}}],"usage_metadata":{"input_tokens":9,"output_tokens":3}}}
""",
)
