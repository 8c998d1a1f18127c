"""Dialects: how an instrumentation writes the text of a model call into attributes, one a module.

A collector's file holds several, so each span is asked anew.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ingest.otlp import Span
from ingest.plugins import discover
from ingest.shapes.openai_message import Fields


@dataclass(frozen=True, slots=True)
class Dialect:
    """One dialect.

    `recognises` tells a span of a model call, with its text or without. `replies` gives text, calls, tools and finish
    reason of each choice; none where the span does not hold them; ValueError with a reason for what it cannot read.
    Of several that recognise a span, the one of the lowest `rank` that finds replies is taken.
    """

    name: str
    rank: int
    recognises: Callable[[Span], bool]
    replies: Callable[[Span], list[Fields]]


@cache
def dialects() -> tuple[Dialect, ...]:
    """All dialects, by rank."""
    return tuple(sorted(discover(sys.modules[__name__], Dialect), key=lambda each: each.rank))


def replies(span: Span) -> list[Fields] | None:
    """The generations of a model call, empty where their text is not in the span; None for no model call."""
    asked = [each for each in dialects() if each.recognises(span)]
    faults: list[ValueError] = []
    for each in asked:
        try:
            if found := each.replies(span):
                return found
        except ValueError as fault:
            faults.append(fault)
    if faults:
        raise faults[0]
    return [] if asked else None
