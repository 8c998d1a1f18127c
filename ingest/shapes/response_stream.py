"""A streamed response of OpenAI's Responses API: its last event tells all of it; without that, its items are used.

An item that is done is told whole; of one that is not, the pieces count, and what stood in it at its start only
where none came.
"""

from typing import Any

from ingest.shapes.streams import error_of

Object = dict[str, Any]

TERMINAL = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_PIECES = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "content",
    "response.reasoning_summary_text.delta": "summary",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}


class ResponseStream:
    """One response in the making."""

    def __init__(self) -> None:
        self.ended = self.complete = self.told_whole = False
        self._response: Object = {"object": "response", "status": "in_progress"}
        self._items: dict[int, Object] = {}
        self._done: set[int] = set()
        self._pieces: dict[int, dict[str, list[str]]] = {}

    def takes(self, event: Object) -> bool:
        """All but the start of another response."""
        return event.get("type") != "response.created" or not (self._items or self.ended)

    def add(self, event: Object) -> None:
        """Take in one event."""
        kind = event.get("type")
        if isinstance(response := event.get("response"), dict):
            self._response |= response
        if kind in TERMINAL:
            self.ended = self.complete = True
        elif (error := error_of(event)) is not None:
            self._response |= {"status": "failed", "error": error}
            self.ended = self.complete = True
        elif isinstance(index := event.get("output_index"), int):
            self._add_to(index, kind, event)

    def _add_to(self, index: int, kind: Any, event: Object) -> None:
        item, piece = event.get("item"), event.get("delta")
        if isinstance(item, dict):
            self._items[index] = item
            if kind == "response.output_item.done":
                self._done.add(index)
        elif isinstance(piece, str) and isinstance(kind, str) and kind in _PIECES:
            self._pieces.setdefault(index, {}).setdefault(_PIECES[kind], []).append(piece)

    def whole(self) -> Object:
        """The response so far."""
        told = self._response.get("output")
        if isinstance(told, list) and (told or not (self._items or self._pieces)):
            self.told_whole = True
            return self._response
        indices = sorted({*self._items, *self._pieces})
        return {**self._response, "output": [self._item(index) for index in indices]}

    def _item(self, index: int) -> Object:
        item = self._items.get(index, {})
        pieces = {key: "".join(told) for key, told in self._pieces.get(index, {}).items()}
        if index in self._done or not pieces:
            return item
        kind = item.get("type") or _kind(pieces)
        return {**item, "type": kind, **_rebuilt(pieces)}


def _kind(pieces: dict[str, str]) -> str:
    """The type of an item whose start is missing."""
    if pieces.keys() & {"text", "refusal"}:
        return "message"
    if pieces.keys() & {"content", "summary"}:
        return "reasoning"
    return "function_call" if "arguments" in pieces else "custom_tool_call"


def _rebuilt(pieces: dict[str, str]) -> Object:
    parts = {
        "text": ("content", "output_text", "text"),
        "refusal": ("content", "refusal", "refusal"),
        "content": ("content", "reasoning_text", "text"),
        "summary": ("summary", "summary_text", "text"),
    }
    found: Object = {}
    for key, text in pieces.items():
        if key in parts:
            place, kind, name = parts[key]
            found.setdefault(place, []).append({"type": kind, name: text})
        else:
            found[key] = text
    return found
