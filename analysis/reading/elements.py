"""Calls as elements: `<function=NAME>`, `<invoke name="NAME">` and `<function name="NAME">` with their parameters."""

from dataclasses import dataclass, replace

from analysis.reading import Damages, Scan, TextCall, damages, partial, skip_blanks
from analysis.reading.json_values import read_arguments
from analysis.reading.parameters import read_parameters
from analysis.reading.tags import CALL_END, FUNCTION, FUNCTION_NAME, FUSED, INVOKE, LEGACY_NAME, PARAMETER, VALUE_TOKEN

_LISTS = ("<arguments>", "<parameters>", "<args>", "<input>", "<tool_input>")
_LIST_END = "</parameters>"
_QUOTES = ("`", '"', "'", "”", "»")
"""Behind a tag, they close a quotation of it."""


@dataclass(frozen=True, slots=True)
class Element:
    """One call read from an element; `style` says how its arguments stood: json, parameters, children, raw or none."""

    call: TextCall
    damage: Damages
    style: str
    namespace: str = ""

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.call.end


@dataclass(frozen=True, slots=True)
class _Head:
    """An opening tag: the call's name, where it begins and ends, and what closes the element."""

    name: str
    start: int
    end: int
    closers: tuple[str, ...]
    namespace: str = ""


def read_function(scan: Scan, at: int) -> Element | None:
    """The `<function=NAME>`, `<function name="NAME">` or `<function><name>NAME</name>` element at `at`."""
    head = FUNCTION.match(scan.folded, at)
    if head is None:
        return _fused(scan, at) or _children(scan, at)
    if head["self"]:
        return Element(TextCall(head["name"], {}, at, head.end()), frozenset(), "none")
    fused = scan.folded[head.end() - 1] != ">"
    lost = damages(None if head["lt"] else "opener_missing", "fused" if fused else None)
    return _with(_element(scan, _Head(head["name"], at, head.end(), ("</function>",))), lost)


def read_invoke(scan: Scan, at: int) -> Element | None:
    """The `<invoke>` element at `at`."""
    head = INVOKE.match(scan.folded, at)
    if head is None:
        return None
    prefix, name, start = head["ns"] or "", head["name"], head.end()
    noise = damages(
        "noise" if head["noise"] or scan.folded[start - 1] != ">" else None,
        "wrong_header" if name and scan.folded[head.start("name") - 1] not in "\"'" else None,
        None if head["lt"] else "opener_missing",
    )
    if name is None:
        legacy = LEGACY_NAME.match(scan.folded, start)
        if legacy is None:
            return None
        name, start = legacy[1], legacy.end()
    if head["self"]:
        return Element(TextCall(name, {}, at, head.end()), noise, "none", prefix.strip())
    closers = (f"</{prefix}invoke>", "</invoke>", f"</{prefix}tool_use>", "</tool_use>")
    return _with(_element(scan, _Head(name, at, start, closers, prefix.strip())), noise)


def _with(element: Element | None, damage: Damages) -> Element | None:
    return replace(element, damage=element.damage | damage) if element and damage else element


def _fused(scan: Scan, at: int) -> Element | None:
    """The function's and the first parameter's header run together: read from the parameter on."""
    head = FUSED.match(scan.folded, at)
    if head is None:
        return None
    token = VALUE_TOKEN.search(scan.folded, head.end())
    scan.charge((token.end() if token else len(scan.text)) - at)
    if token is None:
        return Element(TextCall(head["name"], None, at, scan.end), damages("fused", "cut"), "parameters")
    arguments = {head["key"]: scan.text[head.end() : token.start()].strip("\r\n")}
    after = token.end() if token["close"] else token.start()
    end = _past(scan.folded, after, ("</function>",)) or after
    return Element(TextCall(head["name"], arguments, at, end, arguments, typed=False), damages("fused"), "parameters")


def _children(scan: Scan, at: int) -> Element | None:
    """`<name>NAME</name>` with JSON in `<arguments>`, or with parameters; in `<function>` or not."""
    head = FUNCTION_NAME.match(scan.folded, at)
    if head is None:
        return None
    position = head.end()
    wrapped = next((tag for tag in _LISTS if scan.folded.startswith(tag, position)), "")
    if not (wrapped or head[0].startswith("<function>")):
        return None
    closers = (f"</{wrapped[1:]}", "</function>") if wrapped else ("</function>",)
    element = _element(scan, _Head(head["name"], at, position + len(wrapped), closers))
    if element is None:
        return None
    end = _past(scan.folded, element.end, ("</function>",)) if wrapped else element.end
    call = replace(element.call, end=end or element.end)
    style = "named" if element.style == "json" else element.style
    return Element(call, element.damage | {"wrong_header"}, style)


def _element(scan: Scan, head: _Head) -> Element | None:
    first = skip_blanks(scan.folded, head.end)
    if scan.folded.startswith("{", first):
        found = _json_element(scan, head, first)
        if found:
            return found
    read = read_parameters(scan, head.end, head.closers, attributes=not scan.folded.startswith("=", head.start + 9))
    call = TextCall(head.name, read.value, head.start, read.end, read.closed, typed=False)
    if "cut" in read.damage:
        return Element(replace(call, end=scan.end), read.damage, read.style, head.namespace)
    after = _past(scan.folded, read.end, head.closers)
    if after is None:
        return _unclosed(scan, head, call, read.damage, read.style)
    exact = scan.folded.startswith(head.closers[0], after - len(head.closers[0]))
    wrong = damages(None if exact else "wrong_closer")
    return Element(replace(call, end=after), read.damage | wrong, read.style, head.namespace)


def _unclosed(scan: Scan, head: _Head, call: TextCall, damage: Damages, style: str) -> Element | None:
    """No closer stands where the parameters end: another one does, the text ends, or the body is something else."""
    position = skip_blanks(scan.folded, call.end)
    if position >= len(scan.text) or partial(scan, position, head.closers[0]):
        end = scan.end
        whole = call.arguments if call.closed else None
        return Element(replace(call, arguments=whole, end=end), damage | {"cut"}, style, head.namespace)
    other = VALUE_TOKEN.match(scan.folded, position)
    if call.closed or (other and not other["close"]):
        if other and other["end"]:
            return Element(replace(call, end=other.end()), damage | {"wrong_closer"}, style, head.namespace)
        return Element(call, damage | {"closer_missing"}, style, head.namespace)
    return _raw(scan, head)


def _raw(scan: Scan, head: _Head) -> Element | None:
    """A body that is no list of parameters: the call is there, its arguments are not told."""
    if scan.folded.startswith(_QUOTES, head.end):
        return None
    closer = CALL_END.search(scan.folded, head.end)
    scan.charge(4 * ((closer.end() if closer else len(scan.text)) - head.end))
    if closer:
        own = scan.folded.startswith(head.closers, closer.start())
        call = TextCall(head.name, None, head.start, closer.end() if own else closer.start())
        return Element(call, damages("wrong_header", None if own else "closer_missing"), "raw", head.namespace)
    begins_line = scan.folded.startswith(("\n", "\r\n"), head.end) and head.name in scan.names
    if not (begins_line or "DSML" in head.namespace):
        return None
    call = TextCall(head.name, None, head.start, scan.end)
    return Element(call, damages("wrong_header", "cut"), "raw", head.namespace)


def _json_element(scan: Scan, head: _Head, first: int) -> Element | None:
    read = read_arguments(scan, first)
    if read is None:
        return None
    call = TextCall(head.name, read.value, head.start, read.end, read.closed, arguments_text=read.text)
    if "cut" in read.damage:
        return Element(call, read.damage, "json", head.namespace)
    after = _past(scan.folded, read.end, head.closers)
    if after is None and read.value is None:
        return None
    missing = damages(None if after else "closer_missing")
    return Element(replace(call, end=after or read.end), read.damage | missing, "json", head.namespace)


def _past(text: str, at: int, closers: tuple[str, ...]) -> int | None:
    """The end of one of `closers` that stands at `at`, behind blanks and the closer of a list of parameters."""
    position = skip_blanks(text, at)
    if text.startswith(_LIST_END, position):
        position = skip_blanks(text, position + len(_LIST_END))
    return next((position + len(closer) for closer in closers if text.startswith(closer, position)), None)


def opens_parameter(scan: Scan, at: int) -> bool:
    """True if a parameter's tag stands at `at`, behind blanks."""
    return PARAMETER.match(scan.folded, skip_blanks(scan.folded, at)) is not None
