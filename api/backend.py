"""What leakdown can do with a store, in one place: the commands, the routes and the pages all call this.

Answers are plain JSON values with the keys of the command line's JSON. `LocalBackend` owns an open store;
`api.remote.RemoteBackend` does the same through a running service.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeVar

from api.alerts import Alerts, LocalAlerts, open_alerts
from api.audits import Audits, LocalAudits
from api.labels import Labels, LocalLabels
from api.remembered import Remembered
from ingest.errors import Stopping
from ingest.files.containers import Source
from ingest.pipeline import Progress as Read
from ingest.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analysis.alerts.files import AnyRule
    from analysis.charts.weekly_lines import Line
    from analysis.detectors import Detector
    from ingest.batches import Batch
    from ingest.verdict_rows import Judge, StoredVerdict

Progress = Callable[[int], object]
ReadProgress = Callable[[Read], object]
Json = dict[str, Any]
Told = TypeVar("Told")
BY_KIND = ("kind",)
"""What rates of recovery are told by, unless asked otherwise."""


def _silent(_: object) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Given:
    """What is said of an input beside itself: its format, and series fields, by a person or by a sidecar.

    `redact` is None to keep everything; else what is secret is taken out, by these patterns too.
    """

    format_name: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    sidecar: dict[str, str] = field(default_factory=dict)
    redact: tuple[str, ...] | None = None


class Backend(Protocol):
    """The operations that need a store. Errors are those of `ingest.errors`, whichever way they came."""

    @property
    def labels(self) -> Labels:
        """The operations on labels."""
        ...

    @property
    def audits(self) -> Audits:
        """The operations on the audit."""
        ...

    @property
    def alerts(self) -> Alerts:
        """The operations on alerts."""
        ...

    def ingest(self, source: Source, given: Given, progress: ReadProgress = _silent) -> Json:
        """Read one input; the result of the upload."""
        ...

    def uploads(self) -> list[Json]:
        """All uploads, oldest first."""
        ...

    def quarantine(self, upload_id: int, limit: int) -> list[Json]:
        """The first quarantined lines of an upload: line, reason, excerpt."""
        ...

    def correct(self, upload_id: int, settings: dict[str, str]) -> None:
        """Set series fields of an upload."""
        ...

    def delete(self, upload_id: int) -> None:
        """Delete an upload."""
        ...

    def rates(self, by: Sequence[str], where: Sequence[str], since: str | None) -> list[Json]:
        """Leak and recovery rates per series."""
        ...

    def why_no_rates(self, where: Sequence[str], since: str | None) -> str:
        """One line for a person: why no generation is eligible."""
        ...

    def faults(
        self, by: Sequence[str], where: Sequence[str], since: str | None, progress: Progress = _silent
    ) -> list[Json]:
        """Whose fault the leaks are, per series, and what to set."""
        ...

    def bring(self, of: "Detector", recompute: bool, progress: Progress = _silent) -> None:
        """Make a detector from outside known under its id. Code, which runs in this process's workers, judges the
        history."""
        ...

    def drift(
        self,
        where: Sequence[str],
        since: str | None,
        progress: Progress = _silent,
        rules: "Sequence[AnyRule] | None" = None,
    ) -> Json:
        """What versions did to the leak rates, the days on which they changed, and alerts: by `rules`, else by those
        of the settings."""
        ...

    def recovery(
        self,
        policies: Sequence[str],
        where: Sequence[str],
        since: str | None,
        progress: Progress = _silent,
        *,
        by: Sequence[str] = BY_KIND,
    ) -> Json:
        """What followed the leaks, by series, kind or family, and what each policy would have done; all policies if
        none is named."""
        ...

    def replay(
        self,
        baseline: str,
        candidate: str,
        where: Sequence[str],
        recompute: bool,
        progress: Progress = _silent,
        *,
        since: str | None = None,
        until: str | None = None,
    ) -> Json:
        """The report of a replay."""
        ...

    def sample(
        self,
        baseline: str,
        candidate: str,
        budget: int,
        where: Sequence[str],
        seed: int,
        progress: Progress = _silent,
    ) -> Json:
        """Draw a sample to label; it, and which bounds it can reach."""
        ...

    def detectors(self) -> list[Json]:
        """All detectors, the current one marked."""
        ...

    def promote(self, detector_id: str, progress: Progress = _silent) -> None:
        """Make a detector the current one."""
        ...

    def export_jsonl(self, out: BinaryIO) -> int:
        """Write all records as native JSON Lines; their number."""
        ...

    def export_parquet(self, folder: Path) -> int:
        """Write one Parquet file a table; their number."""
        ...

    def export_pack(self, out: BinaryIO, redact: tuple[str, ...] | None) -> Json:
        """Write the labelled outputs as a pack; its header. `redact` as in `Given`."""
        ...


class LocalBackend:
    """The operations on an open store."""

    def __init__(
        self,
        store: Store,
        stopping: threading.Event | None = None,
        rules: "Sequence[AnyRule] | None" = None,
    ) -> None:
        """Once `stopping` is set, what is being written ends without a trace. `rules` of alerts: else the built-in
        ones."""
        self.store = store
        self.labels = LocalLabels(store)
        self.alerts = LocalAlerts(store, rules)
        self.audits = LocalAudits(store)
        self._stopping = stopping or threading.Event()
        self._remembered = Remembered(store)

    def ingest(self, source: Source, given: Given, progress: ReadProgress = _silent) -> Json:
        """Read one input; the result of the upload."""
        from analysis.judging import judge_for
        from analysis.registry import current
        from ingest.pipeline import ingest
        from ingest.redaction import Redactor

        judge, told = self._stoppable(judge_for(current(self.store))), self._unless_stopping(progress)
        result = ingest(
            self.store,
            source,
            judge,
            format_name=given.format_name,
            settings=given.settings,
            sidecar=given.sidecar,
            redactor=None if given.redact is None else Redactor(given.redact),
            progress=told,
        )
        self._count()
        return result.as_json()

    def uploads(self) -> list[Json]:
        """All uploads, oldest first."""
        from ingest.uploads import uploads

        return [upload.as_json() for upload in uploads(self.store)]

    def quarantine(self, upload_id: int, limit: int) -> list[Json]:
        """The first quarantined lines of an upload: line, reason, excerpt."""
        from ingest.uploads import quarantine

        return quarantine(self.store, upload_id, limit)

    def correct(self, upload_id: int, settings: dict[str, str]) -> None:
        """Set series fields of an upload."""
        from ingest.uploads import correct

        correct(self.store, upload_id, settings)
        self._count()

    def delete(self, upload_id: int) -> None:
        """Delete an upload."""
        from ingest.uploads import delete

        delete(self.store, upload_id)
        self._count()

    def rates(self, by: Sequence[str], where: Sequence[str], since: str | None) -> list[Json]:
        """Leak and recovery rates per series, by the current detector."""
        from analysis.filters import Filters
        from analysis.rates import rates
        from analysis.registry import current, judged

        def counted() -> list[Json]:
            detector = judged(self.store, current(self.store))
            return [row.as_json() for row in rates(self.store, detector, by, filters)]

        filters = Filters.parse(where, since)
        return self._remembered.of(("rates", tuple(by), filters), counted)

    def trend(self, where: Sequence[str], since: str | None) -> "list[Line]":
        """The leak rate of the largest lines by the current detector, week by week."""
        from analysis.charts.weekly_lines import lines
        from analysis.filters import Filters
        from analysis.registry import current, judged

        filters = Filters.parse(where, since)
        return self._remembered.of(
            ("trend", filters), lambda: lines(self.store, judged(self.store, current(self.store)), filters)
        )

    def runs(self, where: Sequence[str], since: str | None, *, leaking: bool, cursor: str | None, limit: int) -> Json:
        """A page of runs, latest first, with their leaks by the current detector. UsageError for a bad cursor."""
        from analysis.browse import runs
        from analysis.filters import Filters
        from analysis.registry import current, judged

        def found() -> Json:
            detector = judged(self.store, current(self.store))
            return runs(self.store, detector, filters, leaking=leaking, after=cursor, limit=limit).as_json()

        filters = Filters.parse(where, since)
        return self._remembered.of(("runs", filters, leaking, cursor, limit), found)

    def reported(self) -> Json:
        """What clients reported against what the current detector finds."""
        from analysis.registry import current, judged
        from analysis.reported import reported

        return self._remembered.of(
            "reported", lambda: reported(self.store, judged(self.store, current(self.store))).as_json()
        )

    def why_no_rates(self, where: Sequence[str], since: str | None) -> str:
        """One line for a person: why no generation is eligible."""
        from analysis.filters import Filters
        from analysis.ineligible import explanation

        return explanation(self.store, Filters.parse(where, since))

    def faults(
        self, by: Sequence[str], where: Sequence[str], since: str | None, progress: Progress = _silent
    ) -> list[Json]:
        """Whose fault the leaks by the current detector are, per series, and what to set."""
        from analysis.faults.counts import fault_rows
        from analysis.filters import Filters
        from analysis.registry import current, judged

        filters, told = Filters.parse(where, since), self._unless_stopping(progress)
        rows = fault_rows(self.store, judged(self.store, current(self.store)), by, filters, told)
        return [row.as_json() for row in rows]

    def bring(self, of: "Detector", recompute: bool, progress: Progress = _silent) -> None:
        """Make a detector from outside known under its id. Code, which runs in this process's workers, judges the
        history."""
        from analysis.candidates.bringing import bring

        bring(self.store, of, self._unless_stopping(progress), anew=recompute)

    def drift(
        self,
        where: Sequence[str],
        since: str | None,
        progress: Progress = _silent,
        rules: "Sequence[AnyRule] | None" = None,
    ) -> Json:
        """What versions did to the leak rates by the current detector, the days on which they changed, and alerts: by
        `rules`, else by those of the settings."""
        from datetime import UTC, datetime

        from analysis.drift import drift
        from analysis.filters import Filters
        from analysis.registry import current, judged

        filters, told = Filters.parse(where, since), self._unless_stopping(progress)
        detector = judged(self.store, current(self.store))
        found = drift(self.store, detector, datetime.now(UTC).date(), filters, told).as_json()
        alerts = self.alerts.listed(where, since, rules)
        return {**found, "counts": {**found["counts"], "alerts": open_alerts(alerts)}, "alerts": alerts}

    def series(self, row: str, column: str, where: Sequence[str], since: str | None) -> Json:
        """Leak rates of two segments against each other, by the current detector."""
        from analysis.filters import Filters
        from analysis.registry import current, judged
        from analysis.segments import matrix

        def counted() -> Json:
            detector = judged(self.store, current(self.store))
            return matrix(self.store, detector, row, column, filters).as_json()

        filters = Filters.parse(where, since)
        return self._remembered.of(("series", row, column, filters), counted)

    def recovery(
        self,
        policies: Sequence[str],
        where: Sequence[str],
        since: str | None,
        progress: Progress = _silent,
        *,
        by: Sequence[str] = BY_KIND,
    ) -> Json:
        """What followed the leaks by the current detector, and what each policy would have done."""
        from analysis.filters import Filters
        from analysis.recovery.policies import chosen
        from analysis.recovery.policy_replay import replay_policies
        from analysis.recovery.round_rates import checked
        from analysis.registry import current, judged

        wanted, filters = chosen(policies), Filters.parse(where, since)
        told = self._unless_stopping(progress)
        by = checked(by)
        return replay_policies(self.store, judged(self.store, current(self.store)), wanted, filters, told, by).as_json()

    def replay(
        self,
        baseline: str,
        candidate: str,
        where: Sequence[str],
        recompute: bool,
        progress: Progress = _silent,
        *,
        since: str | None = None,
        until: str | None = None,
    ) -> Json:
        """The report of a replay."""
        from analysis.candidates.accounts import accounts
        from analysis.candidates.kept import known
        from analysis.filters import Filters
        from analysis.replay import replay

        filters = Filters.parse(where, since, until)
        report = replay(
            self.store,
            known(self.store, baseline),
            known(self.store, candidate),
            filters,
            recompute=recompute,
            progress=progress,
        )
        return {**report.as_json(), **accounts(self.store, baseline, candidate, filters)}

    def sample(
        self,
        baseline: str,
        candidate: str,
        budget: int,
        where: Sequence[str],
        seed: int,
        progress: Progress = _silent,
    ) -> Json:
        """Draw a sample to label; it, and which bounds it can reach."""
        from datetime import UTC, datetime

        from analysis.candidates.kept import known
        from analysis.filters import Filters
        from analysis.sampling.drawing import Request, draw
        from analysis.sampling.samples import sample

        pair = known(self.store, baseline), known(self.store, candidate)
        wanted = Request(*pair, Filters.parse(where), budget, seed)
        drawn = draw(self.store, wanted, datetime.now(UTC), self._unless_stopping(progress))
        return sample(self.store, drawn.sample_id)

    def detectors(self) -> list[Json]:
        """All detectors, the current one marked; those from outside last."""
        from analysis.candidates.kept import kept
        from analysis.registry import current

        chosen = current(self.store).id
        brought = [{**each, "current": each["detector"] == chosen} for each in kept(self.store)]
        return [*detector_list(chosen), *brought]

    def promote(self, detector_id: str, progress: Progress = _silent) -> None:
        """Make a detector the current one, once it has judged the history."""
        from analysis.candidates.kept import known
        from analysis.registry import promote

        promote(self.store, known(self.store, detector_id), self._unless_stopping(progress))
        self._count()

    def export_jsonl(self, out: BinaryIO) -> int:
        """Write all records as native JSON Lines; their number."""
        from ingest.export import to_jsonl

        return to_jsonl(self.store, out)

    def export_parquet(self, folder: Path) -> int:
        """Write one Parquet file a table; their number."""
        from ingest.export import to_parquet

        return to_parquet(self.store, folder)

    def export_pack(self, out: BinaryIO, redact: tuple[str, ...] | None) -> Json:
        """Write the labelled outputs as a pack; its header."""
        from ingest.packs import write
        from ingest.redaction import Redactor

        return write(self.store, out, None if redact is None else Redactor(redact)).as_json()

    def _count(self) -> None:
        """Bring the rollups up to date with what has changed, so that the next page need not."""
        from analysis.registry import current
        from analysis.rollups import refresh

        refresh(self.store, current(self.store))

    def _unless_stopping(self, progress: Callable[[Told], object]) -> Callable[[Told], None]:
        def told(done: Told) -> None:
            progress(done)
            self._go_on()

        return told

    def _stoppable(self, judge: "Judge") -> "Judge":
        """A judge that ends between two verdicts: those of one batch may take seconds."""

        def verdicts(batch: "Batch") -> "Iterator[StoredVerdict]":
            for verdict in judge.verdicts(batch):
                self._go_on()
                yield verdict

        return replace(judge, verdicts=verdicts)

    def _go_on(self) -> None:
        if self._stopping.is_set():
            raise Stopping("the service is stopping; nothing of this was kept, send it again")


def detector_list(current_id: str) -> list[Json]:
    """All detectors by name, with the one of `current_id` marked."""
    from analysis.detectors import detectors

    return [
        {
            "detector": each.id,
            "current": each.id == current_id,
            "summary": each.summary,
            "source": each.source,
            "kind": "built-in",
        }
        for each in detectors()
    ]
