"""A streamed chat completion put together: choices by index, calls by index or id, counts at the end.

Servers differ: some leave out the index of a call, give all calls the same one, or repeat id and name in every
fragment; the counts come with the finish reason or in a chunk of their own without choices.
"""

from collections import defaultdict
from typing import Any

from ingest.shapes.streams import error_of

Object = dict[str, Any]

_DROPPED = {"logprobs", "token_ids", "prompt_token_ids", "prompt_logprobs"}
_PER_CHUNK = {"choices", "object", "obfuscation", *_DROPPED}


class ChatStream:
    """One completion in the making."""

    def __init__(self) -> None:
        self.ended = self.complete = self.told_whole = False
        self._top: Object = {}
        self._choices: dict[Any, _Choice] = {}

    def takes(self, event: Object) -> bool:
        """A chunk after the end belongs here if it counts, says nothing, or is of another choice."""
        if not self.ended or event.get("usage"):
            return True
        return all(self._is_late(choice) for choice in _choices(event))

    def _is_late(self, choice: Object) -> bool:
        delta = choice.get("delta")
        return _index(choice) not in self._choices or not delta

    def add(self, event: Object) -> None:
        """Take in one chunk."""
        top = self._top
        for key, value in event.items():
            if key not in _PER_CHUNK and value is not None and (key == "usage" or key not in top):
                top[key] = value
        choices = _choices(event)
        for choice in choices:
            self._choice(choice).add(choice)
        if (error := error_of(event)) is not None:
            top["error"] = error
            self.ended = self.complete = True
        elif choices:
            self.ended = all(choice.finished for choice in self._choices.values())
        elif self.ended and event.get("usage"):
            self.complete = True

    def _choice(self, choice: Object) -> "_Choice":
        index = _index(choice)
        if index not in self._choices:
            self._choices[index] = _Choice()
        return self._choices[index]

    def whole(self) -> Object:
        """The completion so far."""
        choices = [{"index": index, **self._choices[index].whole()} for index in sorted(self._choices)]
        return {**self._top, "object": "chat.completion", "choices": choices}


def _index(choice: Object) -> int:
    index = choice.get("index", 0)
    return index if isinstance(index, int) else 0


def _choices(event: Object) -> list[Object]:
    choices = event.get("choices")
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


class _Choice:
    """One choice in the making."""

    def __init__(self) -> None:
        self.finished = False
        self._told: Object = {}
        self._said: Object = {}
        self._pieces: defaultdict[str, list[str]] = defaultdict(list)
        self._calls: list[Object] = []

    def add(self, choice: Object) -> None:
        for key, value in choice.items():
            if key == "delta":
                if isinstance(value, dict):
                    self._add_delta(value)
            elif value is not None and key not in _DROPPED:
                self._told[key] = value
        self.finished = "finish_reason" in self._told

    def _add_delta(self, delta: Object) -> None:
        for key, value in delta.items():
            if key == "tool_calls" and isinstance(value, list):
                for fragment in value:
                    self._add_call(fragment)
            elif key == "function_call" and isinstance(value, dict):
                if isinstance(inner := self._said.setdefault(key, {}), dict):
                    _extend(inner, value)
            elif isinstance(value, str) and key != "role":
                self._pieces[key].append(value)
            elif isinstance(value, list) and isinstance(self._said.get(key), list):
                self._said[key] += value
            elif value is not None or key not in self._said:
                self._said[key] = [*value] if isinstance(value, list) else value

    def _add_call(self, fragment: Any) -> None:
        if not isinstance(fragment, dict):
            return
        call = self._call_of(fragment)
        for key, value in fragment.items():
            if key in ("function", "custom") and isinstance(value, dict):
                if isinstance(inner := call.setdefault(key, {}), dict):
                    _extend(inner, value)
            elif value not in (None, ""):
                call.setdefault(key, value)

    def _call_of(self, fragment: Object) -> Object:
        """The call that `fragment` goes on with, or a new one."""
        index, call_id = fragment.get("index"), fragment.get("id")
        same = [call for call in self._calls if index is None or call.get("index") == index]
        if call_id:
            ours = [call for call in same if call.get("id") in (None, call_id)]
            found = ours[-1] if ours and (index is not None or ours[-1].get("id") == call_id) else None
        else:
            found = same[-1] if same and not (index is None and _names_anew(same[-1], fragment)) else None
        if found is None:
            found = {}
            self._calls.append(found)
        return found

    def whole(self) -> Object:
        message = {**self._said, **{key: "".join(pieces) for key, pieces in self._pieces.items()}}
        if self._calls:
            message["tool_calls"] = [_closed(call) for call in self._calls]
        if isinstance(message.get("function_call"), dict):
            message["function_call"] = _joined(message["function_call"])
        if message.keys() <= {"role"}:
            message["content"] = None
        return {**self._told, "message": message}


def _names_anew(call: Object, fragment: Object) -> bool:
    """Whether a fragment without id and index names another call than the last."""
    function = fragment.get("function")
    return isinstance(function, dict) and bool(function.get("name")) and bool(_of(call).get("arguments"))


def _of(call: Object) -> Object:
    inner = call.get("function") or call.get("custom")
    return inner if isinstance(inner, dict) else {}


def _extend(inner: Object, fragment: Object) -> None:
    """Add a fragment to a function: texts grow, and a name that is repeated or told again in full does not."""
    for key, value in fragment.items():
        if key == "name" and isinstance(value, str):
            told = inner.get("name")
            name = told if isinstance(told, str) else ""
            inner["name"] = value if value.startswith(name) else name + value if value else name
        elif isinstance(value, str):
            pieces = inner.setdefault(key, [])
            if isinstance(pieces, list):
                pieces.append(value)
        elif value is not None:
            inner[key] = value


def _joined(inner: Object) -> Object:
    return {key: "".join(value) if _is_pieces(value) else value for key, value in inner.items()}


def _is_pieces(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(piece, str) for piece in value)


def _closed(call: Object) -> Object:
    closed = {key: _joined(value) if isinstance(value, dict) else value for key, value in call.items()}
    closed.pop("index", None)
    return closed
