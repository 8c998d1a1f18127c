"""What must hold of a store after anything: nothing half there, nothing twice, and all that is kept ready is right."""

import io
import json
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.detectors import detector
from analysis.registry import current, judged
from analysis.trigger_index import known
from analysis.triggers import search
from api.backend import LocalBackend
from ingest.export import to_jsonl
from ingest.store import Store
from tests.durability.history import NEVER, OTHER
from tests.ingest.loading import rows

RAW = "run_id=*"
"""A filter that every generation passes and no rollup answers."""
_OUTPUTS = ("verdicts", "naming", "candidate_outputs", "judged_so_far")
_UPLOADS = ("generations", "events", "runs", "coverage", "searched_for_names", "sightings", "quarantine", "skipped")
_ONCE = {
    "texts": "hash", "generations": "key", "verdicts": "detector, verdict_key", "coverage": "detector, upload_id",
    "trigger_hits": "trigger_id, text_number", "triggers": "literal, place", "naming": "verdict_key",
    "candidate_outputs": "verdict_key", "uploads": "upload_id", "migrations": "number", "detectors": "detector",
}  # fmt: skip
_USED = "(SELECT unnest([content, reasoning, tool_calls, raw_text]) AS hash FROM generations)"


def _missing(column: str, table: str, there: str, within: str) -> str:
    """The values of a column that do not stand in another, NULLs aside."""
    return (
        f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL "  # noqa: S608 - our own names
        f"AND {column} NOT IN (SELECT {there} FROM {within} WHERE {there} IS NOT NULL)"
    )


def _twice(table: str, key: str) -> str:
    last = key.split(", ")[-1]
    return f"SELECT {key} FROM {table} WHERE {last} IS NOT NULL GROUP BY {key} HAVING count(*) > 1"  # noqa: S608


FAULTS = {
    "an upload half there": "FROM uploads WHERE state <> 'done'",
    "a text that is missing": _missing("hash", _USED, "hash", "texts"),
    "a text that nobody needs": _missing("hash", "texts", "hash", _USED),
    "a tool list that is missing": _missing("tools", "generations", "hash", "tool_lists"),
    "a tool list that nobody needs": _missing("hash", "tool_lists", "tools", "generations"),
    "a hit in no text": _missing("text_number", "trigger_hits", "number", "texts"),
    **{f"{each} of no output": _missing("verdict_key", each, "verdict_key", "generations") for each in _OUTPUTS},
    **{f"{each} of no upload": _missing("upload_id", each, "upload_id", "uploads") for each in _UPLOADS},
    **{f"{table} twice": _twice(table, key) for table, key in _ONCE.items()},
}
"""Rows that no store may have, each under what would be wrong."""


@dataclass(frozen=True, slots=True)
class State:
    """What a user has of a store: its records, its uploads, its current detector, its rates, a replay's report."""

    records: list[str]
    uploads: list[str]
    detector: str
    rates: list[dict[str, Any]]
    report: dict[str, Any]


def state(store: Store) -> State:
    """What a user has of `store`; that its rollups are the raw counts is asserted on the way."""
    backend = LocalBackend(store)
    rates = backend.figures.rates(("model", "engine"), (), None)
    assert rates == backend.figures.rates(("model", "engine"), (RAW,), None)
    page = backend.figures.runs((), None, leaking=False, cursor=None, limit=100)
    assert page == backend.figures.runs((RAW,), None, leaking=False, cursor=None, limit=100)
    report = backend.replays.replay(OTHER, NEVER, (), recompute=False)
    listed = [{**each, "upload_id": None, "created_at": None} for each in backend.uploads.listed()]
    return State(
        records=exported(store),
        uploads=sorted(map(json.dumps, listed)),
        detector=current(store).id,
        rates=rates,
        report={name: value for name, value in report.items() if name != "seconds"},
    )


def exported(store: Store) -> list[str]:
    """The records, whole, in an order of their own."""
    out = io.BytesIO()
    to_jsonl(store, out)
    return sorted(out.getvalue().decode().splitlines())


def sound(store: Store) -> None:
    """Assert that nothing is half there, and that what is known of triggers and the verdicts are what a search and a
    judging anew would give."""
    found = {name: rows(store, sql) for name, sql in FAULTS.items()}
    assert {name: some[:3] for name, some in found.items() if some} == {}
    _triggers_are_right(store)
    _verdicts_are_right(store)


def _triggers_are_right(store: Store) -> None:
    with store.cursor() as cursor:
        terms = known(cursor)
    texts = rows(store, "SELECT number, text FROM texts WHERE hash IS NOT NULL")
    numbers = [number for number, _ in texts]
    found = search(pl.Series([text for _, text in texts], dtype=pl.String), [*terms])
    there = {
        (term_id, numbers[at])
        for term, at in zip(found["term"], found["at"], strict=True)
        for term_id, searched_to in [[*terms.values()][term]]
        if numbers[at] <= searched_to
    }
    assert {*rows(store, "FROM trigger_hits")} == there


def _verdicts_are_right(store: Store) -> None:
    """Of each detector that has seen all uploads."""
    seen = "SELECT detector FROM coverage GROUP BY detector HAVING count(*) = (SELECT count(*) FROM uploads)"
    for (name,) in rows(store, seen):
        kept = rows(store, "FROM verdicts WHERE detector = $1 ORDER BY ALL", name)
        judged(store, detector(name), anew=True)
        assert rows(store, "FROM verdicts WHERE detector = $1 ORDER BY ALL", name) == kept
