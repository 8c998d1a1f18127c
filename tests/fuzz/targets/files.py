"""Containers, framing and the files that are no logs: what a path may lead to."""

import gzip
import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import zstandard

from analysis.labels import files as label_files
from ingest import packs
from ingest.batches import read
from ingest.errors import InputError
from ingest.files import sidecar
from ingest.files.archives import members
from ingest.files.containers import RawLine, Source, lines
from ingest.files.contents import content
from ingest.files.framing import records
from ingest.files.sse import events, events_of
from ingest.formats import formats
from ingest.otlp.intake import Signal, taken
from ingest.otlp.protobuf import looks_like, messages_of
from tests.fuzz.targets import Target, require, text_of

SMALL = 1 << 16
_RECORD = b'{"type":"generation","run_id":"r","generation_id":"g","content":"x"}\n'


@cache
def _folder() -> Path:
    return Path(_kept().name)


@cache
def _kept() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="leakdown-fuzz-")


def _file(data: bytes, name: str = "input") -> Source:
    path = _folder() / name
    path.unlink(missing_ok=True)  # some file systems write to the disk what takes the place of something
    path.write_bytes(data)
    return Source(path, name)


def targets() -> Iterator[Target]:
    """Readers of files, from the outside in."""
    examples = {each.name: each.example.encode() for each in formats()}
    chosen = tuple(examples[name] for name in ("native", "openai-chat", "claude-code", "otlp", "messages"))
    yield Target("container", _container, (InputError,), (*chosen, *_packed(_RECORD)), (b"PK\x03\x04", b"\x1f\x8b"))
    yield Target("archive", _archive, (InputError,), tuple(_packed(_RECORD)), (b"PK\x01\x02", b"ustar"))
    yield Target(
        "framing", _framing, (InputError,), (*chosen, *_streams()), (b"data: ", b"[DONE]", b"\x1e", b"\xef\xbb\xbf")
    )
    yield Target("sse", _sse, (), tuple(_streams()), (b"data: ", b"event: ", b"\r", b": ", b"[DONE]"))
    yield Target("protobuf", _protobuf, (ValueError,), tuple(_messages()), (b"\x0a", b"\x12", b"\x80\x80\x01"))
    otlp = (b"resourceSpans", b"scopeLogs", b"attributes", b"stringValue", b"traceId")
    yield Target("otlp-json", partial(_otlp, as_json=True), (ValueError,), (examples["otlp"],), otlp)
    yield Target("otlp-protobuf", partial(_otlp, as_json=False), (ValueError,), tuple(_messages()), (b"\x0a", b"\x12"))
    yield Target(
        "sidecar", _sidecar, (InputError,), (b'[set]\nengine = "vllm"\n',), (b"[set]", b"engine", b'"""', b"= ")
    )
    yield Target("labels", _labels, (InputError,), _LABELS, (b"generation_id", b",", b'"', b"leak", b"\r\n"))
    yield Target("pack", _pack, (InputError,), (b'{"type":"pack","version":1}\n' + _RECORD,), (b"version", b"redacted"))


_LABELS = (
    b'{"type":"label","generation_id":"g","leak":true,"by":"ana"}\n',
    b'generation_id,leak,by,note\ng1,true,ana,\ng2,unsure,ben,"a, b"\n',
)


def _container(data: bytes) -> None:
    for batch in read(_file(data)).batches:
        told = {each.entry.line for each in batch.generations}
        told |= {line for kind in (batch.events, batch.runs, batch.labels) for line, _ in kind}
        told |= {item.line for item in batch.quarantined}
        require(len(told) + batch.skipped.total() == batch.lines, "lines balance")


def _archive(data: bytes) -> None:
    for member in members("fuzz", io.BytesIO(data)):
        found = member.open()
        for line in lines(found, SMALL):
            require(len(line.data) <= SMALL, "a line is bounded")


def _framing(data: bytes) -> None:
    numbers = [
        each.number if hasattr(each, "number") else each.line
        for each in records(content("fuzz", io.BytesIO(data)), SMALL)
    ]
    require(all(number >= 1 for number in numbers), "lines are numbered from 1")


def _sse(data: bytes) -> None:
    raw = [RawLine(number, line) for number, line in enumerate(data.split(b"\n"), 1)]
    numbers = [each.number for each in events(raw)]
    require(numbers == sorted(numbers), "events come in their order")
    require(all(isinstance(each, dict) for each in events_of(text_of(data))), "an event is an object")


def _protobuf(data: bytes) -> None:
    looks_like(data[:64])
    json.dumps(messages_of(data))


def _otlp(data: bytes, *, as_json: bool) -> None:
    signals: tuple[Signal, ...] = ("traces", "logs")
    for signal in signals:
        found = taken(data, signal, as_json=as_json)
        require(found.rejected >= 0 and (found.why or not found.rejected), "a rejection says why")
        for message in found.messages:
            json.dumps(message.value).encode()
            require(len(message.service) <= 200, "a service's name is bounded")


def _sidecar(data: bytes) -> None:
    _file(data, "leakdown.toml")
    sidecar.told(_folder() / "log.jsonl", depth=1)


def _labels(data: bytes) -> None:
    for each in label_files.read(_file(data), by="ana"):
        require((each[0] if isinstance(each, tuple) else each.line) >= 1, "lines are numbered from 1")


def _pack(data: bytes) -> None:
    packs.header(_file(data))


def _packed(text: bytes) -> Iterator[bytes]:
    yield gzip.compress(text, mtime=0)
    yield zstandard.compress(text)
    for packing in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", packing) as archive:
            archive.writestr(zipfile.ZipInfo("a/log.jsonl"), text)
        yield made.getvalue()
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tape:
        about = tarfile.TarInfo("log.jsonl")
        about.size = len(text)
        tape.addfile(about, io.BytesIO(text))
    yield made.getvalue()


def _streams() -> Iterator[bytes]:
    chunk = b'{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}'
    yield b"data: " + chunk + b"\n\ndata: [DONE]\n\n"
    yield b"event: message\r\nid: 1\r\ndata: {\r\ndata: }\r\n\r\n: comment\r\n\r\n"
    yield b"2026-01-01T00:00:00Z stdout F " + _RECORD
    yield b'{"log":"{\\"a\\":1}\\n","stream":"stdout"}\n'
    yield b'[\n{"a": 1},\n{"b": [2]}\n]\n'


def _messages() -> Iterator[bytes]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add(name="chat", trace_id=b"1" * 16, span_id=b"2" * 8)
    span.attributes.add(key="gen_ai.operation.name").value.string_value = "chat"
    whole = request.SerializeToString()
    yield whole
    yield len(whole).to_bytes(4, "big") + whole
