"""A detector as a function in Python."""

import re

OPENING = re.compile(r"<(function=|invoke name=\")(\w+)")


def find(output):
    """The first opening that names an offered tool, unless a structured call was made."""
    for opening in OPENING.finditer(output.content or ""):
        if opening[2] in output.offered_names and not output.calls:
            return {
                "start": opening.start(),
                "end": opening.end(),
                "tool": opening[2],
                "tier": "certain",
                "reason": f"it opens a call of {opening[2]}",
            }
    return None


find.triggers = ["<function=", "<invoke name="]
