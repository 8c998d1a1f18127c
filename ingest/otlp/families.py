"""Which spans tell the same model call: a framework's span around a client's, and a span delivered again.

The inner span counts, since it stands nearer to the wire; where the outer one came first, in another message, that
one does. Only hashes of ids are kept, of the last spans: a call and its frame end within seconds of each other.
"""

from collections.abc import Sequence

from ingest.otlp import Span
from ingest.otlp.recent import Recent
from ingest.otlp.values import text
from ingest.shapes.openai_message import Fields

REMEMBERED = 300_000
"""Spans that are remembered."""
_FARTHEST = 64
"""Spans between two that tell the same call, at most."""
_BETWEEN = ("TOOL", "AGENT")
_OPERATIONS = ("execute_tool", "invoke_agent", "create_agent")


def key_of(trace_id: str, span_id: str) -> int:
    """The key of a span; 0 for one that names itself nowhere."""
    return hash((trace_id, span_id)) if span_id else 0


class Families:
    """The spans of a stream so far."""

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._parents = Recent[int](remembered)
        self._framing = Recent[bool](remembered)
        """Spans around one whose text is known."""
        self._told = Recent[int](remembered)
        """Spans whose text is known, and what they said."""

    def meet(self, span: Span) -> None:
        """Note where a span stands, whatever it is. A tool or an agent between two model calls parts them."""
        key = key_of(span.trace_id, span.span_id)
        if not key:
            return
        parent = 0 if _parts(span) else key_of(span.trace_id, span.parent_id)
        self._parents.note(key, parent)
        if key in self._framing:
            self._frame(parent)

    def depth(self, key: int) -> int:
        """How many spans are known to stand around one."""
        return len(self._around(key))

    def is_known(self, key: int) -> bool:
        """Whether the text of this model call is known from this span, one in it or one around it."""
        return key in self._told or key in self._framing or any(each in self._told for each in self._around(key))

    def is_copy(self, key: int, replies: Sequence[Fields]) -> bool:
        """Whether another span told this call, or this one did in the same words; if not, it has told it now."""
        if not key:
            return False
        said = hash(repr([[reply.get(name) for name in ("content", "reasoning", "tool_calls")] for reply in replies]))
        if self._told.get(key) == said or (key not in self._told and self.is_known(key)):
            return True
        self._told.note(key, said)
        self._frame(self._parents.get(key) or 0)
        return False

    def _frame(self, key: int) -> None:
        while key and key not in self._framing:
            self._framing.note(key, True)
            key = self._parents.get(key) or 0

    def _around(self, key: int) -> list[int]:
        found: list[int] = []
        while (key := self._parents.get(key) or 0) and len(found) < _FARTHEST:
            found.append(key)
        return found


def _parts(span: Span) -> bool:
    attributes = span.attributes
    kinds = (attributes.get("openinference.span.kind"), attributes.get("traceloop.span.kind"))
    return (
        any(text(kind).upper() in _BETWEEN for kind in kinds)
        or attributes.get("gen_ai.operation.name") in _OPERATIONS
        or span.name == "ai.toolCall"
    )
