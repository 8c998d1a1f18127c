"""What the words of recovery mean: how rounds end, what policies do, what is odd about a record, why one is refused."""

ACTIONS = {
    "publish": "the reply stands as the answer",
    "retry": "the model is asked once more",
    "salvage": "calls are taken from the text",
    "fail": "the turn ends with an error",
}
AFTER_RETRY = {
    "structured": "recovered: the last retry made a valid tool call",
    "answered": "the last retry answered in words",
    "leaked_again": "the last retry leaked too, and the turn went on or ended with an error",
    "passed_off": "the last retry leaked too, and was given out as the answer",
    "errored": "the last retry failed",
    "cancelled": "the request was cancelled",
    "unknown": "the log does not tell",
}
WITHOUT_RETRY = {
    "structured": "the next round made a valid tool call",
    "answered": "the next round answered in words",
    "leaked_again": "the next round leaked too",
    "passed_off": "the leak was given out as the answer",
    "errored": "the turn ended with an error",
    "cancelled": "the request was cancelled",
    "unknown": "the log does not tell",
}
FIGURES = {
    "extra_rounds": ("extra model calls", "retries that the policy asks for: what it costs"),
    "recovered": ("recovered", "the round ends in a valid tool call that the policy accepts"),
    "answered": ("answered", "the round ends in a clean answer in words"),
    "errored": ("ended with an error", "the user is told that it failed"),
    "passed_off": ("passed off", "the leak is given out as the answer"),
    "called": ("called", "calls of the leaked reply itself are carried out"),
    "cancelled": ("cancelled", "the request was cancelled"),
    "unknown": ("not known", "the log does not tell how it ended"),
}
MARKS = {
    "place_untold": "the log tells no round or no attempt: each such generation is taken as a round of its own",
    "first_attempt_missing": "a retry whose first attempt is not in the log",
    "attempt_missing": "an attempt between two others is not in the log",
    "same_attempt": "several generations with the same number of attempt",
    "same_time": "two attempts that began at the same moment",
    "times_disagree": "an attempt that began before the one it follows",
    "round_missing": "the round before it in its turn is not in the log",
    "attempts_left_out": "a round of more attempts than are read",
}
REFUSALS = {
    "no_calls": "there is no structured call",
    "calls_differ": "the calls are not those of the envelope",
    "tool_not_offered": "a tool that was not offered",
    "arguments_missing": "a call without arguments",
    "arguments_not_object": "arguments that are no JSON object",
    "missing_required": "a required argument is missing",
    "wrong_type": "an argument of the wrong type",
    "unknown_property": "an argument that the schema does not know",
    "schema_violation": "arguments that the schema does not allow",
    "schema_invalid": "the tool's schema itself is invalid",
    "remote_reference": "the tool's schema refers to another document",
    "too_costly": "the tool's schema is too costly to check",
    "duplicate_member": "a member that stands twice",
    "not_json": "no JSON",
    "unclosed_json": "JSON that breaks off",
    "too_deep": "JSON nested too deep",
    "not_unicode": "text that is no Unicode",
    "opener_missing": "the envelope does not begin as it must",
    "end_marker_missing": "the envelope does not end as it must",
    "singleton_shorthand": "one call without its list",
    "not_a_list": "no list of calls",
    "call_not_object": "a call that is no object",
    "field_missing": "a call without a name or arguments",
    "alias_field": "a field under another name",
    "unknown_field": "a field that a call does not have",
    "wrong_field_type": "a field of the wrong type",
    "envelope_not_stored": "the log holds the calls, not the text that they were made of",
    "tools_unknown": "the log does not tell which tools were offered",
    "schema_missing": "the log holds no schema of the tool",
}
"""Why a strict system refuses a retry, and why a log does not let one tell."""
BECAME = {
    "dropped": "written down as failed: later prompts leave it out",
    "retried": "another attempt of this round follows",
    "committed": "the last attempt: it stands as the reply of its round",
    "errored": "the call itself failed",
    "cancelled": "the request was cancelled",
    "cut off": "the reply broke off",
}
"""What became of an attempt, as its log has it."""
ROUND_RATES = {
    "retried": ("retried", "asked again at least once"),
    "recovered": ("recovered", "the last attempt is a valid structured call"),
    "answered": ("answered", "the last attempt is a clean answer in words"),
    "leaked_again": ("leaked again", "a retry of the round leaked too"),
    "passed_off": ("passed off", "the turn ended with the leak as its answer"),
    "retry_leaked_again": ("retries that leaked", "of all retries, those that leaked again"),
    "discarded": ("good answers thrown away", "asked again after a reply that people call clean, of the labelled ones"),
}
"""The rates of leaked rounds: title and meaning."""
OF = {
    "retry_leaked_again": ("retries", "no retry is in the log"),
    "discarded": ("nudged_labelled", "no nudged reply is labelled"),
}
"""What a rate is of, where that is not the leaked rounds, and why it may be none."""
