"""What contaminated structured calls were meant to be: the offered name in the debris, arguments without it, and the
calls and parameters that ran into one argument."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.evidence.contamination import (
    BEFORE_JSON,
    DEEPEST,
    fused,
    in_key,
    name_within,
    own_closers,
    piece,
)
from analysis.evidence.typed import typed
from analysis.evidence.wire import DEBRIS, MESSAGE_END
from analysis.grammars import readings
from analysis.output import Call, OfferedTool
from analysis.reading import TextCall
from analysis.reading.json_names import named

_START = re.compile(rf"\s*(?:{DEBRIS})")
_TOKENS_FIRST = re.compile(r"(?:<[|｜][^<>]{1,40}[|｜]?>|\[[A-Z_]{3,20}\]|</?[\w:]{1,32}>|[\s\[({<>\"'])*+")
_NAME = re.compile(r"[^\W\d][\w.:/-]*+")
_JSON_END = re.compile(r"\"?\s*[}\]]{1,3}\Z")
_FRAMES = (
    ("</parameter>", "<function={name}>\n<parameter={key}>\n{text}\n</parameter>\n</function>"),
    ("</parameter>", '<invoke name="{name}">\n<parameter name="{key}">{text}</parameter>\n</invoke>'),
    (
        "</arg_value>",
        "<tool_call>{name}\n<arg_key>{key}</arg_key>\n<arg_value>{text}</arg_value>\n</tool_call>",
    ),
    ("</{key}>", "<{name}>\n<{key}>{text}"),
)
"""The frame that a value stood in, by the closer that it holds."""
_HEADS = ("{text}", "<tool_call>{text}\n</tool_call>", "<function={text}\n</parameter>\n</function>")
"""What may have stood before a name that holds its arguments too."""
_NOTHING = object()


def meant(calls: tuple[Call, ...], names: frozenset[str], tools: Sequence[OfferedTool] = ()) -> tuple[Call, ...]:
    """The structured calls without debris; those left out that tell no name."""
    return tuple(found for call in calls for found in _meant(call, names, tools))


def _meant(call: Call, names: frozenset[str], tools: Sequence[OfferedTool]) -> Iterator[Call]:
    value, rest = _value(call.arguments)
    if not call.name.strip():
        for each in named(value, names) or () if value is not _NOTHING else ():
            yield Call(each.name, None if each.arguments is None else json.dumps(each.arguments, ensure_ascii=False))
        return
    name = call.name if call.name in names else _name(call.name, names)
    if not name:
        return
    within = _in_the_name(call.name, name) if name != call.name and (value is _NOTHING or not value) else None
    if within:
        yield _told(within, tools)
    else:
        parted = _parted(value, name, names) if isinstance(value, dict) else None
        if parted:
            yield _typed(name, _cleaned(parted[0], "", name, 0), tools)
            yield from (_told(each, tools) for each in parted[1])
        else:
            yield _call(name, None if value is _NOTHING else _cleaned(value, "", name, 0))
    yield from (_told(each, tools) for each in _calls(rest, names))


def _call(name: str, arguments: Any) -> Call:
    return Call(name, None if arguments is None else json.dumps(arguments, ensure_ascii=False))


def _typed(name: str, arguments: Mapping[str, Any], tools: Sequence[OfferedTool]) -> Call:
    schema = next((tool.parameters for tool in tools if tool.name == name), None)
    return _call(name, typed(arguments, schema))


def _told(call: TextCall, tools: Sequence[OfferedTool]) -> Call:
    if call.arguments is None or call.typed:
        return _call(call.name, call.arguments)
    return _typed(call.name, call.arguments, tools)


def _calls(text: str, names: frozenset[str]) -> list[TextCall]:
    """The calls of offered tools that `text` tells whole, or parts of."""
    found = readings(text, names) if text.strip() else []
    return [
        call
        for reading in found
        for call in reading.calls
        if call.name in names and (call.arguments is not None or call.closed)
    ]


def _in_the_name(text: str, name: str) -> TextCall | None:
    """The call that a structured name holds together with its arguments."""
    for head in _HEADS:
        found = _calls(head.format(text=text), frozenset({name}))
        if len(found) == 1 and (found[0].arguments or found[0].closed):
            return found[0]
    return None


def _parted(
    value: Mapping[str, Any], name: str, names: frozenset[str]
) -> tuple[Mapping[str, Any], list[TextCall]] | None:
    """The arguments with those that ran into one of them, and the calls that did; None where nothing did."""
    for key, text in value.items():
        if not isinstance(text, str) or not fused(text, key):
            continue
        for closer, frame in _FRAMES:
            if closer.format(key=key) not in text:
                continue
            found = _calls(frame.format(name=name, key=key, text=text), names | {name})
            if found and found[0].name == name and key in found[0].closed:
                return {**value, **found[0].closed}, found[1:]
    return None


def _name(text: str, names: frozenset[str]) -> str | None:
    """The longest offered name that stands in `text` as a word; where no tools are known, the first word."""
    own = name_within(text, names)
    if own:
        return text[own[0] : own[1]]
    found = [name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]
    if names:
        return max(found, key=len, default=None)
    lead = _TOKENS_FIRST.match(text)
    word = _NAME.match(text.removeprefix("functions."), lead.end() if lead else 0)
    return word[0].removesuffix(":") if word else None


def _value(arguments: str | None) -> tuple[Any, str]:
    """The JSON value of the arguments, debris before it or not, and the text behind it."""
    text = (arguments or "{}").lstrip()
    before = BEFORE_JSON.match(text)
    text = text[before.end() :] if before else text
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return _NOTHING, ""
    return value, text[end:]


def _cleaned(value: Any, key: str, tool: str, depth: int) -> Any:
    """`value` without debris in its keys and at the edges of its strings."""
    if depth > DEEPEST:
        return value
    if isinstance(value, str):
        return _text(value, (key, tool)) if piece(value, (key, tool)) else value
    if isinstance(value, list):
        return [_cleaned(each, key, tool, depth + 1) for each in value]
    if isinstance(value, dict):
        return {_key(name): _cleaned(each, name, tool, depth + 1) for name, each in value.items()}
    return value


def _key(text: str) -> str:
    debris = in_key(text)
    if not debris:
        return text
    before = text.removesuffix(debris).strip()
    return before or re.sub(r"\A(?:<[^<>]{0,40}>|<?parameter(?:=|\s+name=\"?))", "", debris).strip('<>" ')


def _text(text: str, own: tuple[str, ...]) -> str:
    """A value without debris at its edges; the line ends that Qwen's template puts within its tags go with them."""
    closers = re.compile(rf"(?:{DEBRIS}|{MESSAGE_END}|{own_closers(own)}|\nObservation:)\s*\Z")
    first = _START.match(text)
    if first and first.end() < len(text):
        text = text[first.end() :].removeprefix("\n") if "<parameter=" in first[0] else text[first.end() :]
    inner = ""
    while (found := closers.search(text, max(0, len(text) - 400))) is not None:
        text, inner = text[: found.start()], found[0]
    if inner and text.count('"') % 2:
        text = _JSON_END.sub("", text.rstrip())
    return text.removesuffix("\n") if inner.startswith("</") and "DSML" not in inner else text
