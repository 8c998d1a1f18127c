"""A wrapper and its body: `<tool_call>…</tool_call>` and its kin, read as data says."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from analysis.reading import Damage, Damages, Reading, Scan, damages, skip_blanks
from analysis.reading.bodies import Body, read_body
from analysis.reading.held import Literals


@dataclass(frozen=True, slots=True)
class Wrapper:
    """An opening token and what may follow it.

    `opens` is a pattern over the folded text; `exact` are its own spellings (none: it always is a look-alike, as the
    tag of no family; "*": all that it matches). `families` maps the kind of a body to the family it shows; a kind
    that is missing is no call. `closes` is a pattern; None where the grammar has no closer. `open_ended` are families
    under this tag that have none. `bare`: the opening token alone at the end of the text is a cut call.
    `odd` are kinds of bodies that the family has in no template: a header is wrong or missing.
    `sign` stands in every opening: a text without it is not searched.
    """

    opens: re.Pattern[str]
    exact: tuple[str, ...]
    families: Mapping[str, str]
    closes: re.Pattern[str] | None = None
    open_ended: frozenset[str] = frozenset()
    bare: bool = False
    odd: frozenset[str] = frozenset()
    sign: str = ""


def tag(name: str, suffix: str = "") -> re.Pattern[str]:
    """The opening tag `<name>`, also without its first character where no other word stands before it, or without its
    last one before a body. `suffix` is a pattern of what may follow the name."""
    # the name first and what is before it then: looking back from every character takes ten times as long
    alone = rf"{name}(?<![\w<|:;/&\[]{name})"
    return re.compile(rf"<{name}{suffix}(?:>|(?=\s*+[\n{{])(?=\s*+[{{<]))|{alone}{suffix}>")


def closing(name: str) -> re.Pattern[str]:
    """The closing tag `</name>`, or what is left of it at the end of the text."""
    cut = "|".join(re.escape(f"</{name}"[:length]) for length in range(len(name) + 2, 2, -1))
    return re.compile(rf"</{name}>|(?:{cut})(?=\s*\Z)")


FOREIGN = re.compile(
    r"\s*(?:</think>|</thinking>|</arg_value>|</tools?>|</(?:[a-z]{1,16}:)?tool_calls?>|</(?:[a-z]{1,16}:)?function_calls?>|"
    r"</function>|</invoke>|</user>|<end_of_tool_call>|</TOOLCALL>|</tool_response>)"
)
"""Closers of other families that are met in place of a wrapper's own."""
_BLANKS = re.compile(r"(?:\\n|\s)*+")


class Wrappers:
    """Several wrappers, of which a text is searched for those alone whose signs it holds."""

    def __init__(self, wrappers: Sequence[Wrapper]) -> None:
        self._wrappers = wrappers
        self._signs = Literals(wrapper.sign for wrapper in wrappers if wrapper.sign)

    def read(self, scan: Scan) -> Iterator[Reading]:
        """Every stretch that one of them opens, one wrapper after the other."""
        held = {"", *self._signs.held(scan.folded)}
        for wrapper in self._wrappers:
            if wrapper.sign in held:
                yield from _read_wrapped(scan, wrapper)


def _read_wrapped(scan: Scan, wrapper: Wrapper) -> Iterator[Reading]:
    """Every stretch that `wrapper` opens, in order. Openings right before its own are `noise` of it."""
    position, begin = 0, -1
    while (opening := wrapper.opens.search(scan.folded, position)) is not None:
        if not scan.charge(opening.end() - position):
            return
        repeated = begin >= 0 and skip_blanks(scan.folded, position) == opening.start()
        begin = begin if repeated else opening.start()
        position = opening.end()
        body = read_body(scan, opening.end())
        reading = _reading(scan, wrapper, opening, body) if body else None
        if reading and begin < reading.start:
            reading = replace(reading, start=begin, damage=reading.damage | {"noise"})
        if reading:
            yield reading
            position, begin = max(position, reading.end), -1


def _reading(scan: Scan, wrapper: Wrapper, opening: re.Match[str], body: Body) -> Reading | None:
    if body.kind == "nothing":
        if not wrapper.bare:
            return None
        family = next(iter(wrapper.families.values()))
        return Reading(family, opening.start(), len(scan.text), (), damages("cut"))
    family = wrapper.families.get(body.kind, "")
    if not family or not (wrapper.exact or body.calls):
        return None
    end, closed = _close(scan, wrapper, body)
    closed = closed - {"closer_missing"} if family in wrapper.open_ended else closed
    spelling = scan.text[opening.start() : opening.end()].strip()
    wrong = damages(None if spelling in wrapper.exact or "*" in wrapper.exact else _spelt(spelling))
    odd = damages("wrong_header" if body.kind in wrapper.odd else None)
    return Reading(family, opening.start(), end, body.calls, body.damage | closed | wrong | odd, fenced=body.fenced)


def _spelt(spelling: str) -> Damage:
    """What is wrong with an opening that is not spelt as it should be."""
    if "\\" in spelling:
        return "escaped"
    if not spelling.startswith(("<", "[")):
        return "opener_missing"
    return "look_alike" if spelling.endswith((">", "]")) else "fused"


def _close(scan: Scan, wrapper: Wrapper, body: Body) -> tuple[int, Damages]:
    """The end with the closer, and what is wrong with it."""
    if "cut" in body.damage:
        return len(scan.text), frozenset()
    if wrapper.closes is None:
        return body.end, frozenset()
    blanks = _BLANKS.match(scan.folded, body.end)
    position = blanks.end() if blanks else body.end
    close = wrapper.closes.match(scan.folded, position)
    if close:
        whole = close[0].endswith((">", "]"))
        return close.end(), damages(None if whole else "closer_missing")
    foreign = FOREIGN.match(scan.folded, body.end)
    if foreign:
        return foreign.end(), damages("wrong_closer")
    return body.end, damages("closer_missing")
