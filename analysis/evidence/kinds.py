"""What kind of leak a reading is, and what to tell a person about it."""

from analysis.evidence.standing import Standing
from analysis.output import Output
from analysis.reading import Reading
from ingest.records import Kind

_SHAPE_KIND: dict[str, Kind] = {"bare_json_offered_tool": "printed_call", "mistral_v11_args": "stripped_call"}


def kind_of(output: Output, reading: Reading, where: Standing) -> Kind:
    """What kind of leak a reading is, by the damage that its grammar found."""
    damage = reading.damage
    if "orphan" in damage:
        return "orphan_markup"
    at_end = not where.after
    if "cut" in damage or (damage & {"closer_missing"} and output.finish_reason == "length" and at_end):
        return "truncated_call"
    if not reading.marked and reading.family in _SHAPE_KIND:
        return _SHAPE_KIND[reading.family]
    if "stripped" in damage:
        return "stripped_call"
    return "malformed_call" if damage else "leaked_call"


_DAMAGE_WORDS = {
    "opener_missing": "its opening is missing",
    "closer_missing": "its closing is missing",
    "wrong_closer": "it is closed by another tag",
    "cut": "the text ends inside it",
    "fused": "parts of its frame run together",
    "look_alike": "its tokens stand in look-alike characters",
    "stripped": "its special tokens are gone",
    "escaped": "its frame is escaped",
    "wrong_header": "an inner tag has another form",
    "json_damage": "its JSON is damaged",
    "noise": "other tokens stand in it",
    "orphan": "closers or stray tokens stand there without a call",
}


def reason(output: Output, reading: Reading, where: Standing, channel: str) -> str:
    """One sentence for a person: whom the text calls, in whose syntax, where, and what is wrong with it."""
    wrong = [_DAMAGE_WORDS[each] for each in sorted(reading.damage)]
    tail = f"; {', '.join(wrong)}" if wrong else ""
    return f"{_what(output, reading)} {_place(where)} {channel}{tail}"


def _what(output: Output, reading: Reading) -> str:
    names = ", ".join(dict.fromkeys(call.name for call in reading.calls))
    if not names:
        return f"markup of {reading.family} without a call that can be read"
    if output.tools is None:
        offer = "the offered tools being unknown"
    elif any(call.name in output.offered_names for call in reading.calls):
        offer = "which is offered"
    else:
        offer = "which is not offered"
    return f"a call of {names}, {offer}, in the syntax of {reading.family}"


def _place(where: Standing) -> str:
    if where.whole:
        return "is the whole"
    return "stands on its own in the" if where.line_start else "stands amid other text in the"
