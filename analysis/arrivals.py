"""What is ingested is searched for triggers and judged as it arrives, while its texts are in memory."""

from collections.abc import Iterable, Iterator, Mapping

import polars as pl
import pyarrow as pa

from analysis.candidate_outputs import Stored, arrived, keep, room
from analysis.detectors import Detector, detectors
from analysis.offered_names import naming
from analysis.output import Output
from analysis.trigger_index import Known, add_terms, keep_arrived, known
from analysis.triggers import Term, Wanted, search
from ingest.batch import Batch, Judgeable
from ingest.columns import table
from ingest.store import Cursor, insert

_NAMING = """
INSERT INTO naming SELECT verdict_key FROM arriving a
WHERE NOT EXISTS (FROM naming n WHERE n.verdict_key = a.verdict_key)
"""
Candidates = list[tuple[Stored, Output]]


class Arrivals:
    """The batches of an upload as they come: `index` notes what they hold, `candidates` are what `detector` has to
    look at of one. For one upload and one thread."""

    def __init__(self, detector: Detector) -> None:
        self._wanted = Wanted.by(detector)
        self._indexed: tuple[Batch, Candidates] | None = None

    def index(self, cursor: Cursor, batch: Batch, before: int) -> None:
        """Keep which new texts of `batch` hold which trigger, which outputs name a tool, and the candidates."""
        live = self._live(cursor, before)
        found = _Found(batch, live.keys() | self._wanted.terms)
        keep_arrived(cursor, live, found.hits(live), before)
        naming_keys = naming(batch)
        if naming_keys:
            insert(cursor, _NAMING, table((("verdict_key", pa.uuid()),), [(key,) for key in naming_keys]))
        candidates = _candidates(batch, self._wanted, found, naming_keys)
        if len(candidates) <= room(cursor):
            keep(cursor, candidates)
        self._indexed = batch, candidates

    def candidates(self, batch: Batch) -> Candidates:
        """The outputs of `batch` that the detector has to look at, one for each verdict key."""
        indexed, self._indexed = self._indexed, None
        if indexed and indexed[0] is batch:
            return indexed[1]
        names = naming(batch) if self._wanted.by_name else set[bytes]()
        return _candidates(batch, self._wanted, _Found(batch, self._wanted.terms), names)

    def _live(self, cursor: Cursor, before: int) -> Known:
        """The terms that every text up to `before` was searched for. A new store begins with those of our own
        detectors."""
        if not before:
            ours = {term for each in detectors() for term in Wanted.by(each).terms}
            add_terms(cursor, ours | self._wanted.terms, 0)
        return {term: state for term, state in known(cursor).items() if state[1] >= before}


class _Found:
    """Which texts of a batch hold which terms."""

    def __init__(self, batch: Batch, terms: Iterable[Term]) -> None:
        self._terms = sorted(terms)
        self._hashes = list(batch.texts)
        self._found = search(batch.column(), self._terms)

    def holding(self, terms: Iterable[Term]) -> set[bytes]:
        """The texts that hold one of `terms`."""
        numbers = [at for at, term in enumerate(self._terms) if term in {*terms}]
        found = self._found.filter(pl.col("term").is_in(numbers))["at"].unique()
        return {self._hashes[at] for at in found.to_list()}

    def hits(self, live: Known) -> pl.DataFrame:
        """Rows of (hash as hex, trigger_id) for the terms among `live`."""
        ids = [live[term][0] if term in live else None for term in self._terms]
        hashes = pl.Series([key.hex() for key in self._hashes], dtype=pl.String)
        return pl.DataFrame(
            {
                "hash": hashes.gather(self._found["at"]),
                "trigger_id": pl.Series(ids, dtype=pl.Int32).gather(self._found["term"]),
            }
        ).drop_nulls()


def _candidates(batch: Batch, wanted: Wanted, found: _Found, naming_keys: set[bytes]) -> Candidates:
    chosen = {each.verdict_key: each for each in _chosen(batch, wanted, found, naming_keys)}
    lists: Mapping[bytes, str] = batch.tool_lists
    stored = [arrived(each, batch) for each in chosen.values()]
    return [(each, each.output(lists)) for each in stored]


def _chosen(batch: Batch, wanted: Wanted, found: _Found, naming_keys: set[bytes]) -> Iterator[Judgeable]:
    if wanted.everything:
        yield from batch.generations
        return
    words, calls = found.holding(wanted.words), found.holding(wanted.calls)
    named = naming_keys if wanted.by_name else set[bytes]()
    for each in batch.generations:
        entry = each.entry
        held = entry.content in words or entry.reasoning in words or entry.tool_calls in calls
        if held or each.verdict_key in named:
            yield each
