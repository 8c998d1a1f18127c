"""Why Foundry Local's policy decides as it does: every reason code, with what it means."""

from collections.abc import Mapping

from analysis.recovery.policies import Reason
from analysis.recovery.turn import Semantic

RETRY = Reason("retry", "recoverable", "the exact frame of a declared tool was entered and broken, and all else holds")

VISIBLE: Mapping[str, Reason] = {
    code: Reason("publish", code, f"{meaning}: the decoder leaves it as visible text")
    for code, meaning in {
        "not_entered": "a batch begins, but the exact frame was not entered",
        "undeclared_tool": "the tool was not offered",
        "tools_unknown": "which tools were offered is not known",
        "schema_missing": "the source holds no schema of the tool",
        "unsupported_schema": "the decoder does not support the schema of the tool",
        "unknown_parameter": "a parameter is not declared",
        "duplicate_parameter": "a parameter is given twice",
        "missing_parameter": "a required parameter is missing",
        "unfit_value": "a value does not fit the schema of its parameter",
        "unfit_arguments": "the arguments do not fit the schema as a whole",
        "reserved_framing": "markup of the frame stands in a value",
        "oversized": "the batch is longer than the decoder reads",
        "mixed_batch": "the batch mixes valid and invalid calls",
    }.items()
}
"""What the decoder rejects."""
VALID_CALL = Reason("publish", "valid_call", "the decoder takes it as a call, which is published and carried out")
FENCED = Reason("publish", "fenced", "it stands in a Markdown fence: an example is ordinary text")
NO_CANDIDATE = Reason("publish", "no_candidate", "the content holds no batch that the decoder reads")

OTHER_BACKEND = Reason("publish", "not_engine_backend", "the other backend never retries, and shows what it always did")
TOOL_CHOICE = Reason("publish", "tool_choice_not_auto", "only automatic tool choice is recovery-aware")

LENGTH = Reason("fail", "ended_by_length", "it ended at a limit of length")
STOP_SEQUENCE = Reason("fail", "ended_by_stop_sequence", "it ended at a stop sequence")
CUT_OFF = Reason("fail", "ended_by_cancellation", "it was cut off before its end")
OTHER_END = Reason("fail", "ended_otherwise", "it came to no natural end")
UNKNOWN_END = Reason("fail", "end_unknown", "the record does not tell how it ended")
BEFORE: Mapping[Semantic, Reason] = {
    "call": Reason("fail", "call_before", "a call was parsed before it"),
    "tool_output": Reason("fail", "tool_output_before", "raw tool output was shown before it"),
    "text": Reason("fail", "text_before", "visible text was shown before it"),
    "reasoning": Reason("fail", "reasoning_before", "thoughts were shown before it"),
}
"""Semantic output before the malformed call, in the order in which it is looked for; it is not taken back."""

ACCEPTED = Reason("publish", "retry_accepted", "the retry is a whole batch of calls that fit their schemas")
UNCHECKED = Reason("publish", "retry_not_checkable", "nothing speaks against it, but the log does not hold all of it")
CANCELLED_RETRY = Reason("fail", "retry_cancelled", "the retry was cancelled")
ERRORED_RETRY = Reason("fail", "retry_errored", "the retry failed")
CUT_RETRY = Reason("fail", "retry_truncated", "the retry was cut")
LEAKED_RETRY = Reason("fail", "retry_malformed", "the retry leaked again")
TEXT_RETRY = Reason("fail", "retry_text_only", "the retry holds no call, but text")
REASONING_RETRY = Reason("fail", "retry_reasoning_only", "the retry holds nothing but thoughts")
EMPTY_RETRY = Reason("fail", "retry_empty", "the retry is empty")
REFUSED_RETRY = Reason("fail", "retry_refused", "the strict check refuses the retry; its codes are the details")

REASONS = (
    RETRY, *VISIBLE.values(), VALID_CALL, FENCED, NO_CANDIDATE, OTHER_BACKEND, TOOL_CHOICE,
    LENGTH, STOP_SEQUENCE, CUT_OFF, OTHER_END, UNKNOWN_END, *BEFORE.values(),
    ACCEPTED, UNCHECKED, CANCELLED_RETRY, ERRORED_RETRY, CUT_RETRY, LEAKED_RETRY,
    TEXT_RETRY, REASONING_RETRY, EMPTY_RETRY, REFUSED_RETRY,
)  # fmt: skip
