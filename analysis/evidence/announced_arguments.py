"""A fence that holds the arguments of a call whose name stands in the words before it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.evidence.commitment import commitments
from analysis.evidence.standing import standing
from analysis.json_values import UnreadableJson, bounded_json
from analysis.markdown import Region
from analysis.output import Output
from analysis.reading import Reading
from analysis.reading.json_names import named

BEFORE = 2_000
"""Characters before the fence in which the tool is announced."""
_INFO = re.compile(r"[ \t]*(?:[`~]{3,})[ \t]*(?:json[5c]?)?[ \t]*\r?\n", re.IGNORECASE)
_ANSWER = re.compile(r"\b(?:results?|response|output|returns?|returned|answer|reply|config\w*|file)\b", re.IGNORECASE)
_ADVICE = re.compile(r"\byou (?:can|could|may|might|should|would|need to|have to|must)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Announced:
    """The tool's name, the arguments as JSON, and where the fence stands."""

    name: str
    arguments: str
    start: int
    end: int


def announced_arguments(output: Output, text: str) -> Announced | None:
    """The arguments in the only fence of `text`, if a first person announces the call of an offered tool before it."""
    first = min((at for at in (text.find("```"), text.find("~~~")) if at >= 0), default=-1)
    before = text[max(0, first - BEFORE) : max(0, first)]
    if not any(name in before for name in output.offered_names):
        return None
    said = [found.name for found in commitments(before, 0, output.offered_names)]
    fences = [region for region in output.content_code if region.kind == "fence"] if said else []
    if len(fences) != 1:
        return None
    arguments = _arguments(text, fences[0], said[-1])
    if not arguments or _instructs(text, fences[0], before) or not _fits(output, said[-1], arguments):
        return None
    told = json.dumps(arguments, ensure_ascii=False)
    return Announced(said[-1], told, fences[0].start, len(text[: fences[0].end].rstrip()))


def _arguments(text: str, fence: Region, name: str) -> Mapping[str, Any] | None:
    """The object that the fence holds and nothing else; of one that is a call of `name`, its arguments."""
    block = text[fence.start : fence.end]
    info = _INFO.match(block)
    body = block[info.end() :].rstrip().rstrip("`~").strip() if info else ""
    try:
        value = bounded_json(body) if body.startswith("{") else None
    except UnreadableJson:
        return None
    calls = named(value, {name})
    if calls is not None:
        return calls[0].arguments if len(calls) == 1 and calls[0].name == name else None
    return value if isinstance(value, dict) else None


def _instructs(text: str, fence: Region, before: str) -> bool:
    """The words tell the reader what to do, or the line before the fence announces an example or an answer."""
    reading = Reading("bare_json_offered_tool", fence.start, fence.end, (), marked=False, fenced=True)
    where = standing(text, reading, (fence,))
    lead = before.rstrip().rsplit("\n", 1)[-1]
    return where.announced or where.quoted or bool(_ANSWER.search(lead)) or bool(_ADVICE.search(before))


def _fits(output: Output, name: str, arguments: Mapping[str, Any]) -> bool:
    """Every member is a property of the tool's schema, where the source tells one."""
    schema = next((tool.parameters for tool in output.tools or () if tool.name == name), None)
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return not isinstance(properties, Mapping) or set(arguments) <= set(properties)
