"""What the text of a leak holds: the call as its grammar reads it, and whether a parser would have had to take it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.evidence.typed import typed
from analysis.faults import Leaked
from analysis.grammars import readings
from analysis.json_values import UnreadableJson, strict_json
from analysis.output import Call, Output
from analysis.reading import Reading, TextCall
from analysis.strict_batch import ReasonCode, strict_batch

_UNCHECKED: frozenset[ReasonCode] = frozenset({"schema_missing"})
_OFFER: frozenset[ReasonCode] = frozenset({"tools_unknown", "tool_not_offered"})


@dataclass(frozen=True, slots=True)
class Written:
    """A stretch of markup. `calls`: with arguments as JSON, None where the text does not tell the whole of them.
    `codes`: what a strict reader says of the calls."""

    reading: Reading
    calls: tuple[Call, ...]
    codes: frozenset[ReasonCode]

    @property
    def whole(self) -> bool:
        """In its family's own syntax from the first sign to the last: calls, their arguments told, and no damage."""
        told = bool(self.calls) and all(call.arguments is not None for call in self.calls)
        return told and not self.reading.damage

    @property
    def unoffered(self) -> bool:
        """A call of a tool that was not offered, where it is known what was."""
        return "tool_not_offered" in self.codes

    @property
    def unfit(self) -> bool:
        """Arguments that do not fit the schema of their tool."""
        return bool(self.codes - _UNCHECKED - _OFFER)

    @property
    def valid(self) -> bool:
        """Whole, of offered tools, with arguments that fit as far as the record has schemas."""
        return self.whole and not (self.codes - _UNCHECKED)


def leaked_markup(leak: Leaked) -> Written | None:
    """What stands where the finding is: the first stretch there that is a call, else the first one."""
    text = {"content": leak.output.content, "reasoning": leak.output.reasoning}.get(leak.finding.channel)
    found = leak.finding
    there = [
        each
        for each in readings(text or "", leak.output.offered_names)
        if each.start < found.end and found.start < each.end
    ]
    chosen = next((each for each in there if each.calls), there[0] if there else None)
    return written(chosen, leak.output) if chosen else None


def whole_in_raw_text(leak: Leaked, text: Written | None) -> Written | None:
    """The valid call of the raw text that the leak is what is left of: of the same tool, if the leak names one. None
    if there is none, or if it stands beside others that are not valid."""
    found = [written(each, leak.output) for each in readings(leak.raw_text or "", leak.output.offered_names)]
    left = [each for each in found if each.reading.marked and not made_of(each.calls, leak.output.calls)]
    names = {call.name for call in text.calls} if text else set()
    same = [each for each in left if each.calls and (not names or names & {call.name for call in each.calls})]
    return same[0] if same and all(each.valid for each in same) else None


def written(reading: Reading, output: Output) -> Written:
    """A reading with its calls as a strict reader takes them."""
    schemas = {tool.name: tool.parameters for tool in reversed(output.tools or ())}
    calls = tuple(Call(call.name, _arguments(call, schemas.get(call.name))) for call in reading.calls)
    told = [call for call in calls if call.arguments is not None]
    codes = {each.code for each in strict_batch(None, told, output.tools).refusals} if told else set()
    return Written(reading, calls, frozenset(codes - {"no_calls"}))


def made_of(calls: Sequence[Call], structured: Iterable[Call]) -> bool:
    """True if all of `calls`, one at least, are among the structured ones."""
    made = {_canonical(call) for call in structured}
    return bool(calls) and all(_canonical(call) in made for call in calls)


def _arguments(call: TextCall, schema: object) -> str | None:
    if call.arguments is None:
        return None
    known = schema if isinstance(schema, dict) else None
    values = call.arguments if call.typed else typed(call.arguments, known)
    return json.dumps(values, ensure_ascii=False, default=str)


def _canonical(call: Call) -> str:
    """A call as text that does not mind the order of members; broken arguments as they are."""
    try:
        value = strict_json(call.arguments or "{}")
    except UnreadableJson:
        value = call.arguments
    return json.dumps([call.name, value], sort_keys=True)
