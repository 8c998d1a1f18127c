"""How sure it is that a reading is a leak: whom it calls, and where it stands."""

import re
from collections.abc import Mapping
from typing import Any

from analysis.detectors import Tier
from analysis.evidence.standing import Standing
from analysis.output import Output
from analysis.reading import Reading, TextCall
from analysis.reading.json_names import ARGUMENT_KEYS

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
ASSENT = 2
"""Blanks in a word of assent."""
LAST = 8
"""Characters before a closer in which a sentence ends."""
_JSON_FIRST = "{[`~\"'("
BARS = "|｜‖"
_FENCE_LINE = re.compile(r"\A[`~]{3,}[^\n]*\n\s*")
_ENDED = re.compile(r"[.!?…。！？][*_\"”’)]*\s*\Z")
_KEYED = re.compile(r"\{\s*\"(?P<key>[^\"\\]{1,128})\"\s*:\s*\{")
_DECLARED = re.compile(r"\{\s*+\"name\"\s*+:\s*+\"[^\"\\]*+\"\s*+,\s*+\"description\"\s*+:")
"""A tool's definition."""
_IDENTIFIER = re.compile(r"[A-Za-z]+(?:(?:_|__|\.)[A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+")
"""A name that is not a word: of JSON that says no more than `parameters` or `input`, the name must tell."""
_TAG = re.compile(r"<[^<>]{1,64}>")


def tier(output: Output, text: str, reading: Reading, where: Standing, *, reasoning: bool) -> Tier | None:
    """The tier of `reading` in `text`; None where it is no leak at all. What is not known of the request lowers it
    later, for every detector alike."""
    if where.coded or where.quoted:
        return None
    if reading.calls and all(call.name in PLACEHOLDERS - output.offered_names for call in reading.calls):
        return None
    silent = reasoning and not (output.content and output.content.strip())
    found = _tier(output, text, reading, where, silent=silent)
    return _in_reasoning(output, reading, where, found) if found and reasoning else found


def _tier(output: Output, text: str, reading: Reading, where: Standing, *, silent: bool) -> Tier | None:
    if not reading.calls:
        return _without_call(output, text, reading, where)
    known = output.tools is not None
    offered = any(call.name in output.offered_names for call in reading.calls)
    if reading.marked:
        return _marked(reading, known, offered, where)
    return _shape(output, text, reading, where, offered, silent=silent)


def _marked(reading: Reading, known: bool, offered: bool, where: Standing) -> Tier | None:
    if offered:
        return _marked_offered(reading, where)
    shown = where.announced or where.introduced or where.discussed
    if where.inline or shown or (where.after and not where.line_start):
        return "possible" if not where.inline else None
    if known:
        return "possible" if where.after else "likely"
    return "certain"


def _marked_offered(reading: Reading, where: Standing) -> Tier | None:
    if "stripped" in reading.damage and (where.inline or (where.announced and not where.line_start)):
        return None
    if (
        where.discussed
        or where.introduced
        or (where.announced and (where.inline or where.after or not where.line_start))
    ):
        return "possible"
    return "likely" if where.inline or where.announced else "certain"


def _shape(output: Output, text: str, reading: Reading, where: Standing, offered: bool, *, silent: bool) -> Tier | None:
    """Without markup only an offered name counts, where a call can stand: at the end of the text. A reply that is
    nothing but a JSON call counts for any name, a tier lower."""
    markup = text[reading.start : reading.end]
    if output.calls or output.tools == () or _DECLARED.search(markup) or not _fits(output, markup, reading):
        return None
    if not offered:
        return _not_offered(output, markup, reading, where)
    if _names_alone(reading):
        return "likely" if where.whole else None
    if _schema_missing(output, markup, reading):
        return "possible"
    if silent and _last_word(reading, where):
        return "certain" if where.line_start else "likely"
    if where.discussed or where.introduced or (where.colon and _lines(markup, reading)):
        return "possible"
    if reading.family == "react_text":
        return "likely"  # two headed lines are more than a shape
    if not where.line_start and where.trailing and where.before and _after_a_word(text, reading, where):
        return "likely"
    if not where.line_start and where.trailing and reading.damage & {"stripped", "fused"}:
        return "likely"
    after = where.after and "cut" not in reading.damage
    if after and where.line_start and where.waiting and not where.announced:
        return "likely"
    if not where.line_start or after:
        framed = reading.family in _FRAMED and not reading.damage and where.line_start and not where.announced
        return "likely" if framed else "possible" if where.line_start or where.whole else None
    if (where.announced or where.led) and not reading.fenced:
        return "possible"
    if (
        reading.fenced
        and reading.family in ("pythonic_list", "client_tag_is_tool")
        and where.before
        and not where.working
    ):
        return "possible"  # code of a language is mostly shown
    return "certain" if where.whole else "likely"


def _after_a_word(text: str, reading: Reading, where: Standing) -> bool:
    """A whole JSON call behind the one sentence of a first person at work, or behind a word of assent."""
    before = text[: reading.start].strip()
    plain = reading.family == "bare_json_offered_tool" and "cut" not in reading.damage and _told(reading)
    short = "\n" not in before and bool(_ENDED.search(before[-LAST:])) and (where.working or before.count(" ") < ASSENT)
    return plain and short and not where.announced


def _not_offered(output: Output, markup: str, reading: Reading, where: Standing) -> Tier | None:
    """A client's tag, or a reply that is nothing but JSON which can hardly be anything else than a call."""
    if reading.family == "client_tag_is_tool":
        return _habit(reading, where)
    plain = where.whole and reading.family == "bare_json_offered_tool" and not reading.fenced
    if not plain or not _told(reading) or _names_alone(reading):
        return None
    if output.tools is None and '"arguments"' in markup:
        return "certain"
    is_call = '"arguments"' in markup or all(_IDENTIFIER.fullmatch(call.name) for call in reading.calls)
    return "likely" if is_call else None


def _habit(reading: Reading, where: Standing) -> Tier | None:
    """A whole tag of a client that is not this one, as the last thing said: the model learnt it elsewhere."""
    told = _told(reading) and all(call.arguments for call in reading.calls) and "cut" not in reading.damage
    stands = where.line_start or where.trailing
    return "likely" if told and stands and not (where.after or where.announced or where.led) else None


def _last_word(reading: Reading, where: Standing) -> bool:
    """A whole JSON call, name and arguments, that ends a turn which says nothing."""
    plain = reading.family == "bare_json_offered_tool" and "cut" not in reading.damage
    return plain and _told(reading) and not where.after and not where.announced


def _fits(output: Output, markup: str, reading: Reading) -> bool:
    """False where the arguments of no call without markup share a name with its tool's schema: then it is JSON about
    something that bears the tool's name. Behind a label, which may be anything, all names must be the schema's."""
    properties = {tool.name: (tool.parameters or {}).get("properties") for tool in output.tools or ()}
    strict = reading.family == "bare_json_offered_tool" and _first(markup) not in _JSON_FIRST
    return any(_fit(call, properties.get(call.name), strict=strict) for call in reading.calls)


def _lines(markup: str, reading: Reading) -> bool:
    """Labelled lines or code rather than JSON: what a colon leads up to is mostly shown."""
    return (
        "wrong_header" in reading.damage
        and _first(markup) not in _JSON_FIRST
        and (reading.fenced or reading.family == "bare_json_offered_tool")
    )


def _schema_missing(output: Output, markup: str, reading: Reading) -> bool:
    """No schema tells whether names that stand where arguments may are arguments."""
    if reading.family != "bare_json_offered_tool" or any(
        isinstance((tool.parameters or {}).get("properties"), Mapping) for tool in output.tools or ()
    ):
        return False
    if any(f'"{key}"' in markup for key in ARGUMENT_KEYS):
        return False
    keyed = _KEYED.match(markup.lstrip("[ \n"))
    by_key = keyed is not None and any(call.name == keyed["key"] for call in reading.calls)
    return "wrong_header" in reading.damage or by_key


def _first(markup: str) -> str:
    """The first sign of what is printed, within its fence."""
    return _FENCE_LINE.sub("", markup)[:1]


def _fit(call: TextCall, known: Any, *, strict: bool) -> bool:
    if not isinstance(known, Mapping) or not call.arguments:
        return True
    own = set(call.arguments)
    return not known or (own <= set(known) if strict else bool(own & set(known)))


def _names_alone(reading: Reading) -> bool:
    return reading.family == "bare_json_offered_tool" and all(
        call.end - call.start <= len(call.name) + 3 for call in reading.calls
    )


def _told(reading: Reading) -> bool:
    return all(call.arguments is not None for call in reading.calls)


def _without_call(output: Output, text: str, reading: Reading, where: Standing) -> Tier | None:
    """An opening at the very end, or closers there; elsewhere markup without a call is talk about markup."""
    if output.tools == ():
        return None
    if "orphan" in reading.damage and _glued(text, reading):
        return "likely"
    if "orphan" in reading.damage and where.after:
        return "likely" if _between(text, reading, where) else None
    if where.after:
        return None
    if "orphan" in reading.damage:
        return _orphans(text, reading, where)
    if where.announced and not where.line_start:
        return None
    if "cut" in reading.damage:
        return "likely" if where.line_start or where.trailing else "possible"
    return "likely"


def _glued(text: str, reading: Reading) -> bool:
    """A token in bars between the letters of running text: nobody who speaks of it writes it so. (Scripts without
    blanks between words have no cased letters, and there one does.)"""
    around = text[max(0, reading.start - 2) : reading.start] + text[reading.end : reading.end + 2]
    cased = all(each.lower() != each.upper() for each in around)
    return len(around) == 4 and cased and any(bar in text[reading.start : reading.end] for bar in BARS)


def _between(text: str, reading: Reading, where: Standing) -> bool:
    """Closers on lines of their own between two paragraphs, or before the first one, that do not speak of them."""
    if where.discussed or where.led or where.colon or where.announced:
        return False
    ended = not where.before or _ENDED.search(text, max(0, reading.start - LAST), reading.start)
    if text[reading.start : reading.start + 2] in ("<|", "<｜"):
        hangs = not text[reading.start - 1 : reading.start].isspace() and text[reading.end : reading.end + 1] != " "
        return bool(ended) and hangs
    if not where.line_start:
        return False
    closers = text[reading.start : reading.end].startswith("</") and not _loose(text, reading, 2)
    return bool(ended) and closers and text[reading.end : reading.end + 2].strip(" \r")[:1] == "\n"


def _loose(text: str, reading: Reading, fewest: int) -> bool:
    """Fewer than so many tags, all of which other XML has too."""
    parts = _TAG.findall(text[reading.start : reading.end])
    return bool(parts) and all(part in _LOOSE_WORDS for part in parts) and len(parts) < fewest


def _orphans(text: str, reading: Reading, where: Standing) -> Tier | None:
    if not where.line_start and (where.announced or not where.trailing):
        return None
    if where.led:
        return "possible"
    hangs = where.before and _ENDED.search(text, max(0, reading.start - LAST), reading.start)
    if _loose(text, reading, 2) and not (hangs and "<" not in text[: reading.start]):
        return "possible"
    return "likely"


def _in_reasoning(output: Output, reading: Reading, where: Standing, tier: Tier) -> Tier | None:
    """A model that thinks about a call and then acts or answers has not leaked it."""
    if output.calls or where.after:
        return None
    if output.content and output.content.strip():
        plain = not reading.marked and reading.family not in _FRAMED
        return "possible" if plain or where.announced or where.led or where.colon else "likely"
    return tier
