"""Labels from files into the store: each once, those of unknown generations kept aside until these arrive."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from analysis.labels.files import read
from ingest import columns
from ingest.actions import note
from ingest.errors import InputError, TooLarge
from ingest.files.containers import Source
from ingest.formats import Quarantined, Skipped
from ingest.joining import bind_labels
from ingest.records import Label
from ingest.redaction import Redactor
from ingest.store import Cursor, Store, insert, one

SHOWN = 20
"""Quarantined lines that a result tells one by one."""
MOST = 1_000_000
"""Labels of one file: people's work, and held in memory."""

_ARRIVE = "CREATE OR REPLACE TEMP TABLE arrived_labels AS FROM arriving"
_NEW = """
CREATE OR REPLACE TEMP TABLE new_labels AS
WITH told AS (
    SELECT *, {'leak': leak, 'kind': kind, 'note': note} AS said, labelled_at IS NULL AS untimed,
        coalesce(run_id, '') AS run, coalesce(resolution, false) AS resolving FROM arrived_labels
), stored AS (
    SELECT *, {'leak': leak, 'kind': kind, 'note': note} AS said, coalesce(run_id, '') AS run,
        coalesce(resolution, false) AS resolving FROM labels
), before AS (
    SELECT generation_id, run, by_whom, resolving, last(said ORDER BY labelled_at NULLS FIRST,
        recorded_at NULLS FIRST, upload_id NULLS LAST, line NULLS LAST) AS said
    FROM stored WHERE taken_back_at IS NULL GROUP BY generation_id, run, by_whom, resolving
), marked AS (
    SELECT t.*, coalesce(lag(t.said) OVER in_turn, b.said) AS said_before,
        row_number() OVER (
            PARTITION BY t.generation_id, t.run, t.by_whom, t.resolving, t.said, t.labelled_at ORDER BY t.line
        ) AS occurrence
    FROM told t LEFT JOIN before b USING (generation_id, run, by_whom, resolving)
    WINDOW in_turn AS (PARTITION BY t.generation_id, t.run, t.by_whom, t.resolving, t.untimed ORDER BY t.line)
)
SELECT * EXCLUDE (said, untimed, run, resolving, said_before, occurrence) FROM marked m
WHERE CASE WHEN untimed THEN said IS DISTINCT FROM said_before ELSE occurrence = 1 AND NOT EXISTS (
    FROM stored s WHERE s.generation_id = m.generation_id AND s.run = m.run AND s.by_whom = m.by_whom
        AND s.resolving = m.resolving AND s.said IS NOT DISTINCT FROM m.said AND s.labelled_at = m.labelled_at
) END
"""
"""A label with a time is known by all that it says. One without a time is new if it changes its person's last word,
in the store or above it in the file: so the same file again changes nothing."""
_KEEP = """
INSERT INTO labels BY NAME SELECT * REPLACE (
    md5(concat_ws(':', key, $now, line))::UUID AS key, coalesce(labelled_at, $now) AS labelled_at
), $now AS recorded_at, $source AS source FROM new_labels
"""
_ASIDE = """
SELECT count(*) FILTER (NOT here), count(*) FILTER (here) FROM (
    SELECT EXISTS (FROM generations g WHERE g.generation_id = l.generation_id
        AND (l.run_id IS NULL OR l.run_id = g.run_id)) AS here
    FROM labels l WHERE l.verdict_key IS NULL AND l.recorded_at = $now AND l.source = $source
)
"""


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a file of labels: new + duplicate + skipped + quarantined lines. Of the new ones, `unknown` are
    kept aside until their generation arrives, `ambiguous` since their id names several different outputs."""

    path: str
    new: int
    duplicate: int
    skipped: dict[str, int]
    quarantined: list[Quarantined]
    unknown: int
    ambiguous: int

    def as_json(self) -> dict[str, Any]:
        """Counts, and the first quarantined lines."""
        shown = [{"line": each.line, "reason": each.why} for each in self.quarantined[:SHOWN]]
        return {
            "path": self.path,
            "new": self.new,
            "duplicate": self.duplicate,
            "skipped": sum(self.skipped.values()),
            "quarantined": len(self.quarantined),
            "aside": {"unknown": self.unknown, "ambiguous": self.ambiguous},
            "skipped_why": self.skipped,
            "quarantined_lines": shown,
        }


def import_labels(
    store: Store, source: Source, now: datetime, by: str | None = None, redactor: Redactor | None = None
) -> Imported:
    """Read the labels of `source` into `store`, all at once. A label without a time is given `now` (UTC), one without
    a person is `by`'s. A `redactor` takes out what is secret.

    InputError, with nothing kept, where no line holds a label.
    """
    labels, skipped, faulty = _read(source, by, redactor)
    if not labels:
        raise InputError(f"{source.name}: no label in it ({_why_none(skipped, faulty)})")
    rows = columns.table(columns.LABELS, [columns.label_row(*each) for each in labels])
    moment = now.replace(tzinfo=None)
    with store.transaction() as cursor:
        insert(cursor, _ARRIVE, rows)
        new, unknown, ambiguous = _keep(cursor, moment, source.name)
        note(cursor, "import labels", f"{source.name}: {new:,} new")
    return Imported(source.name, new, len(labels) - new, dict(skipped), faulty, unknown, ambiguous)


def _read(
    source: Source, by: str | None, redactor: Redactor | None
) -> tuple[list[tuple[int, Label]], Counter[str], list[Quarantined]]:
    labels: list[tuple[int, Label]] = []
    skipped: Counter[str] = Counter()
    faulty: list[Quarantined] = []
    for each in read(source, by):
        match each:
            case Skipped(why=why):
                skipped[why] += 1
            case Quarantined():
                faulty.append(redactor.quarantined(each) if redactor else each)
            case (number, label):
                labels.append((number, _redacted(label, redactor)))
        if len(labels) > MOST:
            raise TooLarge(f"{source.name}: more than {MOST:,} labels; split the file")
    return labels, skipped, faulty


def _why_none(skipped: Counter[str], faulty: list[Quarantined]) -> str:
    if faulty:
        return f"line {faulty[0].line}: {faulty[0].why}"
    return ", ".join(f"{n} × {why}" for why, n in skipped.items()) or "it is empty"


def _redacted(label: Label, redactor: Redactor | None) -> Label:
    if redactor is None:
        return label
    return Label.model_validate(redactor.value(label.model_dump(mode="json", exclude_unset=True)))


def _keep(cursor: Cursor, now: datetime, source: str) -> tuple[int, int, int]:
    """Keep what is new; its number, and how many of them are unknown and ambiguous."""
    me = {"now": now, "source": source}
    cursor.execute(_NEW)
    [new] = one(cursor, _KEEP, me)
    bind_labels(cursor)
    unknown, ambiguous = one(cursor, _ASIDE, me)
    return int(new), unknown, ambiguous
