"""Versions in the order of their numbers: 0.9 before 0.10."""

import re

VERSIONS = ("engine_version", "template", "tool_parser", "client_version")
"""Series fields that change while a line stays the same one."""
_NUMBER = re.compile(r"([0-9]{1,18})")


def natural(version: str | None) -> tuple[bool, list[str | int]]:
    """A key that sorts numbers in a text by their value, so 0.9 comes before 0.10; what is not known comes last."""
    # a pattern with one group makes every other part a number, so like is compared with like
    parts = _NUMBER.split(version or "")
    return version is None, [int(part) if at % 2 else part for at, part in enumerate(parts)]
