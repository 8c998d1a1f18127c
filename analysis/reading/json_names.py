"""Which calls a JSON value is: every shape in which models and templates name a tool and its arguments."""

import json
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from analysis.reading import Damages, damages

NAME_KEYS = (
    *("name", "tool_name", "tool", "function", "function_name", "action", "recipient_name", "toolName", "functionName"),
    *("call", "command", "cmd", "api", "type"),
)
LOOSE_NAME_KEYS = frozenset({"call", "command", "cmd", "api"})
"""Members that hold much else than a tool's name: they tell one only if an offered tool is called so."""
ARGUMENT_KEYS = (
    *("arguments", "parameters", "args", "params", "input", "action_input", "tool_input", "parameter", "tool_args"),
    *("tool_arguments", "tool_parameters", "kwargs", "toolInput", "toolArgs", "actionInput", "inputs"),
)
ENVELOPES = (
    *("tool_calls", "tool_call", "function_call", "tool_uses", "calls", "tool_use", "toolCall", "toolCalls"),
    *("functionCall", "function_calls", "call", "tools", "functions"),
)
BESIDE = frozenset({"id", "type", "index", "tool_call_id", "call_id", "status"})
"""Members of a call that are neither its name nor its arguments."""
CALL_TYPES = ("function", "tool_use", "tool_call", "function_call", "custom")
"""What `type` says of a call; of a record with a name it says something else."""
DEEPEST = 8
"""Envelopes within envelopes."""
_NAMES = re.compile(r"tool|function|action|method|api|call|command", re.IGNORECASE)
_HOLDS = re.compile(r"(?:args|arguments|param(?:eter)?s|inputs?)\Z", re.IGNORECASE)
_LOOSE_ENVELOPES = ("tool", "action", "next_action", "command", "response", "params")
_PREFIX = re.compile(r"^(?:function=|functions\.|default_api[.:])")


@dataclass(frozen=True, slots=True)
class Named:
    """A call that a JSON value is."""

    name: str
    arguments: Mapping[str, Any] | None
    damage: Damages = frozenset()


def named(value: Any, names: Set[str], depth: int = 0) -> list[Named] | None:
    """The calls that `value` is; None if it is none. Loose shapes count only for one of `names`, the offered ones."""
    if isinstance(value, list):
        return _all(value, names, depth)
    if not isinstance(value, dict) or depth > DEEPEST:
        return None
    inner = next((value[key] for key in ENVELOPES if isinstance(value.get(key), (list, dict))), None)
    inner = value["function"] if inner is None and isinstance(value.get("function"), dict) else inner
    if inner is not None:
        return named(inner, names, depth + 1)
    one = _one(value, names)
    if one is not None:
        return [one]
    return _by_keys(value, names) or _of_offered(value, names, depth)


def _all(value: list[Any], names: Set[str], depth: int) -> list[Named] | None:
    found: list[Named] = []
    for each in value if depth <= DEEPEST else ():
        part = named(each, names, depth + 1)
        if part is None:
            return None
        found += part
    return found or None


def plain(name: str) -> str:
    """A tool's name without what a wire format puts before it."""
    return _PREFIX.sub("", name.strip().strip("\"'"))


def _one(value: dict[str, Any], names: Set[str]) -> Named | None:
    key = next((key for key in NAME_KEYS if _names(value, key, names)), None)
    if key is None:
        return None
    raw = value[key]
    name = plain(raw)
    wrong = damages("wrong_header" if name != raw and not raw.startswith("functions.") else None)
    argument_key = next((each for each in ARGUMENT_KEYS if each in value), None)
    if argument_key and _declares(value[argument_key]):
        return None
    if not name or (argument_key is None and name not in names and set(value) - {key} - BESIDE):
        return None
    if argument_key is None:
        if value.get("type", "function") not in CALL_TYPES:
            return None
        beside = {each: inner for each, inner in value.items() if each != key and each not in BESIDE}
        return Named(name, beside, wrong | damages("wrong_header" if beside else None))
    arguments, damage = _object(value[argument_key])
    return Named(name, arguments, wrong | damage)


def _declares(arguments: Any) -> bool:
    """True for a JSON Schema: then a tool is declared, not called."""
    return (
        isinstance(arguments, dict)
        and arguments.get("type") == "object"
        and isinstance(arguments.get("properties"), dict)
    )


def _names(value: dict[str, Any], key: str, names: Set[str]) -> bool:
    """True if `key` holds the tool's name. `type` does only where nothing else can and it is no word of the format."""
    if not isinstance(value.get(key), str) or (key in LOOSE_NAME_KEYS and value[key] not in names):
        return False
    return key != "type" or (
        value[key] not in (*CALL_TYPES, "object", "string") and any(each in value for each in ARGUMENT_KEYS[:2])
    )


def _of_offered(value: dict[str, Any], names: Set[str], depth: int) -> list[Named] | None:
    """Members that only sound like a name and its arguments, and envelopes that hold much else as well: an offered
    tool must be called."""
    name = next(
        (inner for key, inner in value.items() if isinstance(inner, str) and inner in names and _NAMES.search(key)),
        None,
    )
    arguments = next((inner for key, inner in value.items() if isinstance(inner, dict) and _HOLDS.search(key)), None)
    if name is not None and arguments is not None and not _declares(arguments):
        return [Named(name, arguments)]
    for key in _LOOSE_ENVELOPES:
        inner = value.get(key)
        found = named(inner, names, depth + 1) if isinstance(inner, dict) else None
        if found and all(each.name in names and each.arguments is not None for each in found):
            return found
    return None


def _by_keys(value: dict[str, Any], names: Set[str]) -> list[Named] | None:
    """`{"NAME": {…}}`, one or several."""
    if not value or not all(name in names and isinstance(inner, dict) for name, inner in value.items()):
        return None
    return [Named(name, inner) for name, inner in value.items()]


def _object(value: Any) -> tuple[Mapping[str, Any] | None, Damages]:
    """Arguments as an object, or as JSON in a string, as the wire format of an API has them."""
    if isinstance(value, dict):
        return value, frozenset()
    if value is None:
        return {}, frozenset()
    if not isinstance(value, str):
        return None, damages("json_damage")
    try:
        inner = json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return None, frozenset()
    return (inner, damages("json_damage")) if isinstance(inner, dict) else (None, frozenset())
