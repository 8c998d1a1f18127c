"""Detectors from outside that a store knows: rule files by their text, code by what it said of itself."""

from collections.abc import Sequence
from typing import Any

from pydantic_core import from_json, to_json

from analysis import rules
from analysis.detectors import Brought, Detector, Isolation, Verdict, detector
from analysis.output import Output
from ingest.errors import UsageError
from ingest.store import Store

_KEEP = """
INSERT INTO candidates BY NAME SELECT $detector AS detector, $content AS content, $summary AS summary,
    $source AS source, $rules AS rules, $triggers AS triggers, $endings AS endings, $by_name AS by_name,
    make_timestamp(epoch_us(now())) AS kept_at
"""
_ALL = """
SELECT detector, summary, source, CASE WHEN rules IS NULL THEN 'code' ELSE 'rules' END AS kind FROM candidates
ORDER BY detector
"""
_ONE = "SELECT content, summary, source, rules, triggers, endings, by_name FROM candidates WHERE detector = $1"


def keep(store: Store, brought: Detector) -> None:
    """Note a detector from outside under its id; one that is there already stays as it is."""
    if brought.brought is None or _content(store, brought.id) == brought.brought.content:
        return
    with store.transaction() as cursor:
        cursor.execute("DELETE FROM candidates WHERE detector = $1", [brought.id])
        values = {
            "detector": brought.id,
            "content": brought.brought.content,
            "summary": brought.summary,
            "source": brought.source,
            "rules": brought.brought.rules,
            "triggers": to_json(brought.triggers).decode(),
            "endings": to_json(brought.endings).decode(),
            "by_name": brought.by_name,
        }
        cursor.execute(_KEEP, values)


def _content(store: Store, detector_id: str) -> str | None:
    with store.cursor() as cursor:
        rows = cursor.execute("SELECT content FROM candidates WHERE detector = $1", [detector_id]).fetchall()
    return rows[0][0] if rows else None


def known(store: Store, detector_id: str) -> Detector:
    """The detector of this id: one of ours, or one that the store keeps. UsageError."""
    with store.cursor() as cursor:
        # half a surrogate pair names nothing, and no database takes it
        rows = cursor.execute(_ONE, [detector_id.encode("utf-8", "replace").decode()]).fetchall()
    if not rows:
        return detector(detector_id)
    content, summary, source, text, triggers, endings, by_name = rows[0]
    if text is not None:
        return rules.parse(text, source.removeprefix("rule file "))
    name, _, version = detector_id.rpartition("@")
    return elsewhere(name, version, content, summary, source, from_json(triggers), from_json(endings), by_name)


def kept(store: Store) -> list[dict[str, Any]]:
    """Id, summary, source and kind (`rules` or `code`) of every detector from outside, by id."""
    with store.cursor() as cursor:
        rows = cursor.execute(_ALL).fetchall()
    return [dict(zip(("detector", "summary", "source", "kind"), row, strict=True)) for row in rows]


def elsewhere(
    name: str,
    version: str,
    content: str,
    summary: str,
    source: str,
    triggers: Sequence[str],
    endings: Sequence[str],
    by_name: bool,
    isolation: Isolation | None = None,
) -> Detector:
    """Code that is not here: of what it has not judged nothing is known."""
    of = f"{name}@{version}"

    def many(outputs: Sequence[Output]) -> Sequence[Verdict]:
        raise UsageError(
            f"{of} is code that does not stand here, and {len(outputs):,} stored outputs came since it was asked; "
            f"name it by its {source.removeprefix('code ')} again"
        )

    def find(output: Output) -> None:
        many([output])

    brought = Brought(content, many=many, here=False, isolation=isolation)
    return Detector(name, version, summary, source, tuple(triggers), find, (), (), by_name, tuple(endings), brought)
