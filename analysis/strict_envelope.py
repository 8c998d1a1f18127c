"""The envelope that a guided retry writes its calls in, read without repair.

    <tool_call>[{"name": NAME, "parameters": {…}}, …]</tool_call>

Source: Foundry Local, what its retry accepts (an array of objects with exactly these two members between the two
markers; a tool without parameters has `name` alone).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from analysis.json_values import JsonFault, UnreadableJson, strict_json

OPENER = "<tool_call>"
END_MARKER = "</tool_call>"
FIELDS = ("name", "parameters")
ALIASES = frozenset(
    ("arguments", "args", "params", "input", "kwargs", "function", "function_name", "tool", "tool_name", "tool_args")
)
"""Members that lenient readers take for one of `FIELDS`."""

EnvelopeFault = Literal[
    "opener_missing",
    "end_marker_missing",
    "singleton_shorthand",
    "not_a_list",
    "call_not_object",
    "field_missing",
    "alias_field",
    "unknown_field",
    "wrong_field_type",
]
"""
`singleton_shorthand`: one call object stands where the array of calls should.
`alias_field`: a member of `ALIASES`; `unknown_field`: any other that is not canonical.
`wrong_field_type`: a name that is no string, or parameters that are no object.
"""


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with an envelope; `call` is the place of the call at fault, None for the envelope as such."""

    code: EnvelopeFault | JsonFault
    call: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class Envelope:
    """The calls of an envelope as (name, parameters), and its flaws. Without flaws the calls are all that it holds."""

    calls: tuple[tuple[Any, Any], ...]
    flaws: tuple[Flaw, ...]


def read_envelope(raw: str, takes_none: Callable[[str], bool]) -> Envelope:
    """The envelope that is the whole of `raw`; a tool that `takes_none` has `name` as its only field."""
    text = raw.strip(" \t\r\n")
    if flaws := tuple(_missing_markers(text)):
        return Envelope((), flaws)
    try:
        payload = strict_json(text[len(OPENER) : -len(END_MARKER)])
    except UnreadableJson as fault:
        return Envelope((), (Flaw(fault.code, None, str(fault)),))
    match payload:
        case list():
            return _of_items(payload, takes_none)
        case dict():
            return Envelope((), (Flaw("singleton_shorthand", None, "one object stands where an array should"),))
    return Envelope((), (Flaw("not_a_list", None, "the calls are no array"),))


def _missing_markers(text: str) -> Iterator[Flaw]:
    if not text.startswith(OPENER):
        yield Flaw("opener_missing", None, f"it does not begin with {OPENER}")
    if not text.endswith(END_MARKER):
        yield Flaw("end_marker_missing", None, f"it does not end with {END_MARKER}")


def _of_items(items: list[Any], takes_none: Callable[[str], bool]) -> Envelope:
    flaws = tuple(Flaw(code, at, detail) for at, item in enumerate(items) for code, detail in _faults(item, takes_none))
    if flaws:
        return Envelope((), flaws)
    return Envelope(tuple((item["name"], item.get("parameters", {})) for item in items), ())


def _faults(item: Any, takes_none: Callable[[str], bool]) -> Iterator[tuple[EnvelopeFault, str]]:
    if not isinstance(item, dict):
        yield "call_not_object", "a call is an object"
        return
    name = item.get("name")
    if "name" in item and not isinstance(name, str):
        yield "wrong_field_type", "the name is no string"
    if not isinstance(item.get("parameters", {}), dict):
        yield "wrong_field_type", "the parameters are no object"
    alone = isinstance(name, str) and takes_none(name)
    yield from _field_faults(item, FIELDS[:1] if alone else FIELDS)


def _field_faults(item: dict[str, Any], fields: tuple[str, ...]) -> Iterator[tuple[EnvelopeFault, str]]:
    further = [name for name in item if name not in fields]
    aliases = [name for name in further if name in ALIASES]
    if aliases:
        yield "alias_field", f"{aliases[0]} is not canonical"
    if len(further) > len(aliases):
        unknown = next(name for name in further if name not in ALIASES)
        yield "unknown_field", f"{unknown[:100]!r} is not canonical"
    missing = [name for name in fields if name not in item]
    if missing:
        yield "field_missing", f"{' and '.join(missing)} missing"
