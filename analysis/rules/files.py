"""What may stand in a rule file: the one definition of its keys."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from analysis.detectors import Channel, Example, Tier
from analysis.output import Call, OfferedTool, Output
from ingest.records import CallMode, Kind

Literals = Annotated[list[Annotated[str, Field(min_length=1, max_length=1000)]], Field(max_length=1000)]
Text = Annotated[str, Field(max_length=64 * 2**10)]
Name = Annotated[str, Field(max_length=200)]
Where = Literal["outside code", "outside fences", "inside code", "anywhere"]
Position = Literal["anywhere", "line", "start", "whole"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Rule(_Table):
    """What to look for, where, and under which conditions; all must hold."""

    literals: Literals = []
    pattern: Annotated[str, Field(max_length=2000)] | None = None
    needs: Literals = []
    channels: Annotated[list[Channel], Field(min_length=1)] = ["content"]
    where: Where = "outside code"
    position: Position = "anywhere"
    without_tools: bool = False
    beside_calls: bool = False
    finish: Annotated[list[Name], Field(max_length=50)] | None = None
    kind: Kind = "leaked_call"
    tier: Tier = "likely"
    family: Name | None = None
    reason: Annotated[str, Field(max_length=500)] | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if bool(self.literals) == (self.pattern is not None):
            raise ValueError("give literals or a pattern, one of the two")
        if self.literals and self.needs:
            raise ValueError("needs is for a pattern; literals need themselves")
        return self

    @property
    def triggers(self) -> list[str]:
        """A text with none of them is not looked at; empty for every text."""
        return self.literals or self.needs

    @property
    def looks_at_calls(self) -> bool:
        """Whether it looks into structured calls, which are there then."""
        return any(channel.startswith("tool_") for channel in self.channels)


class _Call(_Table):
    name: Name
    arguments: Text | None = None


class _Shown(_Table):
    """An output of an example; `tools` absent means that they are unknown."""

    why: Annotated[str, Field(min_length=1, max_length=500)]
    content: Text | None = None
    reasoning: Text | None = None
    tools: Annotated[list[Name], Field(max_length=1000)] | None = None
    inferred_names: Annotated[list[Name], Field(max_length=1000)] = []
    calls: Annotated[list[_Call], Field(max_length=100)] = []
    finish_reason: Name | None = None
    call_mode: CallMode = "native"

    @property
    def output(self) -> Output:
        """The output as a detector sees it."""
        return Output(
            content=self.content or None,
            reasoning=self.reasoning or None,
            calls=tuple(Call(call.name, call.arguments) for call in self.calls),
            tools=None if self.tools is None else tuple(map(OfferedTool, self.tools)),
            inferred_names=frozenset(self.inferred_names),
            finish_reason=self.finish_reason,
            call_mode=self.call_mode,
        )


class Leak(_Shown):
    """An output that must be found; what else is told of the finding must hold too."""

    markup: Text | None = None
    kind: Kind | None = None
    tier: Tier | None = None
    tool: Name | None = None

    def as_example(self) -> Example:
        """For `leakdown detectors show`."""
        return Example(self.why, self.output, self.markup)


class Clean(_Shown):
    """An output that must not be found."""

    def as_example(self) -> Example:
        """For `leakdown detectors show`."""
        return Example(self.why, self.output)


class RuleFile(_Table):
    """A rule file, whole."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
    summary: Annotated[str, Field(min_length=1, max_length=500)]
    rule: Annotated[list[Rule], Field(min_length=1, max_length=100)]
    leak: Annotated[list[Leak], Field(min_length=1, max_length=200)]
    clean: Annotated[list[Clean], Field(min_length=1, max_length=200)]
