"""What Foundry Local's decoder knows of the tools of a request: which schemas it supports, which values fit them.

A schema is supported if it is an object schema of scalar, array and object properties without `$ref` (our reading; the
seed speaks of a supported schema and says no more): `type` is `object`, every property names one `type`, and neither
the schema nor a property combines others (`anyOf`, `oneOf`, `allOf`, `not`, `if`). Below that only `$ref` is excluded.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import jsonschema_rs

from analysis.argument_schemas import ArgumentSchema, UnusableSchema, references
from analysis.json_values import UnreadableJson, strict_json
from analysis.output import Output

TYPES = frozenset(("string", "number", "integer", "boolean", "null", "array", "object"))
COMBINATIONS = frozenset(("anyOf", "oneOf", "allOf", "not", "if"))

# Models trained on Python write its booleans; the decoder takes them.
_BOOLEANS = {"True": True, "False": False}


ToolCode = Literal["undeclared_tool", "tools_unknown", "schema_missing", "unsupported_schema"]
ValueCode = Literal["unknown_parameter", "duplicate_parameter", "unfit_value", "reserved_framing"]


class UnsupportedTool(ValueError):
    """A tool whose calls the decoder does not take; code and message say why."""

    def __init__(self, code: ToolCode, message: str) -> None:
        super().__init__(message)
        self.code: ToolCode = code


class UnfitValue(ValueError):
    """A value that cannot stand, such as one that does not fit the schema of its parameter."""

    def __init__(self, code: ValueCode, message: str) -> None:
        super().__init__(message)
        self.code: ValueCode = code


class DeclaredTool:
    """A tool of a supported schema; UnsupportedTool for any other."""

    def __init__(self, name: str, schema: object) -> None:
        if not isinstance(schema, Mapping):
            raise UnsupportedTool("schema_missing", f"the source holds no schema of {name}")
        if not _is_supported(schema):
            raise UnsupportedTool("unsupported_schema", f"the schema of {name} is not one that the decoder supports")
        self.required: tuple[str, ...] = tuple(schema.get("required", ()))
        self._whole = _validator(schema)
        self._properties: dict[str, dict[str, Any]] = dict(schema.get("properties", {}))
        self._validators: dict[str, jsonschema_rs.Validator] = {}

    def knows(self, key: str) -> bool:
        """Whether `key` is a declared parameter; `additionalProperties` declares none."""
        return key in self._properties

    def value(self, key: str, text: str) -> Any:
        """The value that `text` is for the declared parameter `key`; UnfitValue if it fits its schema in no way."""
        schema = self._properties[key]
        if key not in self._validators:
            self._validators[key] = _validator(schema)
        try:
            value = _decoded(text, schema["type"])
            fits = self._validators[key].is_valid(value)
        except (UnreadableJson, UnicodeEncodeError):
            fits = False
        if not fits:
            raise UnfitValue("unfit_value", f"the value of {key} does not fit its schema")
        return value

    def takes(self, arguments: dict[str, Any]) -> bool:
        """Whether the whole of `arguments`, each of which fits, satisfies the schema as such."""
        return self._whole.is_valid(arguments)


class DeclaredTools:
    """The tools of a request by name; a schema is looked at when its tool is called, once."""

    def __init__(self, output: Output) -> None:
        self._known = output.tools is not None
        inferred: Iterable[tuple[str, object]] = ((name, None) for name in output.inferred_names)
        offered = ((tool.name, tool.parameters) for tool in reversed(output.tools or ()))
        self._schemas: dict[str, object] = dict(offered if self._known else inferred)
        self._tools: dict[str, DeclaredTool | UnsupportedTool] = {}

    def tool(self, name: str) -> DeclaredTool:
        """The tool `name`; UnsupportedTool if it is not declared or not supported."""
        if name not in self._tools:
            self._tools[name] = self._declared(name)
        found = self._tools[name]
        if isinstance(found, UnsupportedTool):
            raise UnsupportedTool(found.code, str(found))
        return found

    def _declared(self, name: str) -> DeclaredTool | UnsupportedTool:
        """The tool, or why there is none."""
        if name not in self._schemas and self._known:
            return UnsupportedTool("undeclared_tool", f"{name} was not offered")
        if name not in self._schemas:
            return UnsupportedTool("tools_unknown", f"whether {name} was offered is not known")
        try:
            return DeclaredTool(name, self._schemas[name])
        except UnsupportedTool as fault:
            return fault


def _is_supported(schema: Mapping[str, Any]) -> bool:
    properties = schema.get("properties", {})
    return (
        schema.get("type") == "object"
        and COMBINATIONS.isdisjoint(schema)
        and isinstance(properties, Mapping)
        and all(_is_plain(each) for each in properties.values())
        and next(references(schema), None) is None
        and _is_schema(schema)
    )


def _is_plain(schema: object) -> bool:
    if not isinstance(schema, Mapping) or not COMBINATIONS.isdisjoint(schema):
        return False
    kind = schema.get("type")
    return isinstance(kind, str) and kind in TYPES


def _is_schema(schema: Mapping[str, Any]) -> bool:
    try:
        ArgumentSchema(schema)
    except UnusableSchema:
        return False
    return True


def _validator(schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(dict(schema), offline=True)


def _decoded(text: str, kind: str) -> Any:
    """A string as it stands, anything else as JSON."""
    if kind == "string":
        return text
    if kind == "boolean" and text in _BOOLEANS:
        return _BOOLEANS[text]
    return strict_json(text)
