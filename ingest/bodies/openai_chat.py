"""Chat completions, the API of OpenAI that engines and gateways speak (`choices`, `messages`).

Every choice of a response is a generation; the history in a request is not. Sampling parameters and log
probabilities are left behind.
"""

from collections.abc import Sequence
from typing import Any

from ingest.bodies import Body, Object
from ingest.fingerprint import engine
from ingest.moments import seconds
from ingest.openai_message import Fields, kept, message_fields, offered

_COUNTS = (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
_CHOICE_MAPPED = {"index", "message", "finish_reason", "logprobs"}
_TEXTS = {"id": "generation_id", "model": "model", "provider": "provider", "system_fingerprint": "system_fingerprint"}


def is_request(value: Object) -> bool:
    """Whether `value` is a chat request."""
    return isinstance(value.get("messages"), list)


def is_response(value: Object) -> bool:
    """Whether `value` is a whole chat completion, no chunk of a streamed one."""
    choices = value.get("choices")
    if not isinstance(choices, list):
        return False
    if not choices:
        return value.get("object") == "chat.completion"
    return all(isinstance(choice, dict) and isinstance(choice.get("message"), dict) for choice in choices)


def is_event(value: Object) -> bool:
    """Whether `value` is a part of a streamed completion."""
    choices = value.get("choices")
    deltas = isinstance(choices, list) and any(isinstance(choice, dict) and "delta" in choice for choice in choices)
    return deltas or value.get("object") == "chat.completion.chunk"


def assemble(events: Sequence[Object]) -> list[Object]:
    """Whole completions of chunks."""
    raise NotImplementedError


def replies(response: Object, mended: bool) -> list[Fields]:
    """One generation a choice."""
    whole = _whole(response)
    return [
        whole | message_fields(choice["message"], mended=mended) | _choice_fields(choice)
        for choice in response["choices"]
    ]


def _whole(response: Object) -> Fields:
    fields: Fields = {ours: response[key] for key, ours in _TEXTS.items() if isinstance(response.get(key), str)}
    fields |= engine(fields.get("system_fingerprint", ""))
    if created := seconds(response.get("created")):
        fields["started_at"] = created
    if "usage" in response:
        fields["usage"] = usage(response["usage"])
    return fields | ({"error": response["error"]} if response.get("error") else {})


def _choice_fields(choice: Object) -> Fields:
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


def usage(counts: Any) -> Any:
    """OpenAI's counts under our names; one that is no count stays under its own."""
    if not isinstance(counts, dict):
        return counts
    names = {theirs: ours for theirs, ours in _COUNTS if _is_count(counts.get(theirs))}
    taken = {ours for _, ours in _COUNTS}
    return {names.get(key, key): value for key, value in counts.items() if key not in taken}


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def offer(request: Object) -> Fields:
    """Tools and call mode: a request without tools offered none."""
    key = next((key for key in ("tools", "functions") if key in request), "tools")
    tools = offered(request.get(key, []))
    fields: Fields = {"tools": tools, "call_mode": "native" if tools else "none"}
    choice_key = "function_call" if key == "functions" else "tool_choice"
    if choice_key in request:
        fields["tool_choice"] = request[choice_key]
        if fields["tool_choice"] == "none":
            fields["call_mode"] = "none"
    return fields | ({"model": request["model"]} if isinstance(request.get("model"), str) else {})


def history(request: Object) -> list[Object]:
    """The messages of a request."""
    messages: list[Object] = request["messages"]
    if not all(isinstance(message, dict) for message in messages):
        raise ValueError("messages holds something other than objects")
    return messages


def answers(response: Object) -> list[Object]:
    """The messages of a response."""
    return [choice["message"] for choice in response["choices"]]


OPENAI_CHAT = Body(
    name="openai-chat",
    is_request=is_request,
    is_response=is_response,
    is_event=is_event,
    assemble=assemble,
    replies=replies,
    offer=offer,
    history=history,
    answers=answers,
)
