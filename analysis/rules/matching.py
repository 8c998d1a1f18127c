"""The rules of a file on one output."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from analysis.detectors import Channel, Finding
from analysis.markdown import Region, code_regions, fences
from analysis.markers import MARKUP_LIMIT
from analysis.output import Call, Output
from analysis.rules import patterns
from analysis.rules.files import Rule, RuleFile, Where

CHANNELS: tuple[Channel, ...] = ("content", "reasoning", "tool_name", "tool_arguments")
COVER = "\ufffc"
"""What a pattern sees in the place of covered text; line ends stay."""
SHOWN = 40
"""Code points of a match in a reason."""


@dataclass(frozen=True)
class Rules:
    """The rules of a file, in their order, each with its pattern."""

    rules: tuple[tuple[Rule, str], ...]

    @classmethod
    def of(cls, file: RuleFile) -> Self:
        """ValueError, which names the rule, for what is no pattern."""
        return cls(tuple((rule, _pattern(rule, at)) for at, rule in enumerate(file.rule, 1)))

    def find(self, output: Output) -> Finding | None:
        """What counts as a leak comes before what is only possible; then the channel decides, then the place, then
        the order of the rules."""
        found = [
            (not finding.leak, CHANNELS.index(finding.channel), finding.start, at, finding)
            for at, (rule, pattern) in enumerate(self.rules)
            if _admits(rule, output)
            for finding in _of_rule(rule, pattern, output)
        ]
        return min(found, key=lambda each: each[:4])[-1] if found else None


def _pattern(rule: Rule, at: int) -> str:
    if rule.pattern is None:
        return patterns.literals(rule.literals)
    try:
        patterns.check(rule.pattern)
    except ValueError as fault:
        raise ValueError(f"rule {at}, pattern: {fault}") from None
    return rule.pattern


def _admits(rule: Rule, output: Output) -> bool:
    """The gates on what stands around the text."""
    return (
        (rule.without_tools or output.may_have_tools)
        and (rule.beside_calls or rule.looks_at_calls or not output.calls)
        and (rule.finish is None or output.finish_reason in rule.finish)
    )


def _of_rule(rule: Rule, pattern: str, output: Output) -> Iterator[Finding]:
    names = output.offered_names if patterns.needs_names(pattern) else frozenset[str]()
    compiled = patterns.compiled(pattern, rule.position, names)
    if compiled is None:
        return
    for channel, text, regions in _texts(rule, output):
        if rule.triggers and not any(each in text for each in rule.triggers):
            continue
        seen = covered(text, regions, rule.where)
        if match := compiled.search(seen):
            yield _finding(rule, channel, text, match, output)


def _texts(rule: Rule, output: Output) -> Iterator[tuple[Channel, str, tuple[Region, ...]]]:
    """The texts of the rule's channels, with their code; beside calls, content and reasoning only where that is
    asked for."""
    words = rule.beside_calls or not output.calls
    if "content" in rule.channels and output.content and words:
        yield "content", output.content, () if rule.where == "anywhere" else output.content_code
    if "reasoning" in rule.channels and output.reasoning and words:
        yield "reasoning", output.reasoning, () if rule.where == "anywhere" else code_regions(output.reasoning)
    for call in output.calls:
        if "tool_name" in rule.channels:
            yield "tool_name", call.name, ()
        if "tool_arguments" in rule.channels and call.arguments:
            yield "tool_arguments", call.arguments, ()


def covered(text: str, regions: tuple[Region, ...], where: Where) -> str:
    """The text as a pattern sees it: as long, with what it may not match covered up."""
    # an encoder that knows no half of a surrogate pair would refuse the text whole
    text = text if text.isascii() else text.encode("utf-8", "replace").decode()
    if where == "anywhere":
        return text
    regions = fences(regions) if where == "outside fences" else regions
    hides_code, pieces, at = where != "inside code", [], 0
    for region in regions:
        before, inside = text[at : region.start], text[region.start : region.end]
        pieces += [before, _cover(inside)] if hides_code else [_cover(before), inside]
        at = region.end
    return "".join([*pieces, text[at:] if hides_code else _cover(text[at:])])


def _cover(text: str) -> str:
    return "".join(char if char in "\r\n" else COVER for char in text)


def _finding(rule: Rule, channel: Channel, text: str, match: Any, output: Output) -> Finding:
    start, end = match.span(1)
    spans = {name: match.span(at) for name, at in match.re.groupindex.items()}
    groups = {name: text[slice(*span)] for name, span in spans.items() if span[0] >= 0}
    tool = groups.get("tool")
    return Finding(
        kind=rule.kind,
        family=rule.family,
        tier=rule.tier,
        tool=tool,
        channel=channel,
        start=start,
        end=end,
        markup=text[start:end][:MARKUP_LIMIT],
        reason=rule.reason or _reason(rule, channel, text[start:end], output),
        calls=(Call(tool, groups.get("arguments")),) if tool else (),
    )


def _reason(rule: Rule, channel: Channel, markup: str, output: Output) -> str:
    """What the rule saw, where it gives no reason of its own."""
    shown = " ".join(markup[:SHOWN].split()) + ("…" if len(markup) > SHOWN else "")
    gates = [
        "" if rule.without_tools else "offered tools unknown" if output.tools is None else "tools offered",
        "" if output.calls else "no structured call",
    ]
    told = ", ".join(gate for gate in gates if gate)
    return f"{shown} stands in the {channel.replace('_', ' ')}, {rule.where}{f' ({told})' if told else ''}"
