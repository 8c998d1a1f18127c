"""Leaks composed for the tests of faults."""

import json
from typing import Any

from analysis.detectors import Finding
from analysis.faults import Leaked
from analysis.output import Call, OfferedTool, Output
from ingest.records import Kind

LOOK = {
    "type": "object",
    "properties": {"at": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["at"],
}
TOOLS = (
    OfferedTool("look", LOOK),
    OfferedTool("click", {"type": "object", "properties": {"start_box": {"type": "string"}}}),
)
_OUTPUT = ("tools", "calls", "finish_reason", "call_mode")


def leaked(
    text: str | None, *, kind: Kind = "leaked_call", channel: str = "content", markup: str | None = None, **fields: Any
) -> Leaked:
    """A leak that is the whole of `text`, or the `markup` in it. What is not given: two tools, nothing else told."""
    said = {"tools": TOOLS} | {name: fields.pop(name) for name in _OUTPUT if name in fields}
    where = markup if markup is not None else text or ""
    start = (text or "").index(where)
    texts: dict[str, Any] = {channel: text} if channel in ("content", "reasoning") else {}
    found = Finding(
        kind=kind, family=None, tier="certain", tool=None, channel=channel,  # type: ignore[arg-type]
        start=start, end=start + len(where), markup=where, reason="for tests",
    )  # fmt: skip
    return Leaked(Output(**texts, **said), found, **fields)


def look(**arguments: Any) -> Call:
    """A structured call of `look`."""
    return Call("look", json.dumps(arguments))
