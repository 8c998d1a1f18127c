"""Detectors over stored outputs: at ingest, and over the history that a detector has not seen yet.

A text without a trigger cannot be a finding, so only the outputs that hold one reach Python. Which texts hold which
trigger is known once and kept (`analysis.trigger_index`), and so are the outputs that had to be looked at
(`analysis.candidate_outputs`).
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from itertools import islice

import pyarrow as pa
from pydantic_core import to_json

from analysis.arrivals import Arrivals
from analysis.candidate_choice import Part, choose, parts
from analysis.candidate_outputs import arrived, forget_outdated, keep
from analysis.detectors import Detector, Failure, Finding, judge_all
from analysis.output import Output
from analysis.trigger_index import catch_up
from analysis.triggers import Wanted
from analysis.workers import Workers
from ingest.batch import Batch, Judgeable
from ingest.collector import collector_at_rest
from ingest.columns import table
from ingest.retention.prunings import state
from ingest.stale import verdicts_changed
from ingest.store import Cursor, Store, atomic, insert
from ingest.verdict_rows import Judge, StoredVerdict, keep_verdicts

PART = 512
"""Outputs that are judged at once: those of a whole batch may take ten seconds."""


def judge_for(detector: Detector, go_on: Callable[[], object] = lambda: None) -> Judge:
    """`detector` as what judges each batch of an upload that is ingested; `go_on` is called before each output, and
    may raise Stopping."""
    arrivals = Arrivals(detector)

    def candidates(batch: Batch) -> Iterator[tuple[bytes, Output]]:
        for each, output in arrivals.candidates(batch):
            go_on()
            yield each.verdict_key, output

    return Judge(detector.id, lambda batch: verdicts_on(detector, candidates(batch)), arrivals.index)


def output_of(generation: Judgeable, batch: Batch) -> Output:
    """A generation as a detector sees it."""
    return arrived(generation, batch).output(batch.tool_lists)


def verdicts_on(detector: Detector, outputs: Iterable[tuple[bytes, Output]]) -> Iterator[StoredVerdict]:
    """What `detector` says of the outputs, each with its verdict key; nothing of a clean one. A failure on an output
    is a counted result. The one place where outputs become verdicts."""
    coming = iter(outputs)
    while part := list(islice(coming, PART)):
        for (key, _), said in zip(part, judge_all(detector, [output for _, output in part]), strict=True):
            if isinstance(said, Failure):
                yield StoredVerdict(key, error=said.why)
            elif said:
                yield _stored(key, said)


def _stored(verdict_key: bytes, found: Finding) -> StoredVerdict:
    return StoredVerdict(
        verdict_key=verdict_key,
        kind=found.kind,
        family=found.family,
        tier=found.tier,
        tool=found.tool,
        channel=found.channel,
        start=found.start,
        end=found.end,
        markup=found.markup,
        reason=found.reason,
        calls=to_json(found.calls).decode(),
    )


_UNSEEN = """
SELECT upload_id, lines FROM uploads u
WHERE state = 'done' AND NOT EXISTS (FROM coverage c WHERE c.detector = $detector AND c.upload_id = u.upload_id)
"""
_JUDGED = "INSERT INTO judged_so_far SELECT $detector, verdict_key FROM arriving"
_COVERED = """
INSERT INTO coverage SELECT $detector, upload_id FROM uploads u JOIN (
    SELECT unnest($uploads::INTEGER[]) AS upload_id, unnest($lines::BIGINT[]) AS lines
) seen USING (upload_id)
WHERE u.lines IS NOT DISTINCT FROM seen.lines
AND NOT EXISTS (FROM coverage c WHERE c.detector = $detector AND c.upload_id = u.upload_id)
"""
"""But for an upload that has grown meanwhile (`ingest.rolling`): of that something may not be judged."""
_ALL_COVERED = f"DELETE FROM judged_so_far WHERE detector = $detector AND NOT EXISTS ({_UNSEEN})"  # noqa: S608
_FORGET = ("coverage", "judged_so_far")
_FORGET_VERDICTS = """
DELETE FROM verdicts WHERE detector = $1
AND verdict_key NOT IN (SELECT verdict_key FROM generations WHERE pruning IS NOT NULL)
OR detector = $1 AND verdict_key IN (SELECT verdict_key FROM generations WHERE pruning IS NULL)
"""


def judge_history(
    store: Store,
    detector: Detector,
    progress: Callable[[int], object] = lambda _: None,
    *,
    workers: int | None = None,
) -> int:
    """Judge every stored output that `detector` has not seen, in `workers` processes (None: as many as pay); the
    number of outputs that it had to look at.

    `progress` is told the texts searched and then, from nothing again, the outputs judged so far. Interrupted, it
    keeps what it has, and goes on there. An upload that arrives or grows meanwhile is left for the next time.
    """
    if not _unseen(store, detector):
        return 0
    # code that a command runs is not waited for by another command that runs it too
    waits = detector.brought is None or detector.brought.rules is not None
    with store.judging(detector.id) if waits else nullcontext():
        return _judge_unseen(store, detector, progress, workers)


def _unseen(store: Store, detector: Detector) -> dict[int, int]:
    with store.cursor() as cursor:
        return unseen(cursor, detector)


def _judge_unseen(store: Store, detector: Detector, progress: Callable[[int], object], workers: int | None) -> int:
    """Judge what is still unseen: another thread may have done it meanwhile."""
    uploads = _unseen(store, detector)
    if not uploads:
        return 0
    catch_up(store, Wanted.by(detector).terms, progress)
    forget_outdated(store)
    # one transaction: what is deleted meanwhile is still there to be read
    with store.cursor() as cursor, atomic(cursor), collector_at_rest():
        before = state(cursor)
        chosen = choose(cursor, detector, list(uploads))
        progress(0)
        with Workers(detector, verdicts_on, chosen, workers) as judges:
            done = _judge_parts(store, detector, parts(cursor) if chosen else (), judges, progress, before)
    if not done:
        return _judge_unseen(store, detector, progress, workers)
    with store.transaction() as writer:
        writer.execute(_COVERED, {"detector": detector.id, "uploads": list(uploads), "lines": list(uploads.values())})
        verdicts_changed(writer, detector.id)
        writer.execute(_ALL_COVERED, {"detector": detector.id})
    return chosen


def unseen(cursor: Cursor, detector: Detector) -> dict[int, int]:
    """The uploads that `detector` has not judged whole, and how many lines each has."""
    return dict(cursor.execute(_UNSEEN, {"detector": detector.id}).fetchall())


def _judge_parts(
    store: Store,
    detector: Detector,
    judged: Iterable[Part],
    judges: Workers,
    progress: Callable[[int], object],
    before: tuple[object, ...],
) -> bool:
    """Whether nothing was taken out of the store meanwhile; else what is left of it is to be chosen anew."""
    done = 0
    for part in judged:
        if not _judge_part(store, detector, part, judges, before):
            return False
        done += len(part.outputs)
        progress(done)
    return True


def _judge_part(store: Store, detector: Detector, part: Part, judges: Workers, before: tuple[object, ...]) -> bool:
    """False, and nothing is kept, if something was taken out since `before`: a verdict quotes a text, which may have
    gone."""
    verdicts = judges.verdicts([(each.verdict_key, output) for each, output in part.outputs])
    keys = table((("verdict_key", pa.uuid()),), [(each.verdict_key,) for each, _ in part.outputs])
    with store.transaction() as writer:
        if state(writer) != before:
            return False
        keep_verdicts(writer, detector.id, verdicts)
        insert(writer, _JUDGED, keys, {"detector": detector.id})
        if part.to_keep:
            keep(writer, part.outputs)
    return True


def forget(cursor: Cursor, detector: Detector) -> None:
    """Drop what `detector` has said, so that it judges all anew; but for what it said of outputs that were pruned
    since, which nobody can judge any more. Within the writer's transaction."""
    verdicts_changed(cursor, detector.id)
    cursor.execute(_FORGET_VERDICTS, [detector.id])
    for name in _FORGET:
        cursor.execute(f"DELETE FROM {name} WHERE detector = $1", [detector.id])  # noqa: S608 - our own names
