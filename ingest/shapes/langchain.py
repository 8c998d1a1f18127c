"""LangChain's messages, serialised (`{lc, type, id, kwargs}`) or plain, as chat completions.

Raw calls stand in `additional_kwargs`; `tool_calls` are parsed, and what could not be parsed is in
`invalid_tool_calls`, which LangChain itself so labels (langchain-core 0.3 to 1.x).
"""

from collections.abc import Iterator
from typing import Any

Object = dict[str, Any]

_COUNTS = (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens"))


def completion(outputs: Object) -> Iterator[Object]:
    """The response that `{"generations": [[…]]}` tells; nothing if it is none."""
    batches = outputs.get("generations")
    if not isinstance(batches, list):
        return
    made = [each for batch in batches for each in (batch if isinstance(batch, list) else [batch])]
    if made and all(isinstance(each, dict) for each in made):
        yield {**_whole(_said(made[0])), "choices": [_choice(each) for each in made]}


def _said(generation: Object) -> Object:
    """The message of a generation; the text of one by a model that does not chat."""
    message = generation.get("message")
    for key in ("kwargs", "data"):
        if isinstance(message, dict) and isinstance(message.get(key), dict):
            message = message[key]
    if isinstance(message, dict):
        return message
    return {"content": generation["text"]} if isinstance(generation.get("text"), str) else {}


def _inner(value: Object, key: str) -> Object:
    inner = value.get(key)
    return inner if isinstance(inner, dict) else {}


def _whole(said: Object) -> Object:
    told = _inner(said, "response_metadata")
    named = {"model": told.get("model_name", told.get("model")), "system_fingerprint": told.get("system_fingerprint")}
    whole = {key: value for key, value in {**named, "id": said.get("id")}.items() if isinstance(value, str)}
    counts = _inner(said, "usage_metadata")
    usage = {theirs: counts[ours] for ours, theirs in _COUNTS if ours in counts}
    return whole | ({"usage": usage} if usage else {})


def _choice(generation: Object) -> Object:
    said = _said(generation)
    choice: Object = {"message": _message(said)}
    for place in (_inner(said, "response_metadata"), _inner(generation, "generation_info")):
        for key in ("finish_reason", "stop_reason", "done_reason"):
            if isinstance(place.get(key), str):
                choice.setdefault("finish_reason", place[key])
    return choice


def _message(said: Object) -> Object:
    beside = _inner(said, "additional_kwargs")
    message: Object = {"role": "assistant"}
    message |= {key: said[key] for key in ("content",) if key in said}
    message |= {key: beside[key] for key in ("reasoning_content", "reasoning", "refusal") if key in beside}
    message |= {key: beside[key] for key in ("tool_calls", "function_call") if beside.get(key)}
    if not message.get("tool_calls") and not message.get("function_call"):
        message |= _parsed(said)
    broken = said.get("invalid_tool_calls")
    return message | ({"invalid_tool_calls": broken} if broken else {})


def _parsed(said: Object) -> Object:
    """The calls that LangChain parsed, and after them those it could not, whose arguments are still a string."""
    told = [said[key] for key in ("tool_calls", "invalid_tool_calls") if isinstance(said.get(key), list)]
    calls = [_call(call) for each in told for call in each]
    return {"tool_calls": [call for call in calls if call]} if told else {}


def _call(call: Any) -> Object:
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return {}
    arguments = {"arguments": call["args"]} if "args" in call else {}
    known = {key: call[key] for key in ("id",) if isinstance(call.get(key), str)}
    return {**known, "name": call["name"], **arguments}
