"""A batch of tool calls that a guided retry produced: taken whole or refused whole, and nothing is repaired.

The line of Foundry Local: a retry counts only if it is one complete canonical envelope (`analysis.strict_envelope`)
with one or more calls of offered tools in it, no member twice at any depth, and arguments that satisfy the tool's
whole JSON Schema (`analysis.argument_schemas`: a property that the schema does not know is refused).

A log may hold only the structured calls that an engine made of the envelope. They are checked alike; the envelope is
then `not_checkable`, never `ok`. A tool whose schema the source does not hold cannot be shown to be satisfied: its
calls are refused.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from analysis.argument_schemas import ArgumentFault, ArgumentSchema, SchemaFault, UnusableSchema
from analysis.json_values import JsonFault, UnreadableJson, strict_json
from analysis.output import Call, OfferedTool
from analysis.strict_envelope import EnvelopeFault, read_envelope

BatchFault = Literal[
    "no_calls",
    "calls_differ",
    "tools_unknown",
    "tool_not_offered",
    "schema_missing",
    "arguments_missing",
    "arguments_not_object",
]
"""
`no_calls`: there is no structured call.
`calls_differ`: the envelope is whole, but the structured calls are not the ones that it holds.
`tools_unknown`: the source does not tell which tools were offered.
`schema_missing`: the tool was offered, and the source holds no schema of it.
"""

ReasonCode = BatchFault | EnvelopeFault | JsonFault | SchemaFault | ArgumentFault
REASON_CODES: tuple[ReasonCode, ...] = tuple(code for each in get_args(ReasonCode) for code in get_args(each))

EnvelopeState = Literal["ok", "refused", "not_checkable"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason. `call` is the place of the call at fault, from 0; None where the batch as such is at fault."""

    code: ReasonCode
    call: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class StrictResult:
    """`refusals`: each code at most once per call and once for the batch. `envelope`: of the raw text alone."""

    refusals: tuple[Refusal, ...]
    envelope: EnvelopeState

    @property
    def accepted(self) -> bool:
        """Whether the whole batch is taken; where the envelope is not checkable, as far as its calls tell."""
        return not self.refusals


def strict_batch(raw_envelope: str | None, calls: Sequence[Call], tools: Sequence[OfferedTool] | None) -> StrictResult:
    """Check a retry: its text as the model wrote it (None if the source has none) and the structured calls made of it.

    `tools` are those of the request, None where they are unknown; of two with one name the first counts. Answers on
    whatever a log holds, in time that grows with the texts and the schemas of the tools that are called.
    """
    offer = _Offer(tools)
    read = [_arguments(call, offer) for call in calls]
    framing = [] if raw_envelope is None else [*_envelope_refusals(raw_envelope, calls, read, offer)]
    found = [*framing]
    if not calls:
        found.append(Refusal("no_calls", None, "there is no structured call"))
    for at, (call, arguments) in enumerate(zip(calls, read, strict=True)):
        found += [Refusal(code, at, detail) for code, detail in _call_faults(call, arguments, offer)]
    once = {(each.code, each.call): each for each in reversed(found)}
    state: EnvelopeState = "not_checkable" if raw_envelope is None else "refused" if framing else "ok"
    return StrictResult(tuple(reversed(once.values())), state)


_Fault = tuple[ReasonCode, str]


class _Offer:
    """The tools of the request; the schemas of those that are called are compiled, once each."""

    def __init__(self, tools: Sequence[OfferedTool] | None) -> None:
        self.known = tools is not None
        self.schemas = {tool.name: tool.parameters for tool in reversed(tools or ())}
        self._compiled: dict[str, ArgumentSchema | _Fault] = {}

    def takes_none(self, name: str) -> bool:
        """Whether `name` is a tool without parameters."""
        return self.schemas.get(name) == {}

    def schema(self, name: str) -> ArgumentSchema | _Fault:
        """The schema of the tool `name`, or why nothing can be checked against it."""
        if name not in self._compiled:
            self._compiled[name] = self._compile(name)
        return self._compiled[name]

    def _compile(self, name: str) -> ArgumentSchema | _Fault:
        if not self.known:
            return "tools_unknown", "which tools were offered is not known"
        if name not in self.schemas:
            return "tool_not_offered", f"{name[:100]!r} was not offered"
        if self.schemas[name] is None:
            return "schema_missing", f"the source holds no schema of {name[:100]!r}"
        try:
            return ArgumentSchema(self.schemas[name])
        except UnusableSchema as fault:
            return fault.code, str(fault)


def _arguments(call: Call, offer: _Offer) -> dict[str, Any] | _Fault:
    if call.arguments is None:
        return {} if offer.takes_none(call.name) else ("arguments_missing", "the call has no arguments")
    try:
        value = strict_json(call.arguments)
    except UnreadableJson as fault:
        return fault.code, str(fault)
    return value if isinstance(value, dict) else ("arguments_not_object", "the arguments are no object")


def _call_faults(call: Call, arguments: dict[str, Any] | _Fault, offer: _Offer) -> Iterator[_Fault]:
    schema = offer.schema(call.name)
    if isinstance(schema, tuple):
        yield schema
    if isinstance(arguments, tuple):
        yield arguments
    elif isinstance(schema, ArgumentSchema):
        yield from ((each.code, each.detail) for each in schema.violations(arguments))


def _envelope_refusals(
    raw: str, calls: Sequence[Call], read: Sequence[dict[str, Any] | _Fault], offer: _Offer
) -> Iterator[Refusal]:
    envelope = read_envelope(raw, offer.takes_none)
    yield from (Refusal(each.code, each.call, each.detail) for each in envelope.flaws)
    made = [(call.name, arguments) for call, arguments in zip(calls, read, strict=True)]
    if not envelope.flaws and _canonical(envelope.calls) != _canonical(made):
        yield Refusal("calls_differ", None, "the structured calls are not those of the envelope")


def _canonical(calls: Sequence[tuple[str, Any]]) -> str:
    """JSON that tells 1 from true and from 1.0, and does not mind the order of members."""
    return json.dumps([*calls], sort_keys=True)
