"""One page of a replay's disagreements, with the text around what the two detectors say."""

from typing import Any

from analysis.replay.passages import passages
from ingest.retention.prunings import pruned_at
from ingest.store import Store

AROUND, MARKED = 400, 800
"""Code points around and inside a mark."""


def with_passages(store: Store, shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The disagreements, each with the `passages` of its text, and when it was `pruned_at` if it was."""
    with store.cursor() as cursor:
        found = passages(cursor, shown, around=AROUND, most=MARKED)
        pruned = pruned_at(cursor, [(each["run_id"], each["generation_id"]) for each in shown])
    # a report of an earlier leakdown tells no consequence
    return [
        {"consequence": None, **each, "passages": texts, "pruned_at": when}
        for each, texts, when in zip(shown, found, pruned, strict=True)
    ]
