"""Detectors: one module each, a pure function from one output to a finding. Docs: CONTRIBUTING, "Add a detector".

A detector's `find` states its system's own line. What is common to all stands here: the tier where the tools
are unknown or the calls are text by design, and the answer when a detector raises. A detector that was brought from
outside (a rule file, code) is one as well; `analysis.rules` and `analysis.candidates` make them.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Literal

from analysis.output import Call, Output
from ingest.errors import UsageError
from ingest.plugins import discover
from ingest.records import Kind

Tier = Literal["certain", "likely", "possible"]
Channel = Literal["content", "reasoning", "tool_name", "tool_arguments"]
SHORT = 160
"""Code points of a text whose ending may be a trigger; blanks at its end count."""
BLANKS = " \t\r\n"
TIERS: tuple[Tier, ...] = ("certain", "likely", "possible")
EVERY = ""
"""The trigger of a detector that declares none: every text holds it."""
FAULT_LIMIT = 400
"""Code points kept of what a detector raised: it may quote the output."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a detector says of one output. `start` and `end` are code points of the channel's original text."""

    kind: Kind
    family: str | None
    tier: Tier
    tool: str | None
    channel: Channel
    start: int
    end: int
    markup: str
    reason: str
    calls: tuple[Call, ...] = ()

    @property
    def leak(self) -> bool:
        """True at tier `likely` and above."""
        return self.reaches("likely")

    def reaches(self, tier: Tier) -> bool:
        """True if this finding's tier is `tier` or stronger."""
        return TIERS.index(self.tier) <= TIERS.index(tier)

    def as_json(self) -> dict[str, Any]:
        """The finding with the keys of the command line's JSON."""
        return {"leak": self.leak, **asdict(self), "calls": [asdict(call) for call in self.calls]}


@dataclass(frozen=True, slots=True)
class Example:
    """An output that a detector must find, or must not; `why` says what is special about it."""

    why: str
    output: Output
    markup: str | None = None
    """What the finding must report; None where the output is clean."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A detector's failure on one output: what happened, a word that says of which sort first."""

    why: str


Verdict = Finding | Failure | None


@dataclass(frozen=True, slots=True)
class Isolation:
    """How code from outside is kept from what is not its own: by `bwrap`, or by nothing, and why not."""

    by: Literal["bwrap", "none"]
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Brought:
    """What a detector from outside is made of."""

    content: str
    """The hash of all that decides its answers."""
    rules: str | None = None
    """The text of the rule file that it is; None for code."""
    many: Callable[[Sequence[Output]], Sequence[Verdict]] | None = None
    """Judges many outputs in worker processes, in their order: how code is asked."""
    here: bool = True
    """False where the code is another process's: only what it said of the history is known."""
    isolation: Isolation | None = None
    """None for a rule file, which is no code, and where nobody said."""


@dataclass(frozen=True, slots=True)
class Detector:
    """A versioned detector. An output whose text holds none of `triggers` cannot be a finding."""

    name: str
    version: int | str
    summary: str
    source: str
    triggers: tuple[str, ...]
    find: Callable[[Output], Finding | None]
    leaks: tuple[Example, ...]
    clean: tuple[Example, ...]
    by_name: bool = False
    """An offered name is a trigger too: calls without markup are known by it alone. It counts in content, in reasoning,
    and in the name of a structured call that was not offered itself, but not in a call's arguments."""
    endings: tuple[str, ...] = ()
    """So is the end of a short content or reasoning (at most `SHORT` code points, blanks at its end aside): a sign that
    is common in long ones."""
    brought: Brought | None = None
    """None for our own."""
    call_triggers: tuple[str, ...] = ()
    """Triggers of structured calls (names and arguments) alone: signs that are common in words."""

    def may_find(self, text: str, names: Iterable[str]) -> bool:
        """False if `text`, in any channel of an output with `names` offered, cannot be a finding."""
        literals = (*self.triggers, *self.call_triggers, *(names if self.by_name else ()))
        return any(each in text for each in literals) or (
            len(text) <= SHORT and text.rstrip(BLANKS).endswith(self.endings)
        )

    @property
    def id(self) -> str:
        """`name@version`, as the command line and the store spell it."""
        return f"{self.name}@{self.version}"


@cache
def detectors() -> tuple[Detector, ...]:
    """All detectors, by module name."""
    return discover(sys.modules[__name__], Detector)


def detector(detector_id: str) -> Detector:
    """The detector `name@version`; UsageError that lists the known ones."""
    known = {each.id: each for each in detectors()}
    if detector_id not in known:
        raise UsageError(f"unknown detector {detector_id!r}; known: {', '.join(sorted(known))}")
    return known[detector_id]


def judge(by: Detector, output: Output) -> Finding | None:
    """`by.find(output)` with the tier that what is known of the request allows."""
    found = by.find(output)
    return _with_tier(found, output) if found else None


def judge_all(by: Detector, outputs: Sequence[Output]) -> list[Verdict]:
    """`judge` on each, in their order. What a detector raises is its failure on that output; the others go on."""
    if by.brought and by.brought.many:
        said = by.brought.many(outputs)
        return [_of_code(verdict, output) for verdict, output in zip(said, outputs, strict=True)]
    return [_judge_or_fail(by, output) for output in outputs]


def _of_code(said: Verdict, output: Output) -> Verdict:
    return _with_tier(said, output) if isinstance(said, Finding) else said


def _judge_or_fail(by: Detector, output: Output) -> Verdict:
    try:
        return judge(by, output)
    except Exception as fault:  # noqa: BLE001 - whatever a detector does, the other outputs go on
        return Failure(f"{type(fault).__name__}: {fault}"[:FAULT_LIMIT])


def _with_tier(found: Finding, output: Output) -> Finding:
    allowed = _allowed(found.tier, output)
    return found if allowed == found.tier else replace(found, tier=allowed)


def _allowed(tier: Tier, output: Output) -> Tier:
    if output.call_mode in ("text", "none"):
        return "possible"
    if output.tools is None:
        return TIERS[min(TIERS.index(tier) + 1, len(TIERS) - 1)]
    return tier
