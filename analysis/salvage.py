"""The salvager: what can be taken from a leaked call without guessing. Nothing it yields is ever executed.

From whole or cut markup it takes the tool's name and every argument that closed; an argument that the text breaks
off in is dropped, never guessed, and so are a name that the text breaks off in and calls of tools that were not
offered. What is left is validated against the tool's schema: a missing required argument is a corrective error for
the model, not a call.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.argument_schemas import ArgumentSchema, UnusableSchema
from analysis.evidence.typed import typed
from analysis.grammars import readings
from analysis.markdown import outside
from analysis.output import OfferedTool, Output
from analysis.reading import Reading, TextCall
from analysis.reading.cut_arguments import closed_behind
from analysis.reading.json_members import closed_arguments


@dataclass(frozen=True, slots=True)
class Salvaged:
    """A call of an offered tool taken from text. `problem` says why its arguments do not satisfy the tool's schema;
    None if they do, and where the source holds no schema. `whole` is False where an argument was dropped or may have
    been to come."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = True
    problem: str | None = None


def salvage(output: Output) -> tuple[Salvaged, ...]:
    """The calls that can be taken from the content of an output, in order; none where the tools are unknown."""
    text = output.content
    if not text or not output.tools:
        return ()
    offer = _Offer(output.tools)
    taken = (_taken(text, call, cut, offer.tools[call.name]) for call, cut in _calls(text, output, offer))
    return tuple(offer.checked(each) for each in taken if each)


class _Offer:
    """The offered tools, of two with one name the first, and their schemas, compiled once each."""

    def __init__(self, tools: tuple[OfferedTool, ...]) -> None:
        self.tools = {tool.name: tool for tool in reversed(tools)}
        self._schemas: dict[str, ArgumentSchema | str | None] = {}

    def checked(self, call: Salvaged) -> Salvaged:
        """The call with what its tool's schema says of it."""
        if call.name not in self._schemas:
            self._schemas[call.name] = _schema(self.tools[call.name])
        problem = _problem(call.arguments, self._schemas[call.name])
        return Salvaged(call.name, call.arguments, call.whole, problem)


def _schema(tool: OfferedTool) -> ArgumentSchema | str | None:
    """The schema of a tool, or what is wrong with it; None where the source holds none."""
    if tool.parameters is None:
        return None
    try:
        return ArgumentSchema(tool.parameters)
    except UnusableSchema as fault:
        return f"nothing can be checked against the schema of {tool.name}: {fault}"


def _problem(arguments: Mapping[str, Any], schema: ArgumentSchema | str | None) -> str | None:
    if not _is_json(arguments):
        return "the arguments hold what JSON cannot"
    if schema is None or isinstance(schema, str):
        return schema
    return next((each.detail for each in schema.violations(arguments)), None)


def _is_json(arguments: Mapping[str, Any]) -> bool:
    """False for a lone surrogate, for NaN and for the values that only Python's literals have."""
    try:
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError):  # UnicodeEncodeError is a ValueError
        return False
    return True


def _calls(text: str, output: Output, offer: _Offer) -> Iterator[tuple[TextCall, bool]]:
    """The calls of offered tools outside code, and whether the text ends within them."""
    found = readings(text, output.offered_names)
    free = set(outside((reading.start for reading in found), output.content_code))
    for reading in found:
        if reading.start in free or reading.fenced:
            yield from ((call, _is_cut(text, reading, call)) for call in reading.calls if call.name in offer.tools)


def _is_cut(text: str, reading: Reading, call: TextCall) -> bool:
    """True if the arguments break off; elements that the end of the text leaves open may have had more."""
    if call.arguments is None:
        return True
    open_ended = "cut" in reading.damage and call is reading.calls[-1]
    return open_ended and not call.typed and call.end >= len(text.rstrip())


def _taken(text: str, call: TextCall, cut: bool, tool: OfferedTool) -> Salvaged | None:
    if not cut:
        return Salvaged(call.name, _typed(call, call.arguments or {}, tool))
    name_end = text.find(call.name, call.start) + len(call.name)
    if name_end >= len(text):
        return None  # the name may go on
    if call.closed or not call.typed:
        closed = call.closed
    elif text.startswith("{", call.start):
        closed = closed_arguments(text, call.start, call.name)
    else:
        closed = closed_behind(text, call.name, name_end)
    return Salvaged(call.name, _typed(call, closed, tool), whole=False)


def _typed(call: TextCall, arguments: Mapping[str, Any], tool: OfferedTool) -> dict[str, Any]:
    return dict(arguments) if call.typed else typed(arguments, tool.parameters)
