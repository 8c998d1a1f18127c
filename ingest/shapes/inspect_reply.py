"""The reply of one model event of an Inspect log: its raw body where that was kept, else what Inspect parsed."""

from typing import Any

from ingest.bodies import body_of, generations
from ingest.shapes.documents import objects, part, text, told, without
from ingest.shapes.inspect_sample import Sample
from ingest.shapes.openai_message import Fields, message_fields, offered
from ingest.shapes.token_counts import counts

_ENGINES = {"vllm": "vllm", "sglang": "sglang", "ollama": "ollama", "llama-cpp-python": "llama.cpp"}
_PARSE_ERROR = "Error parsing the following tool call arguments:\n\n"
_DETAILS = "\n\nError details: "


def model(event: Fields, output: Fields) -> Fields:
    """Models, provider, engine and ids.

    `openai-api/<provider>/<model>` names a provider of its own; some providers are engines.
    """
    asked = text(event.get("model")) or ""
    provider, _, rest = asked.partition("/")
    if provider == "openai-api" and "/" in rest:
        provider = rest.partition("/")[0]
    model = text(output.get("model")) or asked
    fields = told(model=model, provider=provider if rest else None, engine=_ENGINES.get(provider))
    fields |= told(generation_id=event.get("uuid"), response_id=output.get("response_id"))
    fields |= told(model_role=event.get("role"))
    return fields | ({"requested_model": asked} if asked and asked != model else {})


def tools(event: Fields, sample: Sample) -> Fields:
    """The tools of a call, and whether they were offered."""
    if not isinstance(event.get("tools"), list):
        return {}
    given = offered(sample.resolved(event["tools"]))
    choice = event.get("tool_choice")
    fields: Fields = {"tools": given, "call_mode": "native" if given and choice != "none" else "none"}
    return fields | ({"tool_choice": choice} if choice is not None else {})


def raw(response: Any, *, mended: bool) -> list[Fields]:
    """The generations of a raw body; none where it was not kept or its API is not known."""
    body = body_of(response) if isinstance(response, dict) else None
    try:
        return generations(body, None, response, mended=mended) if body else []
    except ValueError:
        return []


def merged(raw: list[Fields], parsed: list[Fields]) -> list[Fields]:
    """The raw body, with what Inspect made of it: converted calls, and what it could not parse."""
    return [
        _with_calls(without(one, "generation_id", "started_at"), other) for one, other in zip(raw, parsed, strict=True)
    ]


def _with_calls(raw: Fields, parsed: Fields) -> Fields:
    calls, made = raw.get("tool_calls"), parsed.get("tool_calls")
    if not isinstance(made, list) or not made:
        return raw
    if not calls:
        return raw | {"tool_calls": made}
    errors = {each.get("id"): each["parse_error"] for each in made if "parse_error" in each}
    marked = [{**each, "parse_error": errors[each.get("id")]} if each.get("id") in errors else each for each in calls]
    return raw | {"tool_calls": marked}


def converted(event: Fields, raw: list[Fields], parsed: list[Fields]) -> bool:
    """Whether calls were made of text: the wire had none, or no tools went over it."""
    request = part(event, "call").get("request")
    if not raw or not isinstance(request, dict):
        return False
    made = any(other.get("tool_calls") and not one.get("tool_calls") for one, other in zip(raw, parsed, strict=False))
    chat = isinstance(request.get("messages"), list) or part(event, "call").get("call_key") == "messages"
    return made or (
        chat and "tools" not in request and part(event, "call", "response").get("object") == "chat.completion"
    )


def choice(choice: Fields, output: Fields, *, mended: bool = False) -> Fields:
    """A choice as Inspect parsed it."""
    fields = message_fields(_message(part(choice, "message")), mended=mended)
    if isinstance(choice.get("stop_reason"), str):
        fields |= {"finish_reason": choice["stop_reason"], "finish_fidelity": "mapped"}
    else:
        fields["finish_fidelity"] = "absent"
    return fields | (
        {"usage": counts(output["usage"], "prompt_tokens", "completion_tokens")}
        if isinstance(output.get("usage"), dict)
        else {}
    )


def _message(message: Fields) -> Fields:
    """Its parts apart: text, reasoning, calls, and whatever else."""
    fields: Fields = {"content": message["content"]} if "content" in message else {}
    parts = fields.get("content")
    reasons = [text(message.get("reasoning"))]
    if isinstance(parts, list):
        fields["content"] = [
            each
            for each in parts
            if part(
                each,
            ).get("type")
            != "reasoning"
        ]
        shown = [each for each in objects(parts) if each.get("type") == "reasoning" and not each.get("redacted")]
        reasons += [text(each.get("reasoning")) for each in shown]
    fields |= {"reasoning": "\n".join(filter(None, reasons))} if any(reasons) else {}
    calls = message.get("tool_calls")
    return fields | ({"tool_calls": [_call(each) for each in calls]} if isinstance(calls, list) else {})


def _call(call: Any) -> Any:
    """Arguments that could not be parsed stand as `{}` beside the error, which quotes them."""
    if not isinstance(call, dict):
        return call
    fields = {key: value for key, value in call.items() if key in ("id", "arguments", "type", "parse_error")}
    fields = {key: value for key, value in fields.items() if value is not None}
    error = fields.get("parse_error")
    if error and fields.get("arguments") == {}:
        del fields["arguments"]
        if isinstance(error, str) and error.startswith(_PARSE_ERROR) and _DETAILS in error:
            fields["arguments"] = error[len(_PARSE_ERROR) :].rpartition(_DETAILS)[0]
    return {**fields, "name": part(call, "function").get("name") or call.get("function")}
