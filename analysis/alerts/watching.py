"""All rules over the whole history, and what people said of what they found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from analysis.alerts.alarms import Alarm, Watched
from analysis.alerts.files import AnyRule
from analysis.alerts.histories import Line, Watch
from analysis.alerts.words import OPEN, Word, last_words, spoken
from analysis.detectors import Detector
from analysis.drift.cells import GROUP, collect
from analysis.filters import Filters
from analysis.recovery.outcomes import follow
from analysis.rollups import up_to_date
from ingest.store import Cursor, Store

_LINES = f"SELECT DISTINCT {GROUP} FROM run_cells"  # noqa: S608 - the names are ours


@dataclass(frozen=True, slots=True)
class Alerts:
    """What each rule found, the last words of people, and of which lines alerts are listed (None: of all)."""

    found: tuple[tuple[AnyRule, Watched], ...]
    words: dict[str, Word]
    today: date
    listed: frozenset[Line] | None = None

    def as_json(self) -> dict[str, Any]:
        """`items`, open ones first, and of each rule what became of the lines that it watches."""
        found = self.unspoken()
        return {**found, "items": spoken(found["items"], self.words, self.today)}

    def unspoken(self) -> dict[str, Any]:
        """The same as if nothing had been said, in the order in which `analysis.alerts.words.spoken` takes them."""
        return {"items": [*self._items()], "rules": [_counts(rule, watched) for rule, watched in self.found]}

    def rule_of(self, alert: str) -> str | None:
        """The name of the rule whose alert it is; None if there is no such alert."""
        return next((rule.name for rule, alarm in self._alarms() if alarm.alert_id(rule.name) == alert), None)

    def _alarms(self) -> Iterator[tuple[AnyRule, Alarm]]:
        for rule, watched in self.found:
            yield from ((rule, alarm) for alarm in watched.alarms)

    def _items(self) -> Iterator[dict[str, Any]]:
        for rule, alarm in self._alarms():
            if self.listed is None or alarm.line in self.listed:
                id_ = alarm.alert_id(rule.name)
                yield {"id": id_, "rule": rule.name, "kind": rule.kind, **alarm.as_json(), **OPEN}


def _counts(rule: AnyRule, watched: Watched) -> dict[str, Any]:
    alarms, too_few = len(watched.alarms), watched.too_few
    return {"rule": rule.name, "kind": rule.kind, "lines": watched.lines, "alarms": alarms, "too_few": too_few}


def watch(
    store: Store, detector: Detector, today: date, rules: Sequence[AnyRule], asked: Filters | None = None
) -> Alerts:
    """By the verdicts of `detector`, which must have judged the whole history. Rules look at the whole of it, so that
    what is surprising does not hang on what is asked for; `asked` says of which lines alerts are listed."""
    with up_to_date(store, detector) as cursor:
        listed = _lines(cursor, detector.id, asked, today) if asked and asked != Filters() else None
        follow(cursor, detector.id)
        found = tuple(_watched(cursor, detector.id, rules, today))
        return Alerts(found, last_words(cursor), today, listed)


def _lines(cursor: Cursor, detector_id: str, asked: Filters, today: date) -> frozenset[Line]:
    collect(cursor, detector_id, asked, today)
    return frozenset(cursor.execute(_LINES).fetchall())


def _watched(
    cursor: Cursor, detector_id: str, rules: Sequence[AnyRule], today: date
) -> Iterator[tuple[AnyRule, Watched]]:
    made: Filters | None = None
    for rule in rules:
        filters = Filters.parse(rule.where)
        if filters != made:
            collect(cursor, detector_id, filters, today)
        made = filters
        yield rule, rule.watch(Watch(cursor, detector_id, filters))
