"""leakdown@1: the call grammars of fifty families, judged by where the markup stands and whom it calls."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from analysis.detectors import TIERS, Channel, Detector, Example, Finding, Tier
from analysis.evidence.contamination import SIGNS, debris
from analysis.evidence.kinds import kind_of, reason
from analysis.evidence.meant import meant
from analysis.evidence.narration import COLONS, Narrated, narrated
from analysis.evidence.own_fences import without_own_fences
from analysis.evidence.standing import Standing, standings
from analysis.evidence.tiers import tier
from analysis.evidence.typed import typed
from analysis.grammars import grammars, readings
from analysis.markdown import code_regions
from analysis.markers import MARKUP_LIMIT
from analysis.output import Call, OfferedTool, Output
from analysis.reading import Reading, TextCall
from analysis.reading.edges import may_go_on, whole_names
from ingest.records import Kind


@dataclass(frozen=True, slots=True)
class _Candidate:
    reading: Reading
    channel: Channel
    tier: Tier
    kind: Kind
    reason: str


def _find(output: Output) -> Finding | None:
    found = [*_in_text(output, "content"), *_in_text(output, "reasoning")]
    best = min(found, key=lambda each: (TIERS.index(each.tier), each.channel != "content"), default=None)
    contaminated = _contaminated(output)
    if contaminated and (best is None or best.channel == "reasoning" or best.tier == "possible"):
        return contaminated
    told = narrated(output) if best is None or best.tier == "possible" else None
    if told:
        return _told(output, told)
    if best is None:
        return None
    same = [each for each in found if each.channel == best.channel and each.tier != "possible"] or [best]
    return _finding(output, min(same, key=lambda each: each.reading.start), same)


def _in_text(output: Output, channel: Channel) -> Iterator[_Candidate]:
    text = output.content if channel == "content" else output.reasoning
    if not text:
        return
    found = readings(text, output.offered_names)
    if not found:
        return
    code = output.content_code if channel == "content" else code_regions(text)
    apart = without_own_fences(text, found, code)
    for reading, where in zip(found, standings(text, found, apart), strict=True):
        candidate = _judged(output, text, reading, channel, where)
        if candidate:
            yield candidate


def _judged(output: Output, text: str, reading: Reading, channel: Channel, where: Standing) -> _Candidate | None:
    found = tier(output, text, reading, where, reasoning=channel == "reasoning")
    if found is None:
        return None
    return _Candidate(reading, channel, found, kind_of(output, reading, where), reason(output, reading, where, channel))


def _finding(output: Output, first: _Candidate, same: Sequence[_Candidate]) -> Finding:
    text = (output.content if first.channel == "content" else output.reasoning) or ""
    reading = first.reading
    calls = [
        (call, output.finish_reason == "length" and may_go_on(text, each.reading, call))
        for each in sorted(same, key=lambda each: each.reading.start)
        for call in whole_names(text, each.reading, output.offered_names)
    ]
    return Finding(
        kind=first.kind,
        family=reading.family,
        tier=min((each.tier for each in same), key=TIERS.index),
        tool=calls[0][0].name if calls else None,
        channel=first.channel,
        start=reading.start,
        end=reading.end,
        markup=text[reading.start : reading.end][:MARKUP_LIMIT],
        reason=first.reason,
        calls=tuple(_call(call, output.tools or (), stopped=stopped) for call, stopped in calls),
    )


def _call(call: TextCall, tools: Iterable[OfferedTool], *, stopped: bool) -> Call:
    """`stopped`: the length stopped the model in the call, so that more parameters may have been to come."""
    if call.arguments is None or (stopped and not call.typed):
        return Call(call.name, None)
    schema = next((tool.parameters for tool in tools if tool.name == call.name), None)
    arguments = call.arguments if call.typed else typed(call.arguments, schema)
    return Call(call.name, json.dumps(arguments, ensure_ascii=False, default=str))


_WHERE = {"tool_name": "name", "tool_arguments": "arguments"}


def _contaminated(output: Output) -> Finding | None:
    found = debris(output.calls, output.offered_names)
    if found is None:
        return None
    channel: Channel = "tool_name" if found.channel == "tool_name" else "tool_arguments"
    return Finding(
        kind="contaminated_call",
        family=None,
        tier="certain" if output.tools is None or found.name in output.offered_names else "likely",
        tool=found.name or None,
        channel=channel,
        start=found.start,
        end=found.end,
        markup=found.text[:MARKUP_LIMIT],
        reason=f"markup of the wire format stands in a structured call's {_WHERE[channel]}",
        calls=meant(output.calls, output.offered_names, output.tools or ()),
    )


def _told(output: Output, told: Narrated) -> Finding:
    text = (output.content if told.channel == "content" else output.reasoning) or ""
    return Finding(
        kind=told.kind,
        family="narrated",
        tier="likely",
        tool=told.name,
        channel=told.channel,
        start=told.start,
        end=told.end,
        markup=text[told.start : told.end][:MARKUP_LIMIT],
        reason=told.reason,
        calls=(Call(told.name, told.arguments),) if told.name else (),
    )


def _triggers() -> tuple[str, ...]:
    anchors = {anchor for grammar in grammars() for anchor in grammar.anchors}
    return tuple(
        sorted(anchors | {"|>", "[ARGS]", '"name"', "'name'", '"tool"', '"tool_name"', '"function"', '"action"'})
    )


_TOOLS = (OfferedTool("read_file", {"type": "object", "properties": {"path": {"type": "string"}}}),)
_LEAK = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n</tool_call>'

LEAKDOWN = Detector(
    name="leakdown",
    version=1,
    summary="Calls of fifty families, whole, damaged, cut, stripped or printed, where a call can stand; all channels.",
    source="the call syntax of public parsers and reports (docs/detectors.md)",
    triggers=_triggers(),
    by_name=True,
    endings=COLONS,
    call_triggers=(*SIGNS, "|>", "｜>", "json"),
    find=_find,
    leaks=(
        Example("a whole call after narration", Output(f"I will read it.\n{_LEAK}", tools=_TOOLS), _LEAK),
        Example(
            "the opening is lost",
            Output(_LEAK.removeprefix("<tool_call>\n"), tools=_TOOLS),
            _LEAK.removeprefix("<tool_call>\n"),
        ),
        Example("cut in the arguments", Output(_LEAK[:50], tools=_TOOLS), _LEAK[:50]),
        Example(
            "in the reasoning, with nothing said", Output(None, f"I should read it.\n{_LEAK}", tools=_TOOLS), _LEAK
        ),
    ),
    clean=(
        Example("quoted in a fence", Output(f"It looks so:\n```\n{_LEAK}\n```\nNothing runs.", tools=_TOOLS)),
        Example("named in a code span", Output("The tag `<tool_call>` opens a call.", tools=_TOOLS)),
        Example("explained in prose", Output("The parser expects <function=identifier> here.", tools=_TOOLS)),
        Example("a JSON answer that is no call", Output('{"name": "Ada", "age": 36}', tools=_TOOLS)),
    ),
)
