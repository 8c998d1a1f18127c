"""Chat completions, the API of OpenAI that engines and gateways speak (`choices`, `messages`).

Every choice of a response is a generation; the history in a request is not. Sampling parameters and log
probabilities are left behind.
"""

from datetime import UTC, datetime
from typing import Any

from ingest.bodies import Body, Object
from ingest.shapes.chat_requests import dialect
from ingest.shapes.chat_stream import ChatStream
from ingest.shapes.fingerprint import engine
from ingest.shapes.moments import seconds
from ingest.shapes.openai_message import REASONING, Fields, kept, message_fields, offered
from ingest.shapes.streams import named
from ingest.shapes.token_counts import counts

_FIRST = datetime(2020, 1, 1, tzinfo=UTC)
"""No completion was made before: an earlier time is one in another unit, as Qwen Code's log has it."""
_CHOICE_MAPPED = {"index", "message", "finish_reason", "logprobs"}
_TEXTS = {"id": "generation_id", "model": "model", "provider": "provider", "system_fingerprint": "system_fingerprint"}


def is_request(value: Object) -> bool:
    """Whether `value` is a chat request, with no mark of another API."""
    return dialect(value) == "openai-chat"


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


def stream_id(event: Object) -> str | None:
    """The id that every chunk tells."""
    return named(event.get("id"))


def replies(response: Object, mended: bool) -> list[Fields]:
    """One generation a choice."""
    whole = _whole(response)
    choices = response["choices"]
    raw = _verbose(response.get("__verbose")) if len(choices) == 1 else {}
    return [whole | raw | _message(choice["message"], mended) | _choice_fields(choice) for choice in choices]


def _message(message: Object, mended: bool) -> Fields:
    """Reasoning that stands in OpenRouter's details alone is taken from there."""
    fields = message_fields(message, mended=mended)
    details = message.get("reasoning_details")
    if isinstance(details, list) and not any(message.get(key) for key in REASONING):
        texts = [text for each in details if isinstance(each, dict) and isinstance(text := each.get("text"), str)]
        fields |= {"reasoning": "".join(texts)} if texts else {}
    return fields


def _verbose(told: Any) -> Fields:
    """What llama.cpp tells with `-v`: the text before its parser, and which parser that was."""
    if not isinstance(told, dict):
        return {}
    settings = told.get("generation_settings")
    parser = settings.get("chat_format") if isinstance(settings, dict) else None
    fields: Fields = {"raw_text": told["content"]} if isinstance(told.get("content"), str) else {}
    return fields | ({"chat_format": parser} if isinstance(parser, str) else {})


def _whole(response: Object) -> Fields:
    fields: Fields = {ours: response[key] for key, ours in _TEXTS.items() if isinstance(response.get(key), str)}
    fields |= engine(fields.get("system_fingerprint", ""))
    if (created := seconds(response.get("created"))) and created >= _FIRST:
        fields["started_at"] = created
    if "usage" in response:
        fields["usage"] = counts(response["usage"], "prompt_tokens", "completion_tokens")
    return fields | ({"error": response["error"], "status": "error"} if response.get("error") else {})


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
    asks="messages",
    marks=frozenset({"choices", "object"}),
    is_request=is_request,
    is_response=is_response,
    is_event=is_event,
    stream=ChatStream,
    stream_id=stream_id,
    replies=replies,
    offer=offer,
    history=history,
    answers=answers,
)
