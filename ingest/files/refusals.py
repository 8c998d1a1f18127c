"""Files that are refused with a reason: they hold no text of a model, or reading them would run what is in them."""

from collections.abc import Callable, Sequence
from typing import Any

_BINARY = (
    (0, b"PK\x05\x06", "an empty zip archive; name another file"),
    (0, b"PAR1", "a Parquet file, which is not read yet; export JSON Lines (COPY … TO 'log.jsonl' in DuckDB does it)"),
    (0, b"SQLite format 3\0", "an SQLite database, which is not read; export the sessions with the tool that wrote it"),
    (0, b"\xfd7zXZ\0", "an xz file, which is not read; decompress it (unxz)"),
    (4, b"1AY&SY", "a bzip2 file, which is not read; decompress it (bunzip2)"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive, which is not read; unpack it, or make a zip of it"),
    (0, b"\x93NUMPY", "a NumPy array: it holds no text of a model"),
    (0, b"%PDF", "a PDF; leakdown reads logs"),
    (0, b"\x89PNG", "a picture; leakdown reads logs"),
    (0, b"\x7fELF", "a program; leakdown reads logs"),
    (0, b"GGUF", "a GGUF model; leakdown reads logs"),
)
_PICKLE = tuple(b"\x80" + bytes([version]) for version in range(2, 6))
_PICKLE_OPCODES = b"}](c\x8c\x95KXUN"
"""What follows the version in a pickle: a dict, a list, a tuple, a class, a text, a frame, a number, none."""


def binary_kind(head: bytes) -> str | None:
    """Why a file that begins with `head` is not read; None for one that may be text."""
    for offset, magic, why in _BINARY:
        if head.startswith(magic, offset):
            return why
    if head[:2] in _PICKLE and head[2:3] and head[2] in _PICKLE_OPCODES:
        return "a pickle: reading it would run what is in it, so it never is; have the tool log JSON Lines"
    if head[8:9] == b"{" and b'"dtype"' in head[:4096]:
        return "a safetensors file: it holds no text of a model"
    return None


def _is(*keys: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(key in value for key in keys)


_VALUES: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (_is("resourceMetrics"), "OTLP metrics: they hold no text; export traces (and logs) with message content"),
    (
        lambda value: _is("session_id", "ts", "text")(value) and len(value) == 3,
        "the prompt history of Codex: it holds no answers; the sessions are under ~/.codex/sessions",
    ),
    (
        _is("display", "pastedContents"),
        "the prompt history of Claude Code: it holds no answers; the sessions are under ~/.claude/projects",
    ),
    (
        _is("model_permaslug", "requests", "prompt_tokens"),
        "OpenRouter's activity export: sums without text; log the calls, or use Broadcast to an OTLP collector",
    ),
    (
        _is("custom_id", "method", "url", "body"),
        "the input of a batch, without answers; give its output file together with it",
    ),
)


def textless_kind(values: Sequence[Any]) -> str | None:
    """Why a file whose first decoded records are `values` holds nothing to look at; None if that is not known."""
    found = (next((why for is_it, why in _VALUES if is_it(value)), None) for value in values)
    reasons = set(found)
    return reasons.pop() if len(reasons) == 1 else None
