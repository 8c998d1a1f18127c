"""How large a request was, in a few steps: how many tools it offered, and how long its prompt was.

SQL over `facts g`, with `sizes s` beside it; NULL where the log does not tell.
"""

STEPS = {
    "tools_offered": ((1, "none"), (6, "1 to 5"), (21, "6 to 20"), (None, "more than 20")),
    "prompt_tokens": (
        (1_000, "under 1,000"),
        (8_000, "1,000 to 7,999"),
        (32_000, "8,000 to 31,999"),
        (None, "32,000 and more"),
    ),
}
"""By what they are under; the last has no end."""
_VALUES = {
    "tools_offered": "CASE WHEN g.tools_known THEN coalesce(s.tools, g.tools_offered, 0) END",
    "prompt_tokens": "TRY(json_extract(g.usage, '$.input_tokens')::BIGINT)",
}
TABLE = "(SELECT hash, json_array_length(tools) AS tools FROM tool_lists) s ON s.hash = g.tools"
"""What to join, LEFT, for the number of tools: each list is counted once."""


def _step(name: str) -> str:
    value = _VALUES[name]
    *bounded, (_, last) = STEPS[name]
    whens = "".join(f" WHEN {value} < {under} THEN '{text}'" for under, text in bounded)
    return f"CASE WHEN {value} IS NULL THEN NULL{whens} ELSE '{last}' END"


SIZES = {name: _step(name) for name in STEPS}
"""SQL that gives the step of each."""


def position(name: str, text: str) -> int:
    """Where a step stands among the others."""
    return [each for _, each in STEPS[name]].index(text)
