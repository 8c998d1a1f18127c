"""A completion as JSON in one attribute, `gen_ai.completion`: OpenRouter's Broadcast, and raw provider bodies.

OpenRouter sends a span `LLM Generation` with `{completion, reasoning, toolCalls, rawRequest}`, and beside it one span
for each attempt at a provider, which hold no text.
"""

from typing import Any

from ingest.bodies import body_of, generations
from ingest.otlp import Object, Span
from ingest.otlp.dialects import Dialect
from ingest.otlp.parts import finish
from ingest.otlp.values import opened
from ingest.shapes.openai_message import Fields, offered

COMPLETION, PROMPT = "gen_ai.completion", "gen_ai.prompt"


def recognises(span: Span) -> bool:
    """Whether the span holds a completion in one attribute."""
    return COMPLETION in span.attributes


def replies(span: Span) -> list[Fields]:
    """The choices of a raw body, or OpenRouter's one answer."""
    completion, fidelity = _object(span.attributes[COMPLETION])
    cut = {} if fidelity == "exact" else {"text_fidelity": fidelity}
    return [reply | cut for reply in _of_body(completion) or _openrouter(completion, span.attributes)]


def _of_body(completion: Object) -> list[Fields]:
    body = body_of(completion)
    try:
        found = generations(body, None, completion) if body else []
    except ValueError:
        return []
    return [{key: reply[key] for key in reply if key not in ("generation_id", "started_at")} for reply in found]


def _openrouter(completion: Object, attributes: Object) -> list[Fields]:
    fields: Fields = {}
    if isinstance(completion.get("completion"), str):
        fields = {"content": completion["completion"], "text_fidelity": "exact"}
    if isinstance(completion.get("reasoning"), str):
        fields["reasoning"] = completion["reasoning"]
    calls = completion.get("toolCalls", completion.get("tool_calls"))
    if isinstance(calls, list):
        fields["tool_calls"] = calls
    if not fields:
        return []
    reason = finish(attributes.get("gen_ai.response.finish_reason"))
    asked = _offer(completion.get("rawRequest")) or _offer(attributes.get(PROMPT))
    return [asked | fields | reason]


def _offer(request: Any) -> Fields:
    """The tools of a request that names them; the lack of them there says nothing."""
    found, fidelity = _object(request)
    if fidelity == "truncated" or not isinstance(found.get("tools"), list):
        return {}
    choice = {"tool_choice": found["tool_choice"]} if "tool_choice" in found else {}
    return {"tools": offered(found["tools"])} | choice


def _object(value: Any) -> tuple[Object, str]:
    """An object, or JSON of one, and how true its texts are; an empty one for anything else."""
    try:
        found, fidelity = opened(value)
    except ValueError:
        return {}, "exact"
    return (found, fidelity) if isinstance(found, dict) else ({}, "exact")


WHOLE_COMPLETION = Dialect(name="whole-completion", rank=1, recognises=recognises, replies=replies)
