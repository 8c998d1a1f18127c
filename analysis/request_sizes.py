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


def _number(name: str) -> str:
    value = _VALUES[name]
    *bounded, _ = STEPS[name]
    whens = "".join(f" WHEN {value} < {under} THEN {at}" for at, (under, _) in enumerate(bounded))
    return f"CASE WHEN {value} IS NULL THEN NULL{whens} ELSE {len(bounded)} END"


def in_words(name: str, number: str) -> str:
    """SQL that gives the text of a step from the SQL of its number."""
    texts = ", ".join(f"'{each}'" for _, each in STEPS[name])
    return f"[{texts}][{number} + 1]"


NUMBERS = {name: _number(name) for name in STEPS}
"""SQL that gives the number of each one's step, from 0."""
SIZES = {name: in_words(name, number) for name, number in NUMBERS.items()}
"""SQL that gives the text of each one's step."""


def position(name: str, text: str) -> int:
    """Where a step stands among the others."""
    return [each for _, each in STEPS[name]].index(text)
