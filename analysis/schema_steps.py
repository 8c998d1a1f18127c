"""The work of holding a value against a JSON Schema, counted beforehand.

A validator visits every part of a schema for every value it may apply to, and a schema may refer to itself twice for
the same value: then the visits double with each level. This walks the same visits without checking anything, and stops
at a limit. It counts too much rather than too little: every alternative is visited, every pattern takes every name.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from analysis.json_values import MAX_DEPTH

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

_ANCHORS = ("$anchor", "$dynamicAnchor")
_ALONE = ("not", "if", "then", "else")
_LISTS = ("allOf", "anyOf", "oneOf")
_BY_PRESENCE = ("dependentSchemas", "dependencies")
_OF_MEMBERS = ("additionalProperties", "unevaluatedProperties")
_OF_ELEMENTS = ("items", "prefixItems", "contains", "additionalItems", "unevaluatedItems")

MAX_CHAIN = MAX_DEPTH**2
"""Visits that lead to one another. More means a schema that refers to itself for the same value, without end."""

Visit = tuple[Any, Any]
"""A part of the schema, and the value that it is held against."""


class StepCounter:
    """Counts visits of one schema, whose references all begin with `#` and which embeds no other document."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._root = schema
        self._anchors = dict(_anchored(schema))
        self._targets: dict[str, Any] = {}

    def exceeds(self, limit: int, value: Any) -> bool:
        """Whether more than `limit` visits are needed for `value`."""
        chain: list[Iterator[Visit]] = [iter([(self._root, value)])]
        visits = 0
        while chain:
            visit = next(chain[-1], None)
            if visit is None:
                chain.pop()
                continue
            visits += 1
            if visits > limit or len(chain) > MAX_CHAIN:
                return True
            chain.append(self._from(*visit))
        return False

    def _from(self, schema: Any, value: Any) -> Iterator[Visit]:
        if not isinstance(schema, Mapping):
            return
        for part in self._in_place(schema):
            yield part, value
        if isinstance(value, Mapping):
            yield from _of_members(schema, value)
        elif isinstance(value, list):
            yield from ((part, each) for part in _several(schema, _OF_ELEMENTS) for each in value)

    def _in_place(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        yield from (self._target(schema[key]) for key in REFERENCES if isinstance(schema.get(key), str))
        yield from _several(schema, _ALONE)
        yield from _several(schema, _LISTS)
        for key in _BY_PRESENCE:
            if isinstance(parts := schema.get(key), Mapping):
                yield from parts.values()

    def _target(self, reference: str) -> Any:
        if reference not in self._targets:
            self._targets[reference] = self._resolved(reference)
        return self._targets[reference]

    def _resolved(self, reference: str) -> Any:
        """What `reference` stands for; None where it leads to nothing, which then takes one visit."""
        fragment = unquote(reference.removeprefix("#"))
        if fragment in self._anchors:
            return self._anchors[fragment]
        found: Any = self._root
        for part in fragment.split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping):
                found = found.get(name)
            elif isinstance(found, Sequence) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            else:
                return None
        return found


def parts(schema: object) -> Iterator[Mapping[str, Any]]:
    """Every object that stands anywhere in `schema`. Iterative: a schema in a log may be of any depth."""
    pending = [schema]
    while pending:
        match pending.pop():
            case Mapping() as inner:
                yield inner
                pending += inner.values()
            case list() as inner:
                pending += inner


def _anchored(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for part in parts(schema):
        yield from ((part[key], part) for key in _ANCHORS if isinstance(part.get(key), str))


def _several(schema: Mapping[str, Any], keywords: Sequence[str]) -> Iterator[Any]:
    for key in keywords:
        part = schema.get(key)
        yield from part if isinstance(part, list) else [] if part is None else [part]


def _of_members(schema: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[Visit]:
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        yield from ((properties[name], value[name]) for name in value if name in properties)
    patterns = schema.get("patternProperties")
    if isinstance(patterns, Mapping):
        yield from ((part, each) for part in patterns.values() for each in value.values())
    yield from ((part, each) for part in _several(schema, _OF_MEMBERS) for each in value.values())
    yield from ((part, name) for part in _several(schema, ("propertyNames",)) for name in value)
