"""Rows of the table `responses` in the logs.db of Simon Willison's `llm`, and what `llm logs --json` prints.

Source: llm's documentation of its logs. `response` is the text; `response_json` is the provider's body, of a streamed
one only a summary. The tools offered stand in tables of their own, which `llm logs --json` joins.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import Object, body_of
from ingest.formats import Format, Item, Line, Skipped, quarantined
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields, unpacked
from ingest.shapes.wrapped import (
    NO_TEXT,
    fields,
    mapped,
    part,
    spread,
    started,
    text,
    text_response,
    tokens,
    without_tools,
)


def recognises(value: Any) -> bool:
    """Whether `value` is a row of responses."""
    return isinstance(value, dict) and {"prompt_json", "response_json", "conversation_id"} <= value.keys()


def sniff(values: Sequence[Any]) -> float:
    """The share of rows."""
    return part(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response a row."""
    for line in spread(iter(lines)):
        try:
            yield _item(line)
        except ValueError as fault:
            yield quarantined(line, str(fault))


def _item(line: Line) -> Item:
    if not recognises(line.value):
        return quarantined(line, "no response of llm: prompt_json, response_json and conversation_id are missing")
    row: Object = line.value
    body = unpacked(row.get("response_json"))
    response = body if isinstance(body, dict) and body_of(body) is not None else _rebuilt(row, body)
    if response is None:
        return Skipped(line.number, NO_TEXT)
    asked = unpacked(row.get("prompt_json"))
    tools = row.get("tools")
    request = {**asked, **({"tools": tools} if isinstance(tools, list) else {})} if isinstance(asked, dict) else None
    found = fields(request, response, over=_over(row), under=_under(row), mended=line.mended)
    known = request is not None and ("tools" in request or "functions" in request)
    return mapped(line, found if known else [without_tools(each) for each in found])


def _rebuilt(row: Object, summary: Any) -> Object | None:
    """The text of the row, with the calls beside it and what the summary of a stream tells."""
    said = row.get("response")
    calls = [_call(call) for call in row.get("tool_calls") or [] if isinstance(call, dict)]
    if not isinstance(said, str) or not (said or calls):
        return None
    response = text_response(said)
    choice = response["choices"][0]
    choice["message"] |= {"tool_calls": calls} if calls else {}
    if isinstance(summary, dict):
        choice |= {key: summary[key] for key in ("finish_reason",) if key in summary}
        response |= {key: summary[key] for key in ("id", "model", "created", "usage") if key in summary}
    return response


def _call(call: Object) -> Object:
    named = {"id": call["tool_call_id"]} if isinstance(call.get("tool_call_id"), str) else {}
    return named | {key: call[key] for key in ("name", "arguments") if key in call}


def _over(row: Object) -> Fields:
    over: Fields = {"run_id": text(row, "conversation_id", "id") or "unnamed", "client": "llm"}
    over |= started(moment(row.get("datetime_utc")))
    return over | ({"generation_id": row["id"]} if text(row, "id") else {})


def _under(row: Object) -> Fields:
    model = text(row, "resolved_model", "model")
    return tokens(row, "input_tokens", "output_tokens") | ({"model": model} if model else {})


SIMONW_LLM = Format(
    name="simonw-llm",
    title="llm (Simon Willison), rows of its responses (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="objects with `prompt_json`, `response_json` and `conversation_id`; also a list of them",
    carries="exact text, models, usage, time, conversation; reasoning, calls and finish reason where the provider's "
    "body is whole",
    lacks="tools in the table's own rows; host; retries; errors",
    better="export with `llm logs --json`, which adds tools and calls",
    example="""\
{"id":"01","model":"m","prompt":"ls","system":null,"prompt_json":{"messages":[{"role":"user","content":"ls"}]},\
"options_json":{},"response":"Two files.","response_json":{"content":"Two files.","finish_reason":"stop","id":"r1"},\
"conversation_id":"c1","duration_ms":40,"datetime_utc":"2026-11-01T10:00:00.5","input_tokens":9,"output_tokens":3}
""",
)
