"""One model output as a detector sees it: the channels, the tools offered, the structured calls, the finish."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from analysis.markdown import Region, code_regions
from ingest.records import CallMode


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool of the request; `parameters` is its JSON Schema, None where the source has none."""

    name: str
    parameters: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A call by name; `arguments` as text, None where the text shows none."""

    name: str
    arguments: str | None = None


@dataclass(frozen=True)
class Output:
    """Everything a detector may look at, and nothing else.

    `tools` is None where the source does not tell; then `inferred_names` are the names that the run called
    structurally. An empty `tools` means that none were offered.
    """

    content: str | None = None
    reasoning: str | None = None
    calls: tuple[Call, ...] = ()
    tools: tuple[OfferedTool, ...] | None = None
    inferred_names: frozenset[str] = frozenset()
    finish_reason: str | None = None
    call_mode: CallMode = "native"

    @property
    def may_have_tools(self) -> bool:
        """The gate on *having tools*: it passes where the tools are unknown."""
        return self.tools is None or bool(self.tools)

    @cached_property
    def offered_names(self) -> frozenset[str]:
        """The names for a gate on an *offered name*: the inferred ones where the tools are unknown."""
        if self.tools is None:
            return self.inferred_names
        return frozenset(tool.name for tool in self.tools)

    @cached_property
    def content_code(self) -> tuple[Region, ...]:
        """Markdown code regions of the content, in order."""
        return code_regions(self.content) if self.content else ()

    def with_code(self, regions: tuple[Region, ...]) -> Self:
        """This output, which need not look for the code regions of its content: they were found before."""
        self.__dict__["content_code"] = regions  # where `cached_property` keeps it; a field would be one more input
        return self
