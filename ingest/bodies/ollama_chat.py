"""Ollama's own chat API (`/api/chat`), whole or streamed (`done` false … true); arguments are objects there."""

from typing import Any

from ingest.bodies import Body, Object, openai_chat
from ingest.shapes.chat_requests import dialect
from ingest.shapes.moments import iso
from ingest.shapes.openai_message import Fields, message_fields
from ingest.shapes.streams import error_of, named
from ingest.shapes.token_counts import counts

_GROWING = ("content", "thinking")
_COUNTS = ("prompt_eval_count", "eval_count")


def is_request(value: Object) -> bool:
    """Whether `value` is a chat request with a mark of Ollama."""
    return dialect(value) == "ollama-chat"


def is_response(value: Object) -> bool:
    """Whether `value` is a whole reply, or the last part of a streamed one."""
    return value.get("done") is True and _is_part(value)


def is_event(value: Object) -> bool:
    """Whether `value` is a part of a streamed reply."""
    return isinstance(value.get("done"), bool) and _is_part(value)


def _is_part(value: Object) -> bool:
    return isinstance(value.get("message"), dict) and isinstance(value.get("model"), str)


def stream_id(event: Object) -> str | None:
    """No part tells an id; the model tells at least those of different models apart."""
    return named(event.get("model"))


class OllamaStream:
    """One reply in the making: texts grow, calls add up, all else is as told last."""

    def __init__(self) -> None:
        self.ended = self.complete = self.told_whole = False
        self._told: Object = {}
        self._said: Object = {}
        self._pieces: dict[str, list[str]] = {}
        self._calls: list[Any] = []

    def takes(self, event: Object) -> bool:
        """All until the end."""
        return not (self.ended and "message" in event)

    def add(self, event: Object) -> None:
        """Take in one part."""
        first = self._told.get("created_at")
        self._told.update(event)
        message = self._told.pop("message", None)
        if first is not None:
            self._told["created_at"] = first
        for key, value in message.items() if isinstance(message, dict) else ():
            if key == "tool_calls" and isinstance(value, list):
                self._calls += value
            elif isinstance(value, str) and key in _GROWING:
                self._pieces.setdefault(key, []).append(value)
            else:
                self._said[key] = value
        if (error := error_of(event)) is not None:
            self._told["error"] = error
        self.ended = self.complete = event.get("done") is True or bool(self._told.get("error"))

    def whole(self) -> Object:
        """The reply so far."""
        message = {**self._said, **{key: "".join(pieces) for key, pieces in self._pieces.items()}}
        return {**self._told, "message": message | ({"tool_calls": self._calls} if self._calls else {})}


def replies(response: Object, mended: bool) -> list[Fields]:
    """The one generation of a reply."""
    fields: Fields = {"engine": "ollama", "model": response.get("model")}
    if isinstance(time := response.get("created_at"), str) and (moment := iso(time)):
        fields["started_at"] = moment
    told = {key: response[key] for key in _COUNTS if key in response}
    fields |= {"usage": counts(told, *_COUNTS)} if told else {}
    if response.get("error"):
        fields |= {"status": "error", "error": response["error"]}
    return [fields | message_fields(_chat(response["message"]), mended=mended) | _finish(response)]


def _finish(response: Object) -> Fields:
    """Older servers and whole replies may tell no reason for being done."""
    match response.get("done_reason"):
        case None:
            return {"finish_fidelity": "absent"} | ({"status": "ok"} if response.get("done") is True else {})
        case str() as reason:
            return {"finish_reason": reason, "finish_fidelity": "wire"}
        case _:
            raise ValueError("the reason for being done is no text")


def _chat(message: Object) -> Object:
    return {"reasoning" if key == "thinking" else key: value for key, value in message.items()}


def answers(response: Object) -> list[Object]:
    """The reply as a message."""
    return [_chat(response["message"])]


OLLAMA_CHAT = Body(
    name="ollama-chat",
    asks="messages",
    marks=frozenset({"done"}),
    is_request=is_request,
    is_response=is_response,
    is_event=is_event,
    stream=OllamaStream,
    stream_id=stream_id,
    replies=replies,
    offer=openai_chat.offer,
    history=openai_chat.history,
    answers=answers,
)
