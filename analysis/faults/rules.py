"""The rules, first to last: the first one that has an answer gives it.

They are careful rather than complete. What a decoder or a parser may have done to a text is not held against the
model, unless the raw text shows what the model wrote; and no parser is blamed for anything but a valid call.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from analysis.faults import Code, Fault, FaultOf, Leaked
from analysis.faults.engines import engine_named, engines, families_named, families_read, setting_for
from analysis.faults.evidence import in_words
from analysis.faults.frames import LEFT_OF, ORDINARY, SPECIAL, native_families
from analysis.faults.written import Written, leaked_markup, made_of, whole_in_raw_text

LENGTH = frozenset({"length", "max_tokens", "max_output_tokens", "token_limit", "model_length"})
THINKING = (("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("<seed:think>", "</seed:think>"),
            ("<|START_THINKING|>", "<|END_THINKING|>"))  # fmt: skip
_FRAME = frozenset({"opener_missing", "closer_missing", "orphan"})
"""Damage that a parser can do as well, by taking a part of the call for its own."""

Said = tuple[FaultOf, tuple[Code, ...]] | None


@dataclass(frozen=True)
class _Seen:
    """A leak and what its text and its raw text hold."""

    leak: Leaked

    @cached_property
    def text(self) -> Written | None:
        return leaked_markup(self.leak)

    @cached_property
    def raw(self) -> Written | None:
        return whole_in_raw_text(self.leak, self.text)

    @cached_property
    def confirmed(self) -> bool:
        """The raw text holds the leaked markup as it stands."""
        found, output = self.leak.finding, self.leak.output
        text = output.reasoning if found.channel == "reasoning" else output.content
        return bool(text and self.leak.raw_text) and (text or "")[found.start : found.end] in (self.leak.raw_text or "")

    @cached_property
    def read_by_parser(self) -> frozenset[str]:
        return families_read(self.leak.tool_parser, self.leak.engine)

    @cached_property
    def family(self) -> str | None:
        """The family of the call: as the raw text has it, if that is the whole one."""
        shown = self.raw or self.text
        if shown is None:
            return None
        # a shape without markup is the configured parser's own, if it is one of those that write it
        own = sorted(native_families(shown.reading.family) & self.read_by_parser)
        return own[0] if own else shown.reading.family


def fault(leak: Leaked) -> Fault:
    """Whose fault the leak is, as far as its record shows. Pure, in time that grows with the texts."""
    seen = _Seen(leak)
    of, codes = next(said for rule in _RULES if (said := rule(seen)))
    family = seen.family
    to_set = of in ("parser", "template_and_parser") and family is not None
    return Fault(
        fault=of,
        evidence=codes,
        reason=in_words(codes, family=family, parser=leak.tool_parser, template=leak.template, engine=leak.engine),
        family=family,
        setting=setting_for(leak.engine, family, leak.tool_parser) if to_set and family else None,
    )


def _by_design(seen: _Seen) -> Said:
    return ("unknown", ("calls_are_text",)) if seen.leak.output.call_mode in ("text", "none") else None


def _passed_both(seen: _Seen) -> Said:
    calls = seen.text.calls if seen.text else ()
    return ("parser", ("passed_both",)) if made_of(calls, seen.leak.output.calls) else None


def _uncalled_for(seen: _Seen) -> Said:
    if seen.leak.output.tools == ():
        return "model", ("no_tools_offered",)
    return ("model", ("tool_choice_none",)) if seen.leak.tool_choice == "none" else None


def _in_a_call(seen: _Seen) -> Said:
    if seen.leak.finding.channel in ("content", "reasoning"):
        return None
    if seen.raw:
        return "parser", ("inside_a_structured_call", "raw_text_whole")
    return "unknown", ("inside_a_structured_call",)


def _cut(seen: _Seen) -> Said:
    cut = seen.leak.finding.kind == "truncated_call" or (seen.text is not None and "cut" in seen.text.reading.damage)
    if not cut or seen.raw:
        return None
    if (seen.leak.output.finish_reason or "").lower() in LENGTH:
        return "model", ("cut_at_length",)
    gone = seen.leak.text_fidelity == "truncated" or seen.leak.status in ("cut", "cancelled")
    return ("unknown", ("log_cut",)) if gone else None


def _tools_unknown(seen: _Seen) -> Said:
    return ("unknown", ("tools_unknown",)) if seen.leak.output.tools is None else None


def _raw_text(seen: _Seen) -> Said:
    """The raw text has the whole call, and the client got less than that; or it has nothing of the kind."""
    if seen.leak.raw_text is None:
        return None
    if not seen.raw:
        return None if seen.confirmed else ("unknown", ("raw_text_differs",))
    if seen.text and seen.text.valid and seen.text.reading.family == seen.raw.reading.family:
        return None
    stripped = seen.raw.reading.family in SPECIAL and not _FRAME & (seen.text.reading.damage if seen.text else _FRAME)
    lost: Code = "special_tokens_gone" if stripped else "frame_taken"
    if seen.read_by_parser and seen.family not in seen.read_by_parser:
        return "template_and_parser", ("raw_text_whole", lost, "parser_of_another_family")
    return "parser", ("raw_text_whole", lost)


def _reasoning(seen: _Seen) -> Said:
    if seen.leak.finding.channel != "reasoning":
        return None
    where = seen.raw.reading.start if seen.raw else -1
    before = (seen.leak.raw_text or "")[: max(where, 0)]
    opened = max((before.rfind(opener) for opener, _ in THINKING), default=-1)
    closed = max((before.rfind(closer) for _, closer in THINKING), default=-1)
    if closed > opened:
        return "parser", ("valid_call", "thinking_was_closed")
    return ("model", ("thinking_left_open",)) if opened >= 0 else ("unknown", ("in_reasoning",))


def _no_markup(seen: _Seen) -> Said:
    return None if seen.text else ("unknown", ("no_markup",))


def _unoffered(seen: _Seen) -> Said:
    return ("model", ("name_not_offered",)) if seen.text and seen.text.unoffered else None


def _without_frame(seen: _Seen) -> Said:
    """Special tokens that are gone, and calls that are printed bare."""
    text = seen.text
    if text is None:
        return None
    family = text.reading.family
    if text.valid and native_families(family) & seen.read_by_parser:
        return None
    if text.whole and LEFT_OF.get(family, frozenset()) & seen.read_by_parser:
        return "unknown", ("frame_gone",)
    if text.reading.marked and "stripped" not in text.reading.damage:
        return None
    only = text.reading.damage == {"stripped"} and bool(text.calls)
    if only and text.reading.marked and family in SPECIAL and not seen.confirmed and not text.unfit:
        return "parser", ("special_tokens_gone",)
    return "unknown", ("frame_gone" if "stripped" in text.reading.damage else "printed",)


def _damaged(seen: _Seen) -> Said:
    text = seen.text
    if text is None or text.whole:
        return None
    frame = text.reading.damage <= _FRAME
    broken: Code = "frame_broken" if frame else "markup_broken"
    if seen.confirmed:
        return "model", (broken, "raw_text_same")
    if seen.leak.text_fidelity != "exact":
        return "unknown", (broken, "text_not_exact")
    if frame and text.reading.family not in ORDINARY:
        return "unknown", ("frame_gone",)
    return "model", (broken, "text_exact")


def _unfit(seen: _Seen) -> Said:
    return ("unknown", ("arguments_unfit",)) if seen.text and seen.text.unfit else None


def _valid(seen: _Seen) -> Said:
    """A valid call stayed text."""
    if seen.leak.text_fidelity == "rebuilt":
        return "unknown", ("text_not_exact",)
    family = seen.family or ""
    if not any(each.reader(family) for each in engines()):
        return "unknown", ("no_parser_anywhere",)
    of, why = _parser(seen, family)
    unchecked: tuple[Code, ...] = ("schema_unknown",) if seen.text and seen.text.codes else ()
    raw: tuple[Code, ...] = ("raw_text_whole",) if seen.raw else ()
    beside: tuple[Code, ...] = ("beside_structured_calls",) if seen.leak.output.calls else ()
    return of, ("valid_call", *unchecked, *raw, *beside, *why, *_of_engine(seen, family))


def _parser(seen: _Seen, family: str) -> tuple[FaultOf, tuple[Code, ...]]:
    if family in seen.read_by_parser:
        return "parser", ("parser_of_this_family",)
    if seen.read_by_parser:
        return "template_and_parser", ("parser_of_another_family",)
    if seen.leak.tool_parser:
        return "parser", ("parser_unknown",)
    taught = families_named(seen.leak.template, seen.leak.engine)
    if taught and family not in taught:
        return "template_and_parser", ("parser_not_told", "template_of_another_family")
    return "parser", ("parser_not_told",)


def _of_engine(seen: _Seen, family: str) -> tuple[Code, ...]:
    own = engine_named(seen.leak.engine)
    if own is None:
        return ("engine_unknown",)
    return () if own.reader(family) else ("no_parser_there",)


_RULES: tuple[Callable[[_Seen], Said], ...] = (
    _by_design, _passed_both, _uncalled_for, _in_a_call, _cut, _tools_unknown, _raw_text, _reasoning, _no_markup,
    _unoffered, _without_frame, _damaged, _unfit, _valid,
)  # fmt: skip
