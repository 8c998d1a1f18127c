"""JSON texts, read in bounded depth; and strictly: whole, in Unicode, with no member twice."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

MAX_DEPTH = 100
"""Levels of arrays and objects. Deeper is no argument of a tool, and no reader here recurses further."""

JsonFault = Literal["not_json", "unclosed_json", "too_deep", "duplicate_member", "not_unicode"]

# A string that never ends runs to the end of the text, so that no quote in it is tried again.
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+(?P<end>"?)|[\[{]|[\]}]', re.DOTALL)
_SURROGATE = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")


class UnreadableJson(ValueError):
    """A text that is not taken; `code` says why, the message says it in words."""

    def __init__(self, code: JsonFault, message: str) -> None:
        super().__init__(message)
        self.code: JsonFault = code


def bounded_json(text: str) -> Any:
    """The value of `text`; UnreadableJson if it is not JSON, or deeper than `MAX_DEPTH`.

    Of a member given twice the last counts. NaN, the infinities and numbers beyond a double are not JSON here.
    """
    return _read(text, dict)


def strict_json(text: str) -> Any:
    """As `bounded_json`; UnreadableJson as well for a member given twice at any depth, and for a lone surrogate."""
    value = _read(text, _once)
    if _SURROGATE.search(text):
        _check_unicode(value)
    return value


def _read(text: str, members: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> Any:
    # Without many brackets no text is too deep; most are read without a look at their levels.
    levels = _levels(text) if text.count("[") + text.count("{") > MAX_DEPTH else None
    if levels and levels.deepest > MAX_DEPTH:
        raise UnreadableJson("too_deep", f"more than {MAX_DEPTH} levels")
    try:
        return json.loads(text, object_pairs_hook=members, parse_constant=_refuse, parse_float=_finite)
    except UnreadableJson:
        raise
    except ValueError as fault:  # also for an integer of too many digits
        levels = levels or _levels(text)
        raise UnreadableJson("unclosed_json" if levels.end_open else "not_json", str(fault)) from None


class _Levels(NamedTuple):
    """The deepest level of a text, counted no further than one beyond `MAX_DEPTH`, and whether it ends in a value."""

    deepest: int
    end_open: bool


def _levels(text: str) -> _Levels:
    depth = deepest = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        match token[0][0]:
            case "[" | "{":
                depth += 1
                deepest = max(deepest, depth)
                if depth > MAX_DEPTH:
                    break
            case "]" | "}":
                depth -= 1
            case _ if not token["end"]:
                return _Levels(deepest, end_open=True)
    return _Levels(deepest, end_open=depth > 0)


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(members)
    if len(value) < len(members):
        counts = Counter(name for name, _ in members)
        twice = next(name for name, count in counts.items() if count > 1)
        raise UnreadableJson("duplicate_member", f"{twice[:100]!r} is given twice")
    return value


def _check_unicode(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UnreadableJson("not_unicode", "half of a surrogate pair stands alone") from None


def _refuse(constant: str) -> Any:
    raise UnreadableJson("not_json", f"{constant} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise UnreadableJson("not_json", f"{digits[:20]} is beyond a double")
    return value
