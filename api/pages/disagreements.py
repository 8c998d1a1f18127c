"""One page of a replay's disagreements, with the text around what the two detectors say."""

from typing import Any

from analysis.replay.passages import passages
from ingest.store import Store

AROUND, MARKED = 400, 800
"""Code points around and inside a mark."""


def with_passages(store: Store, shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The disagreements, each with the `passages` of its text."""
    with store.cursor() as cursor:
        found = passages(cursor, shown, around=AROUND, most=MARKED)
    # a report of an earlier leakdown tells no consequence
    return [{"consequence": None, **each, "passages": texts} for each, texts in zip(shown, found, strict=True)]
