"""What all kinds of rules have: their table in a rule file, and how a line is tested."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from analysis.alerts.alarms import Alarm, Watched, surest
from analysis.alerts.histories import History, Watch
from analysis.drift.cells import Part
from analysis.filters import KEYS, Filters
from analysis.statistics.e_values import NOTHING, evidence
from analysis.statistics.intervals import FEWEST_RUNS
from ingest.errors import UsageError


def _condition(text: str) -> str:
    try:
        Filters.parse([text])
    except UsageError as fault:
        raise ValueError(str(fault).removeprefix("--where ")) from None
    return text


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"{text!r} is no day; write one such as 2026-11-01") from None


Condition = Annotated[
    str, AfterValidator(_condition), WithJsonSchema({"type": "string", "pattern": f"^({'|'.join(KEYS)})="})
]
Day = Annotated[str, AfterValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]
BaselineDays = Annotated[int, Field(ge=1, le=3650, description="So many first days of a line are its baseline.")]


class Rule(BaseModel):
    """A name, which is part of an alert's id; which generations it looks at; and from which day on."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
    where: Annotated[list[Condition], Field(max_length=50, description="Filters; all must hold.")] = []
    since: Annotated[Day | None, Field(description="The first day that it watches (UTC); else a line's first.")] = None

    @property
    def first_day(self) -> date | None:
        """`since` as a day."""
        return None if self.since is None else date.fromisoformat(self.since)

    @abstractmethod
    def watch(self, over: Watch) -> Watched:
        """What it says of all lines."""


class BaselineRule(Rule):
    """A rule that looks at each line beside its own first days."""

    baseline_days: BaselineDays = 28


class ComparingRule(BaselineRule):
    """One that tests whether what came after is more than usual in them."""

    def against_baselines(self, histories: Iterable[History]) -> Watched:
        """What is said of lines whose baseline has runs enough, all of them asked at once."""
        every = [*histories]
        known = [each for each in every if each.before(self.baseline_days).runs >= FEWEST_RUNS]
        found = surest([self._against_baseline(each) for each in known])
        return Watched(len(every), len(every) - len(known), found)

    def _against_baseline(self, history: History) -> Alarm:
        baseline, before = history.before(self.baseline_days), history.before(self.baseline_days).part
        found = tested(history.after(self.baseline_days), baseline.usual)
        return replace(found, baseline=before, what=self.words(before, found.recent, found.since))

    @abstractmethod
    def words(self, baseline: Part, recent: Part, since: date) -> str:
        """One line about it."""


def tested(watched: History, usual: float) -> Alarm:
    """The evidence that runs of `watched` have larger shares than `usual`, and what happened since most of it was won.
    Where all runs are nothing else as usual, nothing can be more."""
    days = [*watched.shares()] if usual < 1.0 else []
    found = evidence([shares for _, shares in days], usual) if days else NOTHING
    since = watched.first if found.since is None else days[found.since][0]
    recent = watched.since(since).part
    return Alarm(watched.line, since, None, recent, what="", usual=usual, e_value=found.e_value)
