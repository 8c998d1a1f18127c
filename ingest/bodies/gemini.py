"""Google's generateContent of the Gemini API and Vertex AI, in the spelling of the wire or of the Python SDK.

Streams have no events of their own: every chunk is a small response, the last one with a finish reason.
"""

from typing import Any

from ingest.bodies import Body, Object
from ingest.shapes.gemini_parts import messages_of, part_fields, parts_of, told
from ingest.shapes.moments import iso
from ingest.shapes.openai_message import Fields
from ingest.shapes.streams import error_of, named
from ingest.shapes.token_counts import counts

_TEXTS = {"responseId": "generation_id", "modelVersion": "model"}


def is_request(value: Object) -> bool:
    """Whether `value` is a request."""
    contents = value.get("contents")
    if isinstance(contents, list):
        return all(isinstance(content, dict) for content in contents)
    return isinstance(contents, dict) and "parts" in contents


def is_response(value: Object) -> bool:
    """Whether `value` is a whole response, or the last chunk of a streamed one."""
    candidates = _candidates(value)
    if not candidates:
        feedback = told(value, "promptFeedback")
        return isinstance(feedback, dict) and told(feedback, "blockReason") is not None
    return all(told(candidate, "finishReason") for candidate in candidates)


def is_event(value: Object) -> bool:
    """Whether `value` is a chunk of a streamed response."""
    return bool(_candidates(value))


def _candidates(value: Object) -> list[Object]:
    """The candidates; none if any is something else."""
    candidates = value.get("candidates")
    ours = isinstance(candidates, list) and all(isinstance(each, dict) and _is_ours(each) for each in candidates)
    return candidates if ours and candidates else []


def _is_ours(candidate: Object) -> bool:
    content = candidate.get("content")
    return (isinstance(content, dict) and (not content or "parts" in content or "role" in content)) or (
        content is None and isinstance(told(candidate, "finishReason"), str)
    )


def stream_id(event: Object) -> str | None:
    """The id that newer chunks tell."""
    return named(told(event, "responseId"))


class CandidateStream:
    """One response in the making: parts follow each other, all else is as told last."""

    def __init__(self) -> None:
        self.ended = self.complete = self.told_whole = False
        self._told: Object = {}
        self._candidates: dict[int, Object] = {}

    def takes(self, event: Object) -> bool:
        """All until the end, counts after it."""
        return not self.ended or not _candidates(event)

    def add(self, event: Object) -> None:
        """Take in one chunk."""
        self._told |= {key: value for key, value in event.items() if key != "candidates" and value is not None}
        for candidate in _candidates(event):
            index = candidate.get("index")
            self._extend(index if isinstance(index, int) else 0, candidate)
        finished = (told(candidate, "finishReason") for candidate in self._candidates.values())
        self.ended = bool(self._candidates) and all(finished)
        if (error := error_of(event)) is not None:
            self._told["error"] = error
            self.ended = self.complete = True

    def _extend(self, index: int, candidate: Object) -> None:
        ours = self._candidates.setdefault(index, {"content": {"role": "model", "parts": []}})
        ours |= {key: value for key, value in candidate.items() if key != "content" and value is not None}
        ours["content"]["parts"] += parts_of(candidate)

    def whole(self) -> Object:
        """The response so far."""
        return {**self._told, "candidates": [self._candidates[index] for index in sorted(self._candidates)]}


def replies(response: Object, mended: bool) -> list[Fields]:
    """One generation a candidate; one without output where the prompt was refused."""
    whole: Fields = {ours: value for key, ours in _TEXTS.items() if isinstance(value := told(response, key), str)}
    if isinstance(time := told(response, "createTime"), str) and (moment := iso(time)):
        whole["started_at"] = moment
    if usage := told(response, "usageMetadata"):
        whole["usage"] = _usage(usage)
    if response.get("error"):
        whole |= {"status": "error", "error": response["error"]}
    candidates = _candidates(response)
    if not candidates and (feedback := told(response, "promptFeedback")):
        return [whole | {"content": None, "status": "error", "finish_fidelity": "absent", "error": feedback}]
    return [whole | part_fields(parts_of(each), mended=mended) | _finish(each) for each in candidates]


def _usage(usage: Any) -> Any:
    spelled = "promptTokenCount" if isinstance(usage, dict) and "promptTokenCount" in usage else "prompt_token_count"
    output = "candidatesTokenCount" if spelled == "promptTokenCount" else "candidates_token_count"
    return counts(usage, spelled, output)


def _finish(candidate: Object) -> Fields:
    """The reason as it came: MALFORMED_FUNCTION_CALL and its like tell of lost calls, their message too."""
    reason, message = told(candidate, "finishReason"), told(candidate, "finishMessage")
    fields: Fields = {"finish_message": message} if isinstance(message, str) else {}
    if reason is None:
        return fields | {"finish_fidelity": "absent"}
    if not isinstance(reason, str):
        raise ValueError("the finish reason is no text")
    return fields | {"finish_reason": reason, "finish_fidelity": "wire"}


def offer(request: Object) -> Fields:
    """Tools and call mode: a request without tools offered none. The model mostly stands in the address."""
    config = request.get("config")
    places = [request, config] if isinstance(config, dict) else [request]
    tools: Any = next((place["tools"] for place in places if place.get("tools") is not None), [])
    offered = _tools(tools)
    fields: Fields = {"tools": offered, "call_mode": "native" if offered else "none"}
    choice = next((value for place in places if isinstance(value := told(place, "toolConfig"), dict)), None)
    if choice is not None:
        fields["tool_choice"] = choice
        calling = told(choice, "functionCallingConfig")
        if isinstance(calling, dict) and calling.get("mode") == "NONE":
            fields["call_mode"] = "none"
    return fields | ({"model": request["model"]} if isinstance(request.get("model"), str) else {})


def _tools(tools: Any) -> list[Any]:
    if not isinstance(tools, list):
        raise ValueError("tools is not a list")
    return [tool for group in tools for tool in _declared(group)]


def _declared(group: Any) -> list[Any]:
    """The functions of a group; a tool of Google's own goes by its key."""
    if not isinstance(group, dict):
        raise ValueError("tools holds something other than objects")
    functions = told(group, "functionDeclarations")
    own = [key for key, value in group.items() if isinstance(value, dict)]
    return [*map(_function, functions if isinstance(functions, list) else []), *({"name": key} for key in own)]


def _function(function: Any) -> Any:
    if not isinstance(function, dict) or not isinstance(schema := told(function, "parametersJsonSchema"), dict):
        return function
    return {**function, "parameters": schema}


def history(request: Object) -> list[Object]:
    """The contents as messages, the system instruction first."""
    contents = request["contents"]
    contents = contents if isinstance(contents, list) else [contents]
    system = told(request, "systemInstruction")
    first = [{"role": "system", "content": system}] if system else []
    return [*first, *(message for content in contents for message in messages_of(content))]


def answers(response: Object) -> list[Object]:
    """The candidates as messages."""
    return [
        message
        for candidate in _candidates(response)
        for message in messages_of({"role": "model", "parts": parts_of(candidate)})
    ]


GEMINI = Body(
    name="gemini",
    asks="contents",
    marks=frozenset({"candidates", "promptFeedback", "prompt_feedback"}),
    is_request=is_request,
    is_response=is_response,
    is_event=is_event,
    stream=CandidateStream,
    stream_id=stream_id,
    replies=replies,
    offer=offer,
    history=history,
    answers=answers,
)
