"""Whose fault the leaks of a store are, by series: each share with its n and its interval, and what to set."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.detectors import Detector
from analysis.faults import FAULTS, Code, Fault, FaultOf, as_json
from analysis.faults.engines import Setting
from analysis.faults.rules import fault
from analysis.faults.stored import TOLD, stored_leak
from analysis.filters import Filters
from analysis.rates import DEFAULT_BY, checked
from analysis.recovery.stored_outputs import parts
from analysis.statistics.estimates import Pool, share
from ingest.store import Cursor, Store, atomic

TOLD_EVERY = 1_000
"""Leaks between two words of progress."""
_LEAKS = """
CREATE OR REPLACE TEMP TABLE wanted AS
SELECT row_number() OVER (ORDER BY g.run_id, g.upload_id, g.line, g.position) AS group_no, g.key, g.run_id,
    g.upload_id, g.line, g.tools_known, {columns}, v.kind, v.family, v.tier, v.tool, v.channel,
    v.start_at AS start, v.end_at AS "end", v.markup, v.reason
FROM facts g JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
WHERE g.eligible AND g.pruning IS NULL AND v.tier IN ('certain', 'likely') AND {condition}
"""
_APART = """
SELECT {keys}, g.tools_known, count(*) FROM facts g JOIN verdicts v
    ON v.detector = $detector AND v.verdict_key = g.verdict_key
WHERE NOT g.eligible AND v.tier IN ('certain', 'likely') AND {condition} GROUP BY ALL
"""
_PRUNED = _APART.replace("NOT g.eligible", "g.eligible AND g.pruning IS NOT NULL")
_ROWS = (
    "SELECT key::VARCHAR AS key, * EXCLUDE (key) FROM wanted WHERE group_no BETWEEN $first AND $last ORDER BY group_no"
)
Place = tuple[str | bool | None, ...]


@dataclass(slots=True)
class FaultRow:
    """The leaks of one series, tools known or not. `apart`: leaks of generations that are not eligible, such as
    retries; no share counts them. Nor does one count those that are `pruned`: what they were is told by their text."""

    series: dict[str, str | None]
    detector: str
    tools_known: bool
    faults: Pool[FaultOf] = field(default_factory=Pool)
    evidence: Counter[tuple[FaultOf, tuple[Code, ...]]] = field(default_factory=Counter)
    settings: Counter[Setting] = field(default_factory=Counter)
    last_run: str | None = None
    runs: int = 0
    apart: int = 0
    pruned: int = 0

    def add(self, run_id: str, found: Fault) -> None:
        """One leak; those of a run follow one another."""
        self.runs += run_id != self.last_run
        self.last_run = run_id
        self.faults.add(run_id, found.fault)
        self.evidence[found.fault, found.evidence] += 1
        if found.setting:
            self.settings[found.setting] += 1

    @property
    def leaks(self) -> int:
        """The n of all shares."""
        return self.faults.counts.total()

    def as_json(self) -> dict[str, Any]:
        """The keys of the command line's JSON."""
        return {
            **self.series,
            "detector": self.detector,
            "tools_known": self.tools_known,
            "leaks": self.leaks,
            "runs": self.runs,
            "faults": {each: self._share(each) for each in FAULTS},
            "evidence": [
                {"fault": of, "evidence": list(codes), "n": n}
                for (of, codes), n in sorted(self.evidence.items(), key=lambda item: (-item[1], item[0]))
            ],
            "settings": [
                {**as_json(setting), "n": n}
                for setting, n in sorted(self.settings.items(), key=lambda item: (-item[1], item[0].setting))
            ],
            "not_eligible": self.apart,
            "pruned": self.pruned,
        }

    def _share(self, of: FaultOf) -> dict[str, Any]:
        n = self.faults.counts[of]
        if not self.leaks:
            return {"n": 0, "rate": None, "low": None, "high": None}
        known = share(n / self.leaks, {each: float(each == of) for each in FAULTS}, self.faults)
        return {"n": n, "rate": known.value, "low": known.low, "high": known.high}


def fault_rows(
    store: Store,
    detector: Detector,
    by: Sequence[str] = DEFAULT_BY,
    filters: Filters | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> list[FaultRow]:
    """The rows by the series keys `by`, most leaks first; `detector` must have judged the whole history."""
    keys = checked(by)
    rows: dict[Place, FaultRow] = {}
    with store.cursor() as cursor, atomic(cursor):
        for done, (place, run_id, found) in enumerate(_found(cursor, detector, keys, filters or Filters()), 1):
            _row(rows, detector, keys, place).add(run_id, found)
            if done % TOLD_EVERY == 0:
                progress(done)
        for place, apart in _counted(_APART, cursor, detector, keys, filters or Filters()):
            _row(rows, detector, keys, place).apart += apart
        for place, pruned in _counted(_PRUNED, cursor, detector, keys, filters or Filters()):
            _row(rows, detector, keys, place).pruned += pruned
    return sorted(rows.values(), key=lambda row: (-row.leaks, [*map(str, row.series.values())], not row.tools_known))


def _row(rows: dict[Place, FaultRow], detector: Detector, keys: Sequence[str], place: Place) -> FaultRow:
    *series, tools_known = place
    named = {key: value if isinstance(value, str) else None for key, value in zip(keys, series, strict=True)}
    return rows.setdefault(place, FaultRow(named, detector.id, bool(tools_known)))


def _found(
    cursor: Cursor, detector: Detector, keys: Sequence[str], filters: Filters
) -> Iterator[tuple[Place, str, Fault]]:
    condition, parameters = filters.sql()
    columns = ", ".join(f"g.{name}" for name in dict.fromkeys((*keys, *TOLD)))
    cursor.execute(_LEAKS.format(columns=columns, condition=condition), {"detector": detector.id, **parameters})
    for part in parts(cursor):
        reading = cursor.execute(_ROWS, {"first": part.first, "last": part.last})
        names = [column[0] for column in reading.description or ()]
        for values in reading.fetchall():
            row = dict(zip(names, values, strict=True))
            place = (*(row[key] for key in keys), row["tools_known"])
            yield place, row["run_id"], fault(stored_leak(row, *part.outputs[row["key"]]))


def _counted(
    of: str, cursor: Cursor, detector: Detector, keys: Sequence[str], filters: Filters
) -> Iterable[tuple[Place, int]]:
    condition, parameters = filters.sql()
    sql = of.format(keys=", ".join(f"g.{key}" for key in keys), condition=condition)
    for *place, n in cursor.execute(sql, {"detector": detector.id, **parameters}).fetchall():
        yield tuple(place), n
