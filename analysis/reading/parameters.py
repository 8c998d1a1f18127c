"""Parameters of a call as elements: `<parameter=k>v</parameter>`, `<parameter name="k">v</parameter>`, `<k>v</k>`."""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.reading import MINIMAX, Damage, Damages, Scan, damages, skip_blanks
from analysis.reading.tags import CHILD, FOLLOWS, FUSED_PARAMETER, PARAMETER, VALUE_TOKEN

_CDATA = re.compile(r"\s*<!\[CDATA\[")
_CDATA_WHOLE = re.compile(r"\s*<!\[CDATA\[(.*)\]\]>\s*\Z", re.DOTALL)
_MARK_BEHIND = re.compile(re.escape(MINIMAX) + r"[ \t]*\Z")
_TAG_LIMIT = 200
"""Characters of a tag that the text may end in."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """All arguments (None if the text ends within), those that were closed, the end, the damage, and how they stood:
    parameters, children or none."""

    value: Mapping[str, Any] | None
    closed: Mapping[str, Any]
    end: int
    damage: Damages
    style: str


@dataclass(frozen=True, slots=True)
class _Value:
    """A parameter's text, where what follows begins, whether it was closed, and the damage."""

    text: str
    end: int
    closed: bool = True
    damage: Damages = frozenset()


def read_parameters(scan: Scan, at: int, closers: tuple[str, ...], *, attributes: bool = True) -> Parameters:
    """What stands from `at` on, up to one of `closers` or to what is no parameter. `attributes`: the family names a
    parameter in an attribute, `<parameter name="k">`."""
    found: dict[str, Any] = {}
    damage: set[Damage] = set()
    style, end = "none", at
    while True:
        position = skip_blanks(scan.folded, end)
        if scan.folded.startswith(closers, position) or not scan.charge(position - end):
            break
        one = _parameter(scan, position, attributes)
        if one is None:
            damage |= {"cut"} if _cut_tag(scan.folded, position) else set()
            end = len(scan.text) if "cut" in damage else end
            break
        key, value, child = one
        style = style if style == "parameters" else "children" if child else "parameters"
        damage |= value[1].damage | ({"wrong_header"} if child and found and style == "parameters" else set())
        end = value[1].end
        if not value[1].closed:
            damage.add("cut")
            break
        found[key] = value[0]
    return Parameters(None if "cut" in damage else found, dict(found), end, frozenset(damage), style)


def _parameter(scan: Scan, at: int, attributes: bool) -> tuple[str, tuple[Any, _Value], bool] | None:
    """Key, value and whether its tag is the key itself; None where no parameter stands."""
    fused = FUSED_PARAMETER.match(scan.folded, at)
    if fused:
        value = _Value(scan.text[fused.start("value") : fused.end("value")], fused.end(), True, damages("fused"))
        return fused["key"], (value.text, value), False
    header = PARAMETER.match(scan.folded, at)
    if header:
        key = (header["k1"] or header["k2"]).strip()
        value = _odd(_value(scan, header.end(), key), scan.folded[at] != "<" or not (attributes or header["k1"]))
        text = value.text.replace("<\u200b", "<") if "DSML" in (header["ns"] or "") else value.text
        return key, (_as_json(text, header["rest"] or ""), value), False
    child = CHILD.match(scan.folded, at)
    if child is None:
        return None
    value = _child_value(scan, child.end(), child["key"])
    return child["key"], (value.text, value), True


def _odd(value: _Value, odd: bool) -> _Value:
    """A value whose tag has another form than the family's."""
    return _Value(value.text, value.end, value.closed, value.damage | {"wrong_header"}) if odd else value


def _cut_tag(text: str, at: int) -> bool:
    """True if the text ends within a tag at `at`."""
    if at >= len(text) or text[at] != "<" or len(text) - at > _TAG_LIMIT:
        return False
    return ">" not in text[at:] and "\n" not in text[at:].rstrip()


def _as_json(value: str, rest: str) -> Any:
    """DSML says with `string="false"` that a value is JSON. (U+200B behind `<` is how it escapes its own signs.)"""
    if 'string="false"' not in rest:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _value(scan: Scan, at: int, key: str) -> _Value:
    """A parameter's value from `at` on. It may hold markup: calls within it are passed whole, and its closer is one
    that is followed by what can follow a parameter."""
    cdata = _cdata(scan, at)
    if cdata is not None:
        return cdata
    own: int | None = None
    looked = at
    ending = _Ending(scan, at)
    for token in VALUE_TOKEN.finditer(scan.folded, at):
        own = _own_closer(scan, at, key, (looked, token.start())) if own is None else own
        looked = token.start()
        if own is not None and not ending.depth:
            break
        if not scan.charge(token.end() - ending.position):
            own = None
            break
        if ending.reached(token):
            return ending.value(token)
    else:
        own = _own_closer(scan, at, key, (looked, len(scan.text))) if own is None else own
    if own is not None:
        return _Value(_trimmed(scan, at, own), own + len(key) + 3, True, damages("wrong_closer"))
    found = ending.loose if ending.inner is None else ending.inner
    if found is not None:
        return _Value(_trimmed(scan, at, found), scan.folded.index(">", found) + 1)
    scan.charge(len(scan.text) - ending.position)
    return _Value(scan.text[at:], len(scan.text), closed=False)


class _Ending:
    """Looks for a value's end, token by token. `inner` is the first closer within a call that the value seems to
    hold, `loose` the first one that nothing fitting follows: they count if no better one comes."""

    def __init__(self, scan: Scan, at: int) -> None:
        self.scan, self.at, self.position = scan, at, at
        self.depth = 0
        self.inner: int | None = None
        self.loose: int | None = None

    def reached(self, token: re.Match[str]) -> bool:
        """True if the value ends at `token`."""
        self.position = token.end()
        if token["call"]:
            self.depth += 1
        elif token["close"]:
            return self._closer(token)
        elif token["end"] and self.depth:
            self.depth -= 1
        elif not self.depth and self.inner is None and self.loose is None:
            return not token["open"] or _opens_the_next(self.scan, self.at, token.start())
        return False

    def _closer(self, token: re.Match[str]) -> bool:
        fits = FOLLOWS.match(self.scan.folded, token.end()) is not None
        if not self.depth:
            self.loose = token.start() if self.loose is None else self.loose
            return fits
        self.inner = token.start() if self.inner is None and fits else self.inner
        return False

    def value(self, token: re.Match[str]) -> _Value:
        """The value that ends at `token`."""
        text = _trimmed(self.scan, self.at, token.start())
        if token["close"]:
            twice = VALUE_TOKEN.match(self.scan.folded, skip_blanks(self.scan.folded, token.end()))
            if twice and twice["close"]:
                return _Value(text, twice.end(), True, damages("noise"))
            return _Value(text, token.end())
        return _Value(text, token.start(), True, damages("wrong_closer"))


def _own_closer(scan: Scan, at: int, key: str, within: tuple[int, int]) -> int | None:
    """Where `</key>` stands within a stretch, if it ends the parameter that began at `at` and not an element of its
    value."""
    own = scan.folded.find(f"</{key}>", *within)
    scan.charge(within[1] - within[0], 0)
    if own < 0 or FOLLOWS.match(scan.folded, own + len(key) + 3) is None:
        return None
    return None if scan.folded.find(f"<{key}", at, own) >= 0 else own


def _cdata(scan: Scan, at: int) -> _Value | None:
    """A value in a CDATA section: its end is the section's, whatever stands in it."""
    head = _CDATA.match(scan.folded, at)
    if head is None:
        return None
    end = scan.folded.find("]]>", head.end())
    scan.charge((end if end >= 0 else len(scan.text)) - at)
    if end < 0:
        return _Value(scan.text[head.end() :], len(scan.text), closed=False)
    closer = VALUE_TOKEN.match(scan.folded, skip_blanks(scan.folded, end + 3))
    after = closer.end() if closer and closer["close"] else end + 3
    return _Value(scan.text[head.end() : end], after, True, damages(None if closer else "closer_missing"))


def _child_value(scan: Scan, at: int, key: str) -> _Value:
    """The value of `<key>…</key>`, elements of the same name within it being passed. `</parameter>` closes it where
    its own closer never comes."""
    opener, closer = f"<{key}>", f"</{key}>"
    text, depth, position = scan.folded, 0, at
    first = -1
    while (end := text.find(closer, position)) >= 0 and scan.charge(end - position):
        first = end if first < 0 else first
        depth += text.count(opener, position, end)
        position = end + len(closer)
        if depth == 0:
            return _Value(_trimmed(scan, at, end), position)
        depth -= 1
    scan.charge(len(text) - position)
    if first >= 0:
        return _Value(_trimmed(scan, at, first), first + len(closer))
    return _closed_as_parameter(scan, at)


def _closed_as_parameter(scan: Scan, at: int) -> _Value:
    token = VALUE_TOKEN.search(scan.folded, at)
    scan.charge((token.start() if token else len(scan.text)) - at)
    if token is None:
        return _Value(scan.text[at:], len(scan.text), closed=False)
    end = token.end() if token["close"] else token.start()
    wrong = damages("wrong_header" if token["close"] else "wrong_closer")
    return _Value(_trimmed(scan, at, token.start()), end, True, wrong)


def _opens_the_next(scan: Scan, start: int, at: int) -> bool:
    """True if the parameter that opens at `at` is the next one, and not part of the value that began at `start`."""
    return scan.folded[at - 1] == "\n" or scan.folded.find("\n", start, at) < 0


def _trimmed(scan: Scan, start: int, end: int) -> str:
    """A value without the one line end on each side that the template puts there; entities and CDATA undone."""
    value = scan.text[start:end]
    value = _MARK_BEHIND.sub("", value) if scan.minimax else value
    cdata = _CDATA_WHOLE.match(value) if "<![CDATA[" in value else None
    if cdata:
        return cdata[1]
    value = value.removeprefix("\r").removeprefix("\n")
    value = value.removesuffix("\n").removesuffix("\r")
    return html.unescape(value) if "&" in value and "<" not in value else value
