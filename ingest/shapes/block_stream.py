"""A streamed reply of Anthropic's Messages API put together: blocks by index, the input of a call as raw text."""

from typing import Any

from ingest.shapes.streams import error_of

Object = dict[str, Any]

_DELTAS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


class BlockStream:
    """One reply in the making."""

    def __init__(self) -> None:
        self.ended = self.complete = self.told_whole = False
        self._message: Object = {"type": "message", "role": "assistant", "content": []}
        self._blocks: dict[int, Object] = {}
        self._pieces: dict[int, dict[str, list[str]]] = {}

    def takes(self, event: Object) -> bool:
        """All but the start of another reply."""
        return event.get("type") != "message_start" or not (self._blocks or self.ended)

    def add(self, event: Object) -> None:
        """Take in one event."""
        match event:
            case {"type": "message_start", "message": dict() as message}:
                self._message |= message
            case {"type": "content_block_start", "index": int() as index, "content_block": dict() as block}:
                self._blocks[index] = dict(block)
            case {"type": "content_block_delta", "index": int() as index, "delta": dict() as delta}:
                self._extend(index, delta)
            case {"type": "message_delta"}:
                self._note(event)
            case {"type": "message_stop"}:
                self.complete = True
            case _ if (error := error_of(event)) is not None:
                self._message["error"] = error
                self.ended = self.complete = True

    def _extend(self, index: int, delta: Object) -> None:
        key = _DELTAS.get(str(delta.get("type")))
        if key and isinstance(piece := delta.get(key), str):
            self._pieces.setdefault(index, {}).setdefault(key, []).append(piece)

    def _note(self, event: Object) -> None:
        """Stop reason and counts; the counts of the end replace those of the start."""
        if isinstance(delta := event.get("delta"), dict):
            self._message |= delta
            self.ended = self.ended or delta.get("stop_reason") is not None
        if isinstance(usage := event.get("usage"), dict):
            counted = self._message.get("usage")
            self._message["usage"] = (counted if isinstance(counted, dict) else {}) | usage

    def whole(self) -> Object:
        """The reply so far."""
        return {**self._message, "content": [self._block(index) for index in sorted({*self._blocks, *self._pieces})]}

    def _block(self, index: int) -> Object:
        block = dict(self._blocks.get(index, {}))
        pieces = {key: "".join(told) for key, told in self._pieces.get(index, {}).items()}
        raw = pieces.pop("partial_json", None)
        for key, text in pieces.items():
            start = block.get(key)
            block[key] = (start if isinstance(start, str) else "") + text
        if raw is not None:
            block["input"] = raw
        elif block.get("input") == {}:
            del block["input"]  # what stands before the first piece, no input of the model
        block.setdefault("type", "text" if "text" in block else "thinking" if "thinking" in block else "tool_use")
        return block
