"""What stands within a wrapper: the body tells the family, since many families share a tag."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from analysis.reading import Damages, Scan, TextCall, damages, skip_blanks, union
from analysis.reading.braces import read_pairs
from analysis.reading.elements import Element, read_function, read_invoke
from analysis.reading.json_calls import read_json_calls, read_lost_head
from analysis.reading.json_values import read_json
from analysis.reading.labelled import read_labelled
from analysis.reading.named_bodies import read_named
from analysis.reading.pythonic import NAME, read_list

Kind = Literal[
    "json", "list", "function", "function_json", "invoke", "children", "pythonic", "braces", "pairs", "separated",
    "name_args", "name_json", "name", "nothing",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Body:
    """The calls of a wrapper, how they were written, where they end."""

    kind: Kind
    calls: tuple[TextCall, ...]
    end: int
    damage: Damages = frozenset()
    fenced: bool = False


_FENCE = re.compile(r"```[\w-]{0,20}+[ \t]*+\n?")
_FENCE_END = re.compile(r"\s*```")
_CUT_JSON = re.compile(r"[\[{\s]*+(?:[\"']|\Z)")
_INNER_TAG = re.compile(r"<tool_code>\s*")
_BRACES = re.compile(rf"(?:call|declaration):(?:default_api:)?(?P<name>{NAME})(?=[{{(])")
_CUT_HEADS: dict[Kind, re.Pattern[str]] = {
    "function": re.compile(
        r"<(?:f|fu|fun|func|funct|functi|functio|function(?:=[^<>\n]{0,128}|\s+name=?[^<>\n]{0,128})?)\Z"
    ),
    "invoke": re.compile(r"<(?:[|\w :]{0,24})?invoke(?:\s[^<>\n]{0,140})?\Z"),
}  # fmt: skip
_HEAD_LIMIT = 200
"""Characters of an element's head that the text may end in."""

_EFFORT = 10
"""Steps that trying all readers takes."""


def read_body(scan: Scan, at: int, *, inner: bool = False) -> Body | None:
    """The body that begins at `at`; None if no call and no cut one stands there. A fence or a tag around the calls
    may stand within a wrapper (`inner` is for what stands in those)."""
    position = skip_blanks(scan.folded, at)
    if not scan.charge(position - at, _EFFORT):
        return None
    if position >= len(scan.text):
        return Body("nothing", (), position, damages("cut"))
    around = None if inner else _FENCE.match(scan.folded, position) or _INNER_TAG.match(scan.folded, position)
    if around:
        return _within(scan, around)
    for reader in _READERS:
        body = reader(scan, position)
        if body is not None:
            return body
    return None


def _within(scan: Scan, around: re.Match[str]) -> Body | None:
    body = read_body(scan, around.end(), inner=True)
    if body is None:
        return None
    if around[0].startswith("`"):
        closing = _FENCE_END.match(scan.folded, body.end)
        return replace(body, end=closing.end() if closing else body.end, fenced=True)
    end = skip_blanks(scan.folded, body.end)
    after = end + len("</tool_code>") if scan.folded.startswith("</tool_code>", end) else body.end
    return replace(body, end=after, damage=body.damage | {"noise"})


def _functions(scan: Scan, at: int) -> Body | None:
    return _elements(scan, at, read_function, "function")


def _invokes(scan: Scan, at: int) -> Body | None:
    return _elements(scan, at, read_invoke, "invoke")


def _elements(scan: Scan, at: int, read: Callable[[Scan, int], Element | None], kind: Kind) -> Body | None:
    """One element after the other, blanks between."""
    found: list[Element] = []
    position = at
    while scan.charge(0, _EFFORT) and (element := read(scan, position)) is not None:
        if found and _opened_twice(found[-1], element):
            found[-1] = replace(element, damage=element.damage | {"noise"})
        else:
            found.append(element)
        position = skip_blanks(scan.folded, element.end)
        if "cut" in element.damage:
            break
    if not found:
        return _cut_head(scan, at, kind)
    styles = {element.style for element in found}
    shown: Kind = "function_json" if kind == "function" and styles == {"json"} else kind
    shown = "json" if styles == {"named"} else "children" if kind == "invoke" and styles == {"children"} else shown
    return Body(shown, tuple(each.call for each in found), found[-1].end, union(each.damage for each in found))


def _opened_twice(first: Element, second: Element) -> bool:
    """True if `first` is nothing but the header that `second` repeats."""
    bare = first.style == "none" and "closer_missing" in first.damage and not first.call.closed
    return bare and first.call.name == second.call.name


def _cut_head(scan: Scan, at: int, kind: Kind) -> Body | None:
    """The text ends in an element's head."""
    text = scan.folded
    if len(text) - at < _HEAD_LIMIT and _CUT_HEADS[kind].match(text.rstrip(), at):
        return Body(kind, (), len(text), damages("cut"))
    return None


def _json(scan: Scan, at: int) -> Body | None:
    if scan.text[at] not in "{[":
        return None
    found = read_json_calls(scan, at)
    if found is None:
        read = read_json(scan, at)
        cut = read is not None and read.cut and _CUT_JSON.match(scan.text, at) is not None
        return Body("json", (), read.end, read.damage) if read and cut else None
    return Body("list" if scan.text[at] == "[" else "json", *found)


def _pythonic(scan: Scan, at: int) -> Body | None:
    found = read_list(scan, at)
    return None if found is None else Body("pythonic", *found)


def _braces(scan: Scan, at: int) -> Body | None:
    head = _BRACES.match(scan.folded, at)
    pairs = read_pairs(scan, head.end()) if head else None
    if head is None or pairs is None:
        return None
    arguments, closed, end, damage = pairs
    wrong = damages("wrong_header" if scan.text[head.end()] == "(" or head[0][0] == "d" else None)
    return Body("braces", (TextCall(head["name"], arguments, at, end, closed),), end, damage | wrong)


def _lost_head(scan: Scan, at: int) -> Body | None:
    found = read_lost_head(scan, at)
    return None if found is None else Body("json", (found[0],), found[1], found[2])


def _named(scan: Scan, at: int) -> Body | None:
    found = read_named(scan, at)
    return None if found is None else Body(found.kind, (found.call,), found.call.end, found.damage)


def _labelled(scan: Scan, at: int) -> Body | None:
    found = read_labelled(scan, at)
    return Body("json", (found.call,), found.call.end, found.damage) if found and found.labelled else None


_READERS: tuple[Callable[[Scan, int], Body | None], ...] = (
    _functions,
    _invokes,
    _json,
    _braces,
    _named,
    _pythonic,
    _lost_head,
    _labelled,
)
