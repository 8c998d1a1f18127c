"""How sure it is that a reading is a leak: whom it calls, and where it stands."""

import re
from collections.abc import Mapping

from analysis.detectors import Tier
from analysis.evidence.standing import Standing
from analysis.output import Output
from analysis.reading import Reading

PLACEHOLDERS = frozenset(
    {
        "name",
        "NAME",
        "tool_name",
        "function_name",
        "tool",
        "function",
        "identifier",
        "IDENT",
        "TOOL",
        "my_tool",
        "my_function",
        "example_function",
        "example_function_name",
        "your_function",
        "your_tool",
        "ToolName",
        "toolName",
        "functionName",
        "some_tool",
        "foo",
        "bar",
        "xyz",
        "x",
    }
)
"""Names that stand for any name."""
_LOOSE_WORDS = ("</function>", "</parameter>", "</param>", "</invoke>", "</arg_key>", "<arg_key>")
"""Closers that occur in other XML: alone they say nothing."""
_FRAMED = frozenset({"client_tag_is_tool", "react_text", "calling_tool_text", "pythonic_list"})
"""Families without tokens of their own whose frame is more than a name and some JSON."""
_TAG = re.compile(r"<[^<>]{1,64}>")


def tier(output: Output, text: str, reading: Reading, where: Standing, *, reasoning: bool) -> Tier | None:
    """The tier of `reading` in `text`; None where it is no leak at all. What is not known of the request lowers it
    later, for every detector alike."""
    if where.coded or where.quoted:
        return None
    if reading.calls and all(call.name in PLACEHOLDERS - output.offered_names for call in reading.calls):
        return None
    found = _tier(output, text, reading, where)
    return _in_reasoning(output, reading, where, found) if found and reasoning else found


def _tier(output: Output, text: str, reading: Reading, where: Standing) -> Tier | None:
    if not reading.calls:
        return _without_call(output, text, reading, where)
    known = output.tools is not None
    offered = any(call.name in output.offered_names for call in reading.calls)
    if reading.marked:
        return _marked(reading, known, offered, where)
    return _shape(output, reading, where, offered)


def _marked(reading: Reading, known: bool, offered: bool, where: Standing) -> Tier | None:
    if offered:
        return _marked_offered(reading, where)
    if where.inline or where.announced or (where.after and not where.line_start):
        return "possible" if not where.inline else None
    if known:
        return "possible" if where.after else "likely"
    return "certain"


def _marked_offered(reading: Reading, where: Standing) -> Tier | None:
    if "stripped" in reading.damage and (where.inline or (where.announced and not where.line_start)):
        return None
    if where.announced and (where.inline or where.after or not where.line_start):
        return "possible"
    return "likely" if where.inline or where.announced else "certain"


def _shape(output: Output, reading: Reading, where: Standing, offered: bool) -> Tier | None:
    """Without markup only an offered name counts, where a call can stand: at the end of the text. A reply that is
    nothing but a JSON call counts for any name, a tier lower."""
    if output.calls or output.tools == ():
        return None
    if not _fits(output, reading):
        return None
    if not offered:
        plain = where.whole and reading.family == "bare_json_offered_tool" and not reading.fenced
        return "likely" if plain and _told(reading) and not _names_alone(reading) else None
    if _names_alone(reading):
        return "likely" if where.whole else None
    if reading.family == "react_text":
        return "likely"  # two headed lines are more than a shape
    if not where.line_start and where.trailing and reading.damage & {"stripped", "fused"}:
        return "likely"
    after = where.after and "cut" not in reading.damage
    if not where.line_start or after:
        framed = reading.family in _FRAMED and not reading.damage and where.line_start and not where.announced
        return "likely" if framed else "possible" if where.line_start or where.whole else None
    if where.announced and not reading.fenced:
        return "possible"
    return "certain" if where.whole else "likely"


def _fits(output: Output, reading: Reading) -> bool:
    """False where the arguments of a call without markup share no name with the tool's schema: then it is JSON about
    something that bears the tool's name."""
    properties = {tool.name: (tool.parameters or {}).get("properties") for tool in output.tools or ()}
    for call in reading.calls:
        known = properties.get(call.name)
        if isinstance(known, Mapping) and call.arguments and not set(call.arguments) & set(known):
            return not known or len(reading.calls) > 1
    return True


def _names_alone(reading: Reading) -> bool:
    return reading.family == "bare_json_offered_tool" and all(
        call.end - call.start <= len(call.name) + 3 for call in reading.calls
    )


def _told(reading: Reading) -> bool:
    return all(call.arguments is not None for call in reading.calls)


def _without_call(output: Output, text: str, reading: Reading, where: Standing) -> Tier | None:
    """An opening at the very end, or closers there; elsewhere markup without a call is talk about markup."""
    if where.after or output.tools == ():
        return None
    if "orphan" in reading.damage:
        return _orphans(text[reading.start : reading.end], where)
    if where.announced and not where.line_start:
        return None
    if "cut" in reading.damage:
        return "likely" if where.line_start or where.trailing else "possible"
    return "likely"


def _orphans(markup: str, where: Standing) -> Tier | None:
    parts = _TAG.findall(markup)
    loose = bool(parts) and all(part in _LOOSE_WORDS for part in parts)
    if not where.line_start and (where.announced or not where.trailing):
        return None
    if loose and len(parts) < 2:
        return "possible"
    return "likely"


def _in_reasoning(output: Output, reading: Reading, where: Standing, tier: Tier) -> Tier | None:
    """A model that thinks about a call and then acts or answers has not leaked it."""
    if output.calls or where.after:
        return None
    if output.content and output.content.strip():
        plain = not reading.marked and reading.family not in _FRAMED
        return "possible" if plain or where.announced else "likely"
    return tier
