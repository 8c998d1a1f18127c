"""Packs: the labelled outputs of a store as one file, for replays without a store.

JSON Lines: a header `{"type":"pack","version":1,…}`, then native records: each labelled generation with all that a
detector may look at, and each person's last word on it. Beside the header it is an ordinary native file. What a
detector cannot see and a replay does not need (usage, tags, unknown fields, the raw text) stays at home. The same
store gives the same bytes, so that a pack in a repository changes only where labels did.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

from pydantic_core import to_json

from ingest.errors import InputError, NotFound
from ingest.export import as_record, rows
from ingest.files.containers import Source
from ingest.files.framing import records
from ingest.files.opening import Opened
from ingest.formats import Line
from ingest.formats.native import is_header
from ingest.records import SERIES, Generation
from ingest.redaction import Redactor
from ingest.store import Cursor, Store, atomic, one

VERSION = 1

_CLOSED = (
    "type", "turn", "round", "attempt", "linked_by", "started_at", "at", "call_mode", "status", "role",
    "finish_fidelity", "text_fidelity", "leak", "kind", "resolution",
)  # fmt: skip
"""Fields whose values are not free text: a pattern must not turn them into something else."""
_TEXTS = ("content", "reasoning", "tool_calls")
_KEPT = (
    "run_id", "generation_id", "turn", "round", "attempt", "linked_by", "started_at", *SERIES, "call_mode", "tools",
    *_TEXTS, "finish_reason", "finish_fidelity", "text_fidelity", "status", "role",
)  # fmt: skip

_PACKED = """
CREATE OR REPLACE TEMP TABLE packed AS
SELECT g.* REPLACE (
    CASE WHEN count(*) OVER same > 1 THEN g.generation_id || '#' || row_number() OVER (same ORDER BY {place})
    ELSE g.generation_id END AS generation_id, NULL AS extra
)
FROM facts g WHERE g.pruning IS NULL AND EXISTS (FROM last_words l WHERE l.verdict_key = g.verdict_key)
WINDOW same AS (PARTITION BY g.run_id, g.generation_id)
""".format(place="g.upload_id, g.line, g.position")
"""Outputs that share an id within a run (a repeated id with other content) are told apart, or a label of the pack
would belong to neither."""
_GENERATIONS = """
SELECT p.* REPLACE (c.text AS content, r.text AS reasoning, k.text AS tool_calls, l.tools AS tools)
FROM packed p LEFT JOIN texts c ON c.hash = p.content LEFT JOIN texts r ON r.hash = p.reasoning
LEFT JOIN texts k ON k.hash = p.tool_calls LEFT JOIN tool_lists l ON l.hash = p.tools
ORDER BY p.upload_id, p.line, p.position
"""
_LABELS = """
CREATE OR REPLACE TEMP TABLE pack_labels AS
SELECT p.place, p.run_id, p.generation_id, l.leak, l.kind, l.by_whom AS "by", l.labelled_at AS at, l.note, l.resolution
FROM last_words l JOIN (
    SELECT verdict_key, min((upload_id, line, position)) AS place,
        arg_min(run_id, (upload_id, line, position)) AS run_id,
        arg_min(generation_id, (upload_id, line, position)) AS generation_id
    FROM packed GROUP BY verdict_key
) p ON p.verdict_key = l.verdict_key
"""
"""Each person's last word and each resolution, as `truth` takes them, of the first output with that verdict key."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a pack; the counts are None in one that was written by hand."""

    version: int
    redacted: bool = False
    generations: int | None = None
    labels: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The line."""
        return {"type": "pack", **asdict(self)}


def write(store: Store, out: BinaryIO, redactor: Redactor | None = None) -> Header:
    """Write the labelled outputs of `store` as a pack to `out`; its header. NotFound if nothing is labelled."""
    disguise = _Disguise(redactor) if redactor else None
    with store.cursor() as cursor, atomic(cursor):
        cursor.execute(_PACKED)
        cursor.execute(_LABELS)
        [generations, labels] = one(cursor, "SELECT (SELECT count(*) FROM packed), (SELECT count(*) FROM pack_labels)")
        if not labels:
            raise NotFound("no output here is labelled, so there is nothing to pack; label some on the Review page")
        header = Header(VERSION, redactor is not None, generations, labels)
        out.write(to_json(header.as_json()) + b"\n")
        for record in _records(cursor):
            out.write(to_json(disguise.record(record) if disguise else record, inf_nan_mode="null") + b"\n")
    return header


def _records(cursor: Cursor) -> Iterator[dict[str, Any]]:
    for row in rows(cursor, _GENERATIONS):
        record = {name: value for name, value in as_record(Generation, row).items() if name in _KEPT}
        # a pack holds a part of a run: what the rest of it called must travel along
        inferred = {} if row["tools_known"] else {"inferred_names": row["inferred_names"] or []}
        yield {"type": "generation", **record, **inferred}
    for row in rows(cursor, 'FROM pack_labels ORDER BY place, "by"'):
        yield _label(row)


def _label(row: Mapping[str, Any]) -> dict[str, Any]:
    at = f"{row['at'].isoformat()}Z" if row["at"] else None
    said = {"kind": row["kind"], "by": row["by"], "at": at, "note": row["note"]}
    return {
        "type": "label",
        "generation_id": row["generation_id"],
        "run_id": row["run_id"],
        "leak": row["leak"],
        **({"resolution": True} if row["resolution"] else {}),
        **{name: value for name, value in said.items() if value is not None},
    }


class _Disguise:
    """Takes what is secret out of the records of a pack, and the names of people; what differed still differs."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._people: dict[str, str] = {}
        self._ids: dict[str, str] = {}

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """`record` redacted."""
        free = {name: value for name, value in record.items() if name not in _CLOSED}
        changed = {**record, **self._redactor.value(free)}
        changed |= {name: self._id(record[name]) for name in ("run_id", "generation_id")}
        if "by" in record:
            changed["by"] = self._people.setdefault(record["by"], f"reviewer-{len(self._people) + 1}")
        if any(changed.get(name) != record.get(name) for name in _TEXTS):
            changed["text_fidelity"] = "redacted"
        return changed

    def _id(self, given: str) -> str:
        """An id without what is secret in it; two that become the same are numbered."""
        if given not in self._ids:
            shown = str(self._redactor.value(given))
            self._ids[given] = shown if shown == given else f"{shown}-{len(self._ids) + 1}"
        return self._ids[given]


def header(source: Source) -> Header:
    """The first line of the pack `source`. InputError if it is none, or of another version."""
    with ExitStack() as stack:
        members = Opened(source, stack).members
        first = next(iter(records(members[0].open())), None) if len(members) == 1 else None
    value = first.value if isinstance(first, Line) else None
    if not isinstance(value, dict) or not is_header(value):
        raise InputError(f'{source.name}: no pack; the first line of one is {{"type":"pack","version":{VERSION}}}')
    version = value["version"]
    if type(version) is not int or version != VERSION:
        raise InputError(
            f"{source.name}: a pack of version {version!r}; this leakdown reads version {VERSION}: update it, "
            "or export the pack anew"
        )
    counts = {name: n for name in ("generations", "labels") if isinstance(n := value.get(name), int)}
    return Header(VERSION, value.get("redacted") is True, **counts)


_READ = """
SELECT (SELECT count(*) FROM generations), count(*), count(*) FILTER (verdict_key IS NULL) FROM labels
"""


def require_whole(store: Store, name: str, promised: Header, quarantined: Mapping[str, int]) -> None:
    """InputError if the pack that was just read into `store` lost a line on the way: a short pack would pass gates."""
    if quarantined:
        lines, why = sum(quarantined.values()), next(iter(quarantined))
        raise InputError(f"{name}: {lines:,} of its lines are no records ({why}); mend it, or export it anew")
    with store.cursor() as cursor:
        generations, labels, adrift = one(cursor, _READ)
    if adrift:
        raise InputError(f"{name}: {adrift:,} of {labels:,} labels name no output of it, or several; mend it")
    for what, found, told in (("outputs", generations, promised.generations), ("labels", labels, promised.labels)):
        if told is not None and found < told:
            raise InputError(f"{name}: its first line tells of {told:,} {what}, and {found:,} are there; copy it anew")
