"""The tags of a tool call as Qwen and Hermes models write it, wherever they stand outside Markdown code.

    <tool_call> </tool_call> <function=NAME> </function> <parameter=KEY> </parameter>

Nothing is asked of their order: what is looked for is a call that came out as text, or what is left of one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from analysis.markdown import Region, outside
from ingest.records import Kind

LITERALS = ("<tool_call>", "</tool_call>", "<function=", "</function>", "<parameter=", "</parameter>")
"""A text with none of these holds no tag."""

# A tag that the end of the text cuts is one, too.
_TAG = re.compile(
    r"<(?P<closes>/)?(?:(?P<envelope>tool_call)|(?P<function>function)|(?P<parameter>parameter))"
    r"(?(closes)>|(?(envelope)>|=(?P<name>[^<>\n]*+)(?:>|\Z)))"
)
_JSON_NAME = re.compile(r'\s*+\{\s*+"name"\s*+:\s*+"([^"\\\n]++)"')

Part = Literal["envelope", "function", "parameter"]


@dataclass(frozen=True, slots=True)
class Tag:
    """Code points [start, end) of a text; `name` is that of an opening function or parameter."""

    part: Part
    closes: bool
    start: int
    end: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class TaggedCall:
    """What the tags of a text amount to: the first call in it, or, without any opening tag, the closing ones."""

    kind: Kind
    family: str | None
    tool: str | None
    start: int
    end: int


def tags_outside(text: str, code: Sequence[Region]) -> list[Tag]:
    """The tags of `text` that start outside the `code` regions, in order."""
    starts = (match.start() for match in _TAG.finditer(text))
    return [tag for at in outside(starts, code) if (tag := _tag_at(text, at))]


def first_call(text: str, tags: Sequence[Tag]) -> TaggedCall | None:
    """The first call that the `tags` of `text` open, else the closing tags, from the first to the last; None of none.

    A call ends with the last closing tag of its function or envelope before the next call opens; without one it was
    cut, and runs to the end of the text.
    """
    opening = next((at for at, tag in enumerate(tags) if not tag.closes), None)
    if opening is None:
        return TaggedCall("orphan_markup", None, None, tags[0].start, tags[-1].end) if tags else None
    return _call(text, _of_one_call(tags[opening:]))


def _tag_at(text: str, at: int) -> Tag | None:
    match = _TAG.match(text, at)
    if match is None:
        return None
    part: Part = "envelope" if match["envelope"] else "function" if match["function"] else "parameter"
    return Tag(part, match["closes"] is not None, at, match.end(), match["name"] or None)


def _of_one_call(tags: Iterable[Tag]) -> list[Tag]:
    """The leading tags that belong to one call: up to its last closer, if the call is closed at all."""
    call: list[Tag] = []
    closed_by = 0
    for tag in tags:
        if closed_by and not tag.closes:
            break
        call.append(tag)
        if tag.closes and tag.part != "parameter":
            closed_by = len(call)
    return call[:closed_by] if closed_by else call


def _call(text: str, tags: Sequence[Tag]) -> TaggedCall:
    closed = tags[-1].closes and tags[-1].part != "parameter"
    function = next((tag for tag in tags if tag.part == "function" and not tag.closes), None)
    json_name = _JSON_NAME.match(text, tags[0].end) if tags[0].part == "envelope" else None
    family = "qwen3_coder_xml" if function else "hermes_json" if json_name else None
    return TaggedCall(
        kind=_kind(tags, closed=closed, function=function is not None),
        family=family,
        tool=function.name if function else json_name[1] if json_name else None,
        start=tags[0].start,
        end=tags[-1].end if closed else len(text.rstrip()),
    )


def _kind(tags: Sequence[Tag], *, closed: bool, function: bool) -> Kind:
    """Well formed is an envelope around one function, or around something else than function markup."""
    if not closed:
        return "truncated_call"
    frame = [(tag.part, tag.closes) for tag in tags if tag.part != "parameter"]
    inner = [("function", False), ("function", True)] if function else []
    balanced = sum(1 if not tag.closes else -1 for tag in tags if tag.part == "parameter") == 0
    whole = [("envelope", False), *inner, ("envelope", True)]
    return "leaked_call" if frame == whole and balanced else "malformed_call"
