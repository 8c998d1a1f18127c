"""What can be noticed of code on samples: that it changes its answer, and that its triggers leave a finding out."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from analysis.candidates.code import NOT_ASKED
from analysis.detectors import EVERY, Detector
from analysis.judging import verdicts_on
from analysis.output import Output
from analysis.output_columns import output_of_columns
from ingest.store import Cursor, Store
from ingest.verdict_rows import StoredVerdict

SAMPLE = 200
"""Outputs of each sample at the most."""
SHOWN = 5
"""Examples that are kept."""
ROWS = 32
"""Outputs held at a time while looking for those of a sample."""

_CHOSEN = """
CREATE OR REPLACE TEMP TABLE sampled AS SELECT verdict_key, min(rank) AS rank FROM (
    (SELECT verdict_key, 0 AS rank FROM (SELECT DISTINCT verdict_key FROM verdicts WHERE kind IS NOT NULL
        AND verdict_key IN (SELECT verdict_key FROM generations WHERE pruning IS NULL))
        ORDER BY md5(verdict_key::VARCHAR) LIMIT $most)
    UNION ALL
    (SELECT verdict_key, 1 AS rank FROM (SELECT DISTINCT verdict_key FROM generations WHERE pruning IS NULL)
        ORDER BY md5(verdict_key::VARCHAR) LIMIT $most)
) GROUP BY verdict_key
"""
"""What any detector takes for a finding is the likeliest to tell; the rest is drawn from all. The hash draws, so that
the same store gives the same sample."""
_SAMPLED = """
WITH first_of AS (
    SELECT arg_min(rowid, (upload_id, line, position)) AS at FROM generations
    WHERE pruning IS NULL AND verdict_key IN (SELECT verdict_key FROM sampled) GROUP BY verdict_key
)
SELECT g.verdict_key, g.generation_id, g.run_id, c.text, r.text, k.text, l.tools, g.tools_known, g.inferred_names,
    g.finish_reason, g.mode
FROM first_of f JOIN generations g ON g.rowid = f.at JOIN sampled s ON s.verdict_key = g.verdict_key
LEFT JOIN texts c ON c.hash = g.content LEFT JOIN texts r ON r.hash = g.reasoning
LEFT JOIN texts k ON k.hash = g.tool_calls LEFT JOIN tool_lists l ON l.hash = g.tools
ORDER BY s.rank, md5(g.verdict_key::VARCHAR)
"""
_SAID = """
SELECT verdict_key, kind, family, tier, tool, channel, start_at, end_at, markup, reason, calls, error FROM verdicts
WHERE detector = $1 AND verdict_key IN (SELECT verdict_key FROM sampled)
"""
Place = tuple[str, str]
Sampled = tuple[bytes, Place, Output]
Said = Mapping[bytes, StoredVerdict]


def noticed(store: Store, of: Detector, sample: int = SAMPLE) -> dict[str, Any]:
    """What was noticed of `of`, which has judged the store: answers that changed, and findings without a trigger.

    It is asked again backwards, by a process that knows nothing of the first time: what hangs on order or on chance
    shows. Each with the number of outputs looked at and a few examples; `silent` counts outputs without a trigger.
    """
    with store.cursor() as cursor:
        cursor.execute(_CHOSEN, {"most": sample})
        heard, silent = _samples(cursor, of, sample)
        first = _said(cursor, of)
    again, found = _asked(of, reversed(heard)), _asked(of, silent)
    twice = [each for each in heard if not _given_up(first, each) and not _given_up(again, each)]
    once = [each for each in silent if not _given_up(found, each)]
    changed = list(_changed(twice, first, again))
    unsound = list(_unsound(once, found))
    return {
        "asked_twice": len(twice),
        "changed": len(changed),
        "changed_examples": changed[:SHOWN],
        "silent": len(once),
        "unsound": len(unsound),
        "unsound_examples": unsound[:SHOWN],
    }


def _given_up(said: Said, sampled: Sampled) -> bool:
    """Whether the code was not asked any more when it came to this output, which says nothing of it."""
    told = said.get(sampled[0])
    return bool(told and told.error and told.error.startswith(NOT_ASKED))


def _samples(cursor: Cursor, of: Detector, sample: int) -> tuple[list[Sampled], list[Sampled]]:
    """Outputs that the code was shown, and outputs that its triggers kept from it."""
    heard: list[Sampled] = []
    silent: list[Sampled] = []
    for each in _outputs(cursor):
        kept = heard if _was_shown(of, each[2]) else silent
        if len(kept) < sample:
            kept.append(each)
    return heard, silent


def _was_shown(of: Detector, output: Output) -> bool:
    texts = [output.content, output.reasoning, *(text for call in output.calls for text in (call.name, call.arguments))]
    if of.triggers == (EVERY,):
        return any(texts)
    return any(of.may_find(text, output.offered_names) for text in texts if text)


def _outputs(cursor: Cursor) -> Iterator[Sampled]:
    reading = cursor.execute(_SAMPLED)
    while rows := reading.fetchmany(ROWS):
        for key, generation, run, content, reasoning, calls, tools, known, inferred, finish, mode in rows:
            output = output_of_columns(
                content=content,
                reasoning=reasoning,
                calls=calls,
                tools=tools,
                tools_known=known,
                inferred_names=inferred,
                finish_reason=finish,
                mode=mode,
            )
            yield key.bytes, (generation, run), output


def _said(cursor: Cursor, of: Detector) -> dict[bytes, StoredVerdict]:
    rows: list[tuple[UUID, Any]] = cursor.execute(_SAID, [of.id]).fetchall()
    return {key.bytes: StoredVerdict(key.bytes, *rest) for key, *rest in rows}


def _changed(heard: list[Sampled], first: Said, again: Said) -> Iterator[dict[str, Any]]:
    for key, place, _ in heard:
        before, now = first.get(key), again.get(key)
        if _comparable(before) != _comparable(now):
            yield {**_named(place), "first": _brief(before), "second": _brief(now)}


def _unsound(silent: list[Sampled], found: Said) -> Iterator[dict[str, Any]]:
    for key, place, _ in silent:
        told = found.get(key)
        if told and told.error is None:
            yield {**_named(place), "finding": _brief(told), "markup": (told.markup or "")[:200]}


def _asked(of: Detector, outputs: Iterable[Sampled]) -> dict[bytes, StoredVerdict]:
    return {told.verdict_key: told for told in verdicts_on(of, ((key, output) for key, _, output in outputs))}


def _comparable(told: StoredVerdict | None) -> object:
    """What must be the same again; how a failure is worded may differ."""
    if told is None or told.error is None:
        return told
    return "failed"


def _brief(told: StoredVerdict | None) -> str:
    if told is None:
        return "no finding"
    if told.error is not None:
        return f"failed ({told.error})"
    calls = f", calls {told.calls[:80]}" if told.calls and told.calls != "[]" else ""
    return f"{told.kind}, {told.tier}, {told.channel} {told.start}–{told.end}{calls}"


def _named(place: Place) -> dict[str, str]:
    generation, run = place
    return {"generation_id": generation, "run_id": run}
