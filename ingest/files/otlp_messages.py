"""The messages of an OTLP file in protobuf: one request, or those that the Collector writes, each behind its length."""

from collections.abc import Iterator

from pydantic_core import to_json

from ingest.files.contents import Content
from ingest.formats import Line, Quarantined
from ingest.otlp.protobuf import LONGEST, PREFIX, message_of

_REQUEST = 0x0A
"""The first byte of a request; a length of more than 160 MB does not begin with it."""
CUT = "OTLP in protobuf that ends in the middle of a message (a cut copy?)"


def messages(found: Content) -> Iterator[Line | Quarantined]:
    """The messages of a content in the shape of OTLP/JSON, numbered from 1."""
    number = 0
    for frame in _frames(found):
        number += 1
        if isinstance(frame, str):
            yield Quarantined(number, frame, "")
            return
        try:
            value = message_of(frame)
        except ValueError as fault:
            yield Quarantined(number, " ".join(str(fault).split()), "")
        else:
            yield Line(number, value, to_json(value))
    if fault_ := found.broken():
        yield Quarantined(number + 1, fault_, "")


def _frames(found: Content) -> Iterator[bytes | str]:
    """The messages, still encoded; a text for what ends them."""
    read = found.stream.read
    if found.head[0] == _REQUEST:
        whole = read(LONGEST + 1)
        yield whole if len(whole) <= LONGEST else f"a message is longer than {LONGEST >> 20} MiB"
        return
    while prefix := read(PREFIX):
        length = int.from_bytes(prefix, "big")
        if length > LONGEST:
            yield f"a message is longer than {LONGEST >> 20} MiB, or the file is damaged here"
            return
        frame = read(length)
        yield frame if len(prefix) == PREFIX and len(frame) == length else CUT
