"""An alarm: what a rule says of one line, with the evidence; and its id, which stays from day to day."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from hashlib import blake2b
from typing import Any

from analysis.alerts.histories import Line
from analysis.drift.cells import LINE, Part
from analysis.statistics.e_values import e_bh

RATE = 0.05
"""Of the alarms of a rule, the share that is false at the most."""
NAME = 60
"""Characters of a name in a text."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """What a rule says of a line. `of`: what and which, if it speaks of one thing on the line. `baseline`: None where
    the rule itself tells what is usual. `usual`: the mean share of runs that the evidence is against; it, `e_value`
    and `needed` are None of a fact, which is no test. `what`: one line, without the line's name."""

    line: Line
    since: date
    baseline: Part | None
    recent: Part
    what: str
    usual: float | None = None
    e_value: float | None = None
    needed: float | None = None
    of: tuple[str, str] | None = None

    def alert_id(self, rule: str) -> str:
        """16 hexadecimal digits of the rule's name, the line and what it speaks of: no figure is in it."""
        told = json.dumps([rule, *self.line, *(self.of or ())])
        return blake2b(told.encode(), digest_size=8).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON, but for those of the rule and of people."""
        return {
            **dict(zip(LINE, self.line[:-1], strict=True)),
            "tools_known": self.line[-1],
            "of": None if self.of is None else {"what": self.of[0], "value": self.of[1]},
            "since": self.since.isoformat(),
            "baseline": self.baseline and self.baseline.as_json(),
            "recent": self.recent.as_json(),
            "usual": self.usual,
            "e_value": self.e_value,
            "needed": self.needed,
            "text": f"{line_name(self.line)}: {self.what}",
        }


@dataclass(frozen=True, slots=True)
class Watched:
    """What a rule found: its alarms, of so many lines, of which on some too little is known."""

    lines: int
    too_few: int
    alarms: tuple[Alarm, ...]


def surest(tested: Sequence[Alarm]) -> tuple[Alarm, ...]:
    """Those with evidence enough, at a false discovery rate of `RATE` over all that were tested, surest first."""
    held = e_bh([each.e_value or 0.0 for each in tested], RATE)
    alarms = [each for each, alarm in zip(tested, held, strict=True) if alarm]
    needed = len(tested) / (RATE * max(1, len(alarms)))
    return tuple(replace(each, needed=needed) for each in sorted(alarms, key=lambda each: -(each.e_value or 0.0)))


def share(part: Part) -> str:
    """A rate as words: with its hits and n."""
    return f"{percent(part.rate.value or 0.0)} ({part.rate.hits:,} of {part.rate.n:,})"


def percent(value: float) -> str:
    """A share in per cent; two decimals under 1 %."""
    return f"{value:.2%}" if 0 < value < 0.01 else f"{value:.1%}"


def short(text: str) -> str:
    """A name, its middle left out where it is long."""
    return text if len(text) <= NAME else f"{text[: NAME // 2]}…{text[-NAME // 2 :]}"


def line_name(line: Line) -> str:
    """The line for a person."""
    named = " · ".join(short(each) for each in line[:-1] if each) or "nothing told"
    return named if line[-1] else f"{named} (tools unknown)"
