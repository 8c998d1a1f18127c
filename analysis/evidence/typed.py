"""Raw argument text as the values that the tool's schema asks for."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any


def typed(arguments: Mapping[str, Any], schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """`arguments` with each raw text read as its property's type; text stays text where the schema wants it, where
    there is no schema, or where it does not fit."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    return {key: _value(value, known.get(key)) for key, value in arguments.items()}


def _value(value: Any, schema: Any) -> Any:
    if not isinstance(value, str):
        return value
    wanted = _types(schema)
    if "string" in wanted or not wanted:
        return value
    try:
        read = json.loads(value.strip(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        read = _WORDS.get(value.strip().lower(), value)
    return read if _type(read) in wanted or (_is_whole(read) and wanted & {"integer", "number"}) else value


_WORDS = {"true": True, "false": False, "none": None}
_TYPES = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object", type(None): "null"}


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _type(value: Any) -> str | None:
    """The JSON type; None for a number beyond a double."""
    return None if value in (math.inf, -math.inf) else _TYPES.get(type(value))


def _is_whole(value: Any) -> bool:
    """True for the numbers that JSON Schema takes for integers: 3 and 3.0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1


def _types(schema: Any) -> set[str]:
    """The JSON types that a property's schema names, one level of anyOf and oneOf included; of what is no schema,
    none."""
    if not isinstance(schema, Mapping):
        return set()
    parts = [schema, *(each for key in ("anyOf", "oneOf") for each in _listed(schema.get(key)))]
    stated = [part.get("type") for part in parts if isinstance(part, Mapping)]
    return {name for each in stated for name in (each if isinstance(each, list) else [each]) if isinstance(name, str)}


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
