"""The JSON Schema of a tool's arguments, as a strict reader takes it: what it does not describe is refused.

A property is known if any part of the schema that holds for the object says so: `properties`, a matching
`patternProperties`, `additionalProperties` or `unevaluatedProperties` that is true or a schema. That goes for every
depth and through `$ref`, `allOf`, `anyOf`, `oneOf`, conditions and dependent schemas; a branch that does not hold
makes nothing known.
A nested value of which the schema says nothing at all (`{}`, `true`, no `items`), or which it names whole (`const`,
`enum`), is free. The arguments themselves never are: a schema without properties allows none.

References stay inside the schema: they begin with `#`. Nothing is fetched.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import jsonschema_rs

from analysis.json_values import MAX_DEPTH
from analysis.schema_steps import REFERENCES, StepCounter, parts

MAX_STEPS = 100_000
"""Visits of a part of the schema to a value; arguments that need more are not checked, and so refused."""

BACKTRACK_LIMIT = 100_000
"""Steps of a regular expression with look-around at one place; beyond them it does not match."""

MAX_ERRORS = 50
DETAIL_LIMIT = 200

SchemaFault = Literal["schema_invalid", "remote_reference"]
ArgumentFault = Literal["too_costly", "missing_required", "wrong_type", "unknown_property", "schema_violation"]

_PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT)
_MAPS_OF_SCHEMAS = frozenset(
    ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
)
_DATA = frozenset(("const", "enum", "default", "examples"))
_FURTHER_PROPERTIES = frozenset(("additionalProperties", "unevaluatedProperties"))
_BY_KEYWORD: Mapping[str, ArgumentFault] = {
    "required": "missing_required",
    "type": "wrong_type",
    "additionalProperties": "unknown_property",
    "unevaluatedProperties": "unknown_property",
}


class UnusableSchema(ValueError):
    """A schema that nothing can be checked against; `code` says why."""

    def __init__(self, code: SchemaFault, message: str) -> None:
        super().__init__(message)
        self.code: SchemaFault = code


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which arguments do not fit, and where, in words."""

    code: ArgumentFault
    detail: str


class ArgumentSchema:
    """A compiled schema; UnusableSchema if `schema` is none, or refers to something outside itself.

    Any value may be given as `schema`: logs hold what clients sent. The draft is the one that `$schema` names, else
    2020-12. `format` is not checked.
    """

    def __init__(self, schema: object) -> None:
        if not isinstance(schema, Mapping):
            raise UnusableSchema("schema_invalid", "a schema is an object")
        remote = next((each for each in references(schema) if not each.startswith("#")), None)
        if remote is not None:
            raise UnusableSchema("remote_reference", f"{remote[:DETAIL_LIMIT]!r} leads out of the schema")
        if _deeper_than(MAX_DEPTH, schema):
            raise UnusableSchema("schema_invalid", f"more than {MAX_DEPTH} levels")
        if any(isinstance(part.get("$id"), str) for part in parts(schema) if part is not schema):
            raise UnusableSchema("schema_invalid", "it embeds another document, with a $id of its own")
        self._validator = _compiled(dict(schema))
        self._steps = StepCounter(schema)
        self._locator = _compiled(_spelt_out(dict(schema)))

    def violations(self, arguments: Mapping[str, Any]) -> list[Violation]:
        """How `arguments` (JSON values, no lone surrogates) do not fit: the first of each code; none if they do.

        Unknown properties are looked for once all else fits: only then is it settled which branches hold.
        """
        if self._steps.exceeds(MAX_STEPS, arguments):
            return [Violation("too_costly", f"checking them takes more than {MAX_STEPS} steps")]
        found: dict[ArgumentFault, Violation] = {}
        for error in islice(self._validator.iter_errors(arguments), MAX_ERRORS):
            code = _code(error)
            found.setdefault(code, Violation(code, _detail(error)))
        return list(found.values()) or self._unknown(arguments)

    def _unknown(self, arguments: Mapping[str, Any]) -> list[Violation]:
        reached: dict[str, list[str]] = defaultdict(list)
        for unit in self._locator.evaluate(arguments).list()["details"]:
            reached[unit["instanceLocation"]].append(unit["evaluationPath"])
        pointer = next(_unknown_properties(arguments, reached), None)
        if pointer is None:
            return []
        return [Violation("unknown_property", f"{pointer[:DETAIL_LIMIT]} is not in the schema")]


def references(schema: object) -> Iterator[str]:
    """Every reference that stands anywhere in `schema`."""
    for part in parts(schema):
        yield from (part[key] for key in REFERENCES if isinstance(part.get(key), str))


def _deeper_than(limit: int, value: Any) -> bool:
    level = [value]
    for _ in range(limit):
        level = [inner for each in level if isinstance(each, Mapping | list) for inner in _inner(each)]
    return any(isinstance(each, Mapping | list) for each in level)


def _compiled(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(schema, offline=True, pattern_options=_PATTERNS)
    except (ValueError, TypeError) as fault:  # its own ValidationError is a ValueError too
        raise UnusableSchema("schema_invalid", str(fault).partition("\n")[0][:DETAIL_LIMIT]) from None


def _spelt_out(schema: Any) -> Any:
    """The same schema with `{}` for `true` where that allows further properties: only so are they reported on."""
    match schema:
        case dict():
            return {key: _spelt_out_member(key, value) for key, value in schema.items()}
        case list():
            return [_spelt_out(each) for each in schema]
    return schema


def _spelt_out_member(key: str, value: Any) -> Any:
    if key in _FURTHER_PROPERTIES and value is True:
        return {}
    if key in _MAPS_OF_SCHEMAS and isinstance(value, dict):
        return {name: _spelt_out(each) for name, each in value.items()}
    return value if key in _DATA else _spelt_out(value)


def _inner(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, Mapping) else value


def _code(error: jsonschema_rs.ValidationError) -> ArgumentFault:
    """The code of an error; of failed alternatives, the code that all of them share."""
    kind = error.kind
    alternatives = getattr(kind, "context", None) or []
    codes = {_code(inner) for branch in alternatives for inner in branch}
    return codes.pop() if len(codes) == 1 else _BY_KEYWORD.get(kind.name, "schema_violation")


def _detail(error: jsonschema_rs.ValidationError) -> str:
    pointer = "".join(f"/{part}" for part in error.instance_path)
    return f"{pointer or 'the arguments'}: {error.message}"[:DETAIL_LIMIT]


def _unknown_properties(arguments: Mapping[str, Any], reached: Mapping[str, list[str]]) -> Iterator[str]:
    """Pointers of the properties that no schema reached, within objects that some schema describes.

    `reached`: by a value's JSON pointer, where in the schema the evaluation passed over it.
    """
    pending: list[tuple[str, Any]] = [("", arguments)]
    while pending:
        at, value = pending.pop()
        if at and _is_free(reached.get(at, [])):
            continue
        inner = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, each in inner:
            pointer = f"{at}/{_escaped(key)}"
            if isinstance(key, str) and pointer not in reached:
                yield pointer
            elif isinstance(each, dict | list):
                pending.append((pointer, each))


def _is_free(paths: list[str]) -> bool:
    """Whether the schemas that reached a value say nothing of it, or name it whole.

    Each schema leaves its own path and one for each of its keywords below that.
    """
    known = set(paths)
    keywords = [path for path in paths if any(head in known for head in _heads(path))]
    return not keywords or any(path.endswith(("/const", "/enum")) for path in keywords)


def _heads(path: str) -> Iterator[str]:
    """The paths above `path`, nearest first."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _escaped(key: str | int) -> str:
    return key.replace("~", "~0").replace("/", "~1") if isinstance(key, str) else str(key)
