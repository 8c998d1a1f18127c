"""How the records of a text are framed: one a line, whole JSON values, server-sent events, lines with a prefix.

The first bytes decide, never a name. Whatever the framing, each record comes as the bytes of one JSON value with
its number, and is decoded in one place (`ingest.files.jsonlines`).
"""

import re
from collections.abc import Iterator

from pydantic_core import from_json

from ingest.files.containers import LINE_LIMIT, RawLine, lines
from ingest.files.contents import Content
from ingest.files.json_texts import values
from ingest.files.jsonlines import decode
from ingest.files.sse import FIELD, events
from ingest.formats import Line, Quarantined, Skipped

Decoded = Line | Skipped | Quarantined

LOOKED_AT = 50
"""Lines that tell JSON Lines from JSON that is spread over lines."""
_PREFIX = re.compile(rb"(?:\[[^\]\n]{1,64}\]|[^{\[\"\s][^{\"\n]{0,200}?)[^{\[\"\n]{0,100}(?=\{)")
"""What a logger puts before the JSON of a line: a time, a level, a stream (CRI: `<time> stdout F `)."""


def records(found: Content, limit: int = LINE_LIMIT) -> Iterator[Decoded]:
    """The records of a content, decoded, each with its number."""
    if _is_protobuf(found.head[:64]):
        from ingest.files.otlp_messages import messages  # it takes a third of a second to import

        return messages(found)
    head = found.head.lstrip()
    if FIELD_BYTES.match(head):
        return decode(events(lines(found, limit)))
    if head[:1] in (b"{", b"[") and not _one_a_line(found):
        return values(found, limit)
    return decode(_bare(lines(found, limit), _wrapping(found)))


def _is_protobuf(head: bytes) -> bool:
    """Whether a file may be OTLP in protobuf: it begins with the tag of a request, or with the length of one."""
    if head[:1] not in (b"\x0a", b"\x00", b"\x01", b"\x02", b"\x03", b"\x04"):
        return False
    from ingest.otlp.protobuf import looks_like

    return looks_like(head)


FIELD_BYTES = re.compile(FIELD.pattern.encode())


def _one_a_line(found: Content) -> bool:
    """Whether the first lines hold a whole object each, at least one of them."""
    complete = found.head.split(b"\n")
    if len(complete) == 1:  # a single line, or one so long that it cannot be spread over lines
        return not found.head.lstrip().startswith(b"[")
    first = [line for line in complete[:-1] if not line.isspace()][:LOOKED_AT]
    if not first:
        return True
    return any(line.startswith(b"{") and _is_object(line) for line in first) or _prefixed(first[0])


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(from_json(text, allow_inf_nan=False), dict)
    except ValueError:
        return b"\\ud" in text.lower() and text.rstrip().endswith(b"}")  # half a character, which decoding mends


def _prefixed(line: bytes) -> bool:
    prefix = _PREFIX.match(line)
    return bool(prefix and prefix[0] and _is_object(line[prefix.end() :]))


_DOCKER = re.compile(rb'\s*\{\s*"log"\s*:\s*"')


def _wrapping(found: Content) -> str | None:
    first = next((line for line in found.head.split(b"\n") if not line.isspace() and line), b"")
    if _DOCKER.match(first):
        return "docker"
    looked_at = found.head.split(b"\n")[:LOOKED_AT]
    return "prefix" if not first.lstrip().startswith(b"{") and any(map(_prefixed, looked_at)) else None


def _bare(found: Iterator[RawLine], wrapping: str | None) -> Iterator[RawLine]:
    """Lines without what a logger has put around them."""
    if wrapping is None:
        return found
    take = _from_docker if wrapping == "docker" else _without_prefix
    return map(take, found)


def _without_prefix(line: RawLine) -> RawLine:
    prefix = _PREFIX.match(line.data)
    return RawLine(line.number, line.data[prefix.end() :], line.fault) if prefix else line


def _from_docker(line: RawLine) -> RawLine:
    """Docker's json-file driver: `{"log": "…\\n", "stream": "stdout", "time": …}`."""
    try:
        match from_json(line.data, allow_inf_nan=False):
            case {"log": str() as text, "stream": "stdout" | "stderr"}:
                return RawLine(line.number, text.encode(), line.fault)
    except ValueError:
        return line
    return line
