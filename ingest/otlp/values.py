"""Values of OpenTelemetry: AnyValue, attributes, flattened lists, JSON in strings, ids and times.

The JSON form is that of OTLP 1.x (ids in hex, 64-bit integers as strings); an exporter's own plain objects pass
as they are.
"""

import binascii
from base64 import b64decode
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic_core import from_json

from ingest.files.containers import RawLine
from ingest.files.jsonlines import decode
from ingest.formats import Line
from ingest.otlp import Object
from ingest.shapes.moments import LAST_SECOND

DEEPEST = 12
"""Dots of a flattened name that separate levels; the last level keeps the rest."""
_BILLION = 1_000_000_000


def value_of(value: Any) -> Any:
    """What an AnyValue holds; None for an empty one."""
    if not isinstance(value, dict):
        return value
    for kind, content in value.items():
        match kind:
            case "stringValue" | "boolValue" | "bytesValue":
                return content
            case "intValue":
                return integer(content)
            case "doubleValue":
                return None if isinstance(content, str) else content
            case "arrayValue":
                return [value_of(each) for each in _values(content)]
            case "kvlistValue":
                return attributes_of(_values(content))
    return None


def _values(content: Any) -> list[Any]:
    values = content.get("values") if isinstance(content, dict) else None
    return values if isinstance(values, list) else []


def attributes_of(pairs: Any) -> Object:
    """Attributes as an object: a list of keys and AnyValues, or a plain object as it is."""
    if isinstance(pairs, dict):
        return pairs
    found: Object = {}
    for pair in objects(pairs):
        if isinstance(key := pair.get("key"), str):
            found[key] = value_of(pair.get("value"))
    return found


def integer(value: Any) -> int | None:
    """A 64-bit integer, which OTLP writes as a string."""
    if isinstance(value, str) and len(value) <= 20 and value.removeprefix("-").isdecimal():
        return int(value)
    return value if type(value) is int else None


def objects(values: Any) -> list[Object]:
    """The objects in a list; none of anything else."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def text(value: Any) -> str:
    """A text, or an empty one for anything else."""
    return value if isinstance(value, str) else ""


def first_text(attributes: Object, keys: Iterable[str]) -> str | None:
    """The first of `keys` that holds a text that is not empty."""
    for key in keys:
        if isinstance(value := attributes.get(key), str) and value:
            return value
    return None


def moment_of(nanoseconds: Any) -> datetime | None:
    """A moment from nanoseconds of Unix time; None for none before 2100."""
    number = integer(nanoseconds)
    if number is None or not 0 < number < LAST_SECOND * _BILLION:
        return None
    seconds, rest = divmod(number, _BILLION)
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=rest // 1000)


def hex_id(value: Any, size: int) -> str:
    """An id of `size` bytes in hex: `0x` goes, Base64 (protobuf's own JSON, which Tempo answers) is turned.

    Anything else that is a text stays as it is.
    """
    found = text(value).removeprefix("0x").strip()
    if len(found) == 4 * -(-size // 3) and found.endswith("="):
        try:
            return b64decode(found, validate=True).hex()
        except binascii.Error:
            return found
    return "" if found and not found.strip("0") else found.lower()


def opened(value: Any) -> tuple[Any, str]:
    """What JSON in a text holds, and what that means for the texts in it; anything else as it is.

    An attribute limit cuts such a text: what stands before the cut is taken. ValueError for what is no JSON.
    """
    if not isinstance(value, str):
        return value, "exact"
    if not value.strip():
        return None, "exact"
    try:
        return from_json(value, allow_inf_nan=False), "exact"
    except ValueError as fault:
        cut = "EOF while parsing" in str(fault)
        return (_cut(value), "truncated") if cut else _mended(value)


def _mended(value: str) -> tuple[Any, str]:
    """JSON with half a surrogate pair, which is replaced."""
    (found,) = decode([RawLine(1, value.encode())])
    if not isinstance(found, Line):
        raise ValueError("an attribute that should be JSON is not")
    return found.value, "normalised"


def _cut(value: str) -> Any:
    """What stands before the cut, a text that was cut among it."""
    return from_json(value, allow_inf_nan=False, allow_partial="trailing-strings")


def listed(attributes: Object, prefix: str) -> list[Any]:
    """The list that stands flattened in `attributes`: `prefix` + `0.message.role` and so on."""
    tree: Object = {}
    for key, value in attributes.items():
        if key.startswith(prefix):
            _plant(tree, key[len(prefix) :].split(".", DEEPEST), value)
    grown = _grown(tree)
    return grown if isinstance(grown, list) else []


def _plant(tree: Object, path: list[str], value: Any) -> None:
    for name in path[:-1]:
        inner = tree.get(name)
        if not isinstance(inner, dict):
            inner = tree[name] = {}
        tree = inner
    tree.setdefault(path[-1], value)


def _grown(tree: Any) -> Any:
    """Objects whose names are numbers as lists, in the order of the numbers."""
    if not isinstance(tree, dict):
        return tree
    if tree and all(name.isdecimal() and len(name) < 10 for name in tree):
        return [_grown(tree[name]) for name in sorted(tree, key=int)]
    return {name: _grown(inner) for name, inner in tree.items()}


def flat(attributes: Object) -> Object:
    """Attributes that an exporter nested (`{"llm": {"model_name": …}}`), flattened as they were."""
    found: Object = {}
    stack: list[tuple[str, Any]] = [("", attributes)]
    while stack:
        path, value = stack.pop()
        inner = _members(value)
        if inner and (not path or isinstance(value, dict) or isinstance(value[0], dict)):
            stack.extend((f"{path}.{name}" if path else name, each) for name, each in reversed(inner))
        else:
            found[path] = value
    return found


def _members(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return [(str(index), each) for index, each in enumerate(value)] if isinstance(value, list) else []
