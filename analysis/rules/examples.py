"""Whether a rule file keeps its own examples."""

from analysis.detectors import Detector, judge
from analysis.markers import MARKUP_LIMIT
from analysis.rules.files import Leak, RuleFile

SHOWN = 80
"""Code points of a markup in a message."""


def contradiction(detector: Detector, file: RuleFile) -> str | None:
    """The first example that the rules contradict, and how; None if they keep all."""
    for at, leak in enumerate(file.leak, 1):
        if wrong := _of_leak(detector, leak):
            return f"leak {at} ({leak.why}): {wrong}"
    for at, clean in enumerate(file.clean, 1):
        if found := judge(detector, clean.output):
            return f"clean {at} ({clean.why}): the rules find {found.markup[:SHOWN]!r} in it: {found.reason}"
    return None


def _of_leak(detector: Detector, leak: Leak) -> str | None:
    found = judge(detector, leak.output)
    if found is None:
        return "no rule finds it"
    if leak.tier is None and not found.leak:
        return f"found, but only at tier {found.tier}, which is not counted; say tier = {found.tier!r} if that is meant"
    for name in ("markup", "kind", "tier", "tool"):
        wanted, got = getattr(leak, name), getattr(found, name)
        if wanted is not None and wanted[:MARKUP_LIMIT] != got:
            return f"its {name} is {(got or '')[:SHOWN]!r}, not {wanted[:SHOWN]!r}"
    return None
