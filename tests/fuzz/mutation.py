"""Bytes changed at random: cut, joined and sprinkled as bytes, and, where they are JSON, as values."""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 1.5, -0.0, 1e308, "", "x", "null", "{}", "[]",
    "{", "\x00", "\ud800", "é😀\u2028", "a" * 300, "2026-01-01T00:00:00Z", "-1", "1e400", [], [[]], [None], [{}], {},
    {"": None}, {"type": "text", "text": "x"}, {"name": "ls", "arguments": "{"}, [[[[[[]]]]]],
)  # fmt: skip
"""What a reader may not have thought of."""
BYTES = (
    b"\x00",
    b"\xff",
    b"\n",
    b"\r\n",
    b"\xef\xbb\xbf",
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\xed\xa0\x80",
    b" " * 40,
)
LARGEST = 1 << 14
"""Bytes of an input."""


def exchanged(value: Any, most: int) -> Iterator[Any]:
    """`value` with each of its parts exchanged for each of `VALUES`, one at a time, as far as `most` parts."""
    for place in islice(_places(value), most):
        yield from (_put(value, place, odd) for odd in VALUES)


def _places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*above, key)
        yield from _places(part, (*above, key))


def _put(value: Any, place: tuple[Any, ...], odd: Any) -> Any:
    if not place:
        return odd
    copy = value.copy()
    copy[place[0]] = _put(value[place[0]], place[1:], odd)
    return copy


def mutated(data: bytes, dice: random.Random, others: Sequence[bytes], words: Sequence[bytes] = ()) -> bytes:
    """`data` changed once or a few times, with parts of `others` and with `words` put in."""
    for _ in range(dice.choice((1, 1, 1, 2, 3, 5))):
        changed = _as_json(data, dice) if dice.random() < 0.6 else None
        data = changed if changed is not None else _as_bytes(data, dice, others, words)
    return data[:LARGEST]


def _as_bytes(data: bytes, dice: random.Random, others: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    start = dice.randint(0, len(data))
    end = min(len(data), start + dice.choice((1, 1, 2, 8, 64)))
    kind = dice.randrange(6)
    if kind == 0:
        return data[:start] + data[end:]
    if kind == 1:
        return data[:start] + data[start:end] * dice.choice((2, 3, 50)) + data[end:]
    if kind == 2:
        return data[:start] + bytes([dice.randrange(256)]) + data[start + 1 :]
    if kind == 3:
        return data[:start]
    if kind == 4 and others:
        other = dice.choice(others)
        return data[:start] + other[dice.randint(0, len(other)) :]
    return data[:start] + dice.choice((*BYTES, *words)) + data[dice.choice((start, end)) :]


def _as_json(data: bytes, dice: random.Random) -> bytes | None:
    """The same of one of its lines, or of the whole, as a value; None where neither is JSON."""
    whole = _value(data)
    if whole is not None:
        return _bytes(_changed(whole, dice))
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    value = _value(lines[at])
    return None if value is None else b"\n".join([*lines[:at], _bytes(_changed(value, dice)), *lines[at + 1 :]])


def _value(data: bytes) -> Any:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def _changed(value: Any, dice: random.Random) -> Any:
    """A value with one part of it exchanged, left out, wrapped, doubled, or put under another key."""
    keys: list[Any] = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    if not keys or dice.random() < 0.1:
        return dice.choice((dice.choice(VALUES), [value], {"x": value}, str(value)[:100]))
    key, copy = dice.choice(keys), value.copy()
    if dice.random() < 0.75:
        copy[key] = _changed(value[key], dice)
        return copy
    kind = dice.randrange(4)
    if kind == 0:
        del copy[key]
    elif kind == 1:
        copy[key] = value[dice.choice(keys)]
    elif isinstance(copy, list):
        copy += [value[key]] * dice.choice((1, 3))
    elif kind == 2:
        copy[dice.choice(("type", "role", "content", "id", "x"))] = copy.pop(key)
    else:
        copy[key] = dice.choice(VALUES)
    return copy
