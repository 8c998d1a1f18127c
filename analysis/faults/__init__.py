"""Whose fault a leak is: the model wrote the call wrong, the parser missed a valid one, template and parser disagree.

What the record does not show is `unknown`. Each answer has its evidence as codes (`analysis.faults.evidence`); where a
valid call of a native syntax stayed text, also the setting of its engine that reads it (`analysis.faults.engines`).
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from analysis.detectors import Finding
from analysis.faults.engines import Setting
from analysis.output import Output

FaultOf = Literal["model", "parser", "template_and_parser", "unknown"]
FAULTS: tuple[FaultOf, ...] = ("model", "parser", "template_and_parser", "unknown")
Code = Literal[
    "calls_are_text",
    "no_tools_offered",
    "tool_choice_none",
    "tools_unknown",
    "passed_both",
    "inside_a_structured_call",
    "cut_at_length",
    "log_cut",
    "raw_text_whole",
    "raw_text_same",
    "raw_text_differs",
    "frame_taken",
    "special_tokens_gone",
    "in_reasoning",
    "thinking_was_closed",
    "thinking_left_open",
    "no_markup",
    "name_not_offered",
    "printed",
    "frame_gone",
    "frame_broken",
    "markup_broken",
    "text_exact",
    "text_not_exact",
    "arguments_unfit",
    "valid_call",
    "schema_unknown",
    "beside_structured_calls",
    "parser_of_this_family",
    "parser_of_another_family",
    "parser_unknown",
    "parser_not_told",
    "template_of_another_family",
    "engine_unknown",
    "no_parser_there",
    "no_parser_anywhere",
]


@dataclass(frozen=True, slots=True)
class Leaked:
    """A leaked output, what was found in it, and what its record tells of how it came about.

    `raw_text`: the text before the engine's parser. `tool_choice`: `none`, or anything else. What is not told is None.
    """

    output: Output
    finding: Finding
    raw_text: str | None = None
    engine: str | None = None
    tool_parser: str | None = None
    template: str | None = None
    text_fidelity: str | None = None
    status: str | None = None
    tool_choice: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Whose fault a leak is. `reason` is the evidence in words; `family` that of the markup, where it was read."""

    fault: FaultOf
    evidence: tuple[Code, ...]
    reason: str
    family: str | None = None
    setting: Setting | None = None

    def as_json(self) -> dict[str, Any]:
        """The keys of the answer for one generation."""
        return {
            "fault": self.fault,
            "evidence": list(self.evidence),
            "reason": self.reason,
            "family": self.family,
            "setting": as_json(self.setting) if self.setting else None,
        }


def as_json(setting: Setting) -> dict[str, Any]:
    """A setting with the keys that stay."""
    return {**asdict(setting), "parsers": list(setting.parsers)}
