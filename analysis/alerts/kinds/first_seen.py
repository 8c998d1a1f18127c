"""A family or a kind of leak that a line never had before."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from analysis.alerts.alarms import Alarm, Watched, short
from analysis.alerts.histories import OF_LINE, History, Line, Row, Watch, in_order, leaks, same
from analysis.alerts.rules import BaselineRule
from analysis.drift.cells import GROUP, LINE, Part
from analysis.statistics.intervals import FEWEST_RUNS, clustered_rate_from_sums

WHATS = ("family", "kind")
Sightings = dict[Line, dict[tuple[str, str], list[Row]]]

_SEEN = f"""
WITH seen AS (
    SELECT {", ".join(f"g.{name}" for name in LINE)}, g.tools_known, g.run_id, v.{{what}} AS value, count(*) AS hits
    FROM facts g JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
    WHERE g.eligible AND v.tier IN ('certain', 'likely') AND v.kind <> 'printed_call' AND {{condition}}
    GROUP BY ALL
)
SELECT {", ".join(f"seen.{name}" for name in GROUP.split(", "))}, value, w.day, w.n, seen.hits, count(*)
FROM seen JOIN watched_runs w ON {same("seen", "w")} WHERE value IS NOT NULL GROUP BY ALL ORDER BY w.day
"""  # noqa: S608 - the names are ours


class FirstSeen(BaselineRule):
    """A family or a kind of leak stands on a line after its baseline, and never stood within it."""

    kind: Literal["first_seen"]

    def watch(self, over: Watch) -> Watched:
        """All lines. It is a fact and no test, so no evidence is asked of it; too little is known of lines with under
        ten runs in the baseline, on which nearly everything would be new."""
        every = [*leaks(over, self.first_day)]
        known = [each for each in every if each.before(self.baseline_days).runs >= FEWEST_RUNS]
        sightings = _sightings(over)
        alarms = [alarm for line in known for alarm in self._new(line, sightings.get(line.line, {}))]
        return Watched(len(every), len(every) - len(known), tuple(sorted(alarms, key=lambda each: each.since)))

    def _new(self, history: History, seen: dict[tuple[str, str], list[Row]]) -> Iterator[Alarm]:
        monitored = history.after(self.baseline_days)
        for of in sorted(seen, key=in_order):
            if seen[of][0][0] >= monitored.first:
                yield self._alarm(history, of, seen[of])

    def _alarm(self, history: History, of: tuple[str, str], seen: list[Row]) -> Alarm:
        since = seen[0][0]
        baseline, recent = _part(history.before(self.baseline_days), []), _part(history.since(since), seen)
        what = (
            f"{of[0]} {short(of[1])} first seen on {since}, {recent.rate.hits:,} of {recent.rate.n:,} since, and never "
            f"in its first {self.baseline_days} days (0 of {baseline.rate.n:,}); a fact, not a test"
        )
        return Alarm(history.line, since, baseline, recent, what, of=of)


def _sightings(over: Watch) -> Sightings:
    """Of every line and each family and kind, the runs that have it, in order of their days."""
    condition, parameters = over.filters.sql()
    found: Sightings = defaultdict(lambda: defaultdict(list))
    for what in WHATS:
        sql = _SEEN.format(what=what, condition=condition)
        for row in over.cursor.execute(sql, {"detector": over.detector_id, **parameters}).fetchall():
            found[row[:OF_LINE]][what, row[OF_LINE]].append(row[OF_LINE + 1 :])
    return found


def _part(history: History, seen: list[Row]) -> Part:
    """The runs of `history`, with what was `seen` in some of them as hits."""
    whole = history.part
    hits = sum(found * times for *_, found, times in seen)
    crossed = sum(n * found * times for _, n, found, times in seen)
    squared = sum(found**2 * times for *_, found, times in seen)
    outputs = sum(n * n * times for _, n, _, times in history.rows)
    rate = clustered_rate_from_sums(hits, whole.rate.n, whole.runs, outputs, crossed, squared)
    return Part(rate, whole.runs, whole.first_day, whole.last_day)
