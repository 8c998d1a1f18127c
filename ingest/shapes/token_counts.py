"""Token counts of a provider under our names."""

from typing import Any


def counts(told: Any, input_key: str, output_key: str) -> Any:
    """What `told` counts under `input_key` and `output_key` is ours; what is no count stays under its own name."""
    if not isinstance(told, dict):
        return told
    pairs = ((input_key, "input_tokens"), (output_key, "output_tokens"))
    names = {theirs: ours for theirs, ours in pairs if _is_count(told.get(theirs))}
    taken = [ours for _, ours in pairs if ours not in names]
    return {names.get(key, key): value for key, value in told.items() if key not in taken}


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63
