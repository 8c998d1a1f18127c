"""What leakdown can do with a store, in one place: the commands, the routes and the pages all call this.

Answers are plain JSON values with the keys of the command line's JSON. `LocalBackend` owns an open store;
`api.remote.RemoteBackend` does the same through a running service.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeVar

from ingest.errors import Stopping
from ingest.files.containers import Source
from ingest.pipeline import Progress as Read
from ingest.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.batches import Batch
    from ingest.verdict_rows import Judge, StoredVerdict

Progress = Callable[[int], object]
ReadProgress = Callable[[Read], object]
Json = dict[str, Any]
Told = TypeVar("Told")


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

    def recovery(
        self, policies: Sequence[str], where: Sequence[str], since: str | None, progress: Progress = _silent
    ) -> Json:
        """What followed the leaks, and what each policy would have done; all policies if none is named."""
        ...

    def replay(
        self, baseline: str, candidate: str, where: Sequence[str], recompute: bool, progress: Progress = _silent
    ) -> Json:
        """The report of a replay."""
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


class LocalBackend:
    """The operations on an open store."""

    def __init__(self, store: Store, stopping: threading.Event | None = None) -> None:
        """Once `stopping` is set, what is being written ends without a trace."""
        self.store = store
        self._stopping = stopping or threading.Event()

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

    def delete(self, upload_id: int) -> None:
        """Delete an upload."""
        from ingest.uploads import delete

        delete(self.store, upload_id)

    def rates(self, by: Sequence[str], where: Sequence[str], since: str | None) -> list[Json]:
        """Leak and recovery rates per series, by the current detector."""
        from analysis.filters import Filters
        from analysis.rates import rates
        from analysis.registry import current, judged

        filters = Filters.parse(where, since)
        return [row.as_json() for row in rates(self.store, judged(self.store, current(self.store)), by, filters)]

    def why_no_rates(self, where: Sequence[str], since: str | None) -> str:
        """One line for a person: why no generation is eligible."""
        from analysis.filters import Filters
        from analysis.ineligible import explanation

        return explanation(self.store, Filters.parse(where, since))

    def recovery(
        self, policies: Sequence[str], where: Sequence[str], since: str | None, progress: Progress = _silent
    ) -> Json:
        """What followed the leaks by the current detector, and what each policy would have done."""
        from analysis.filters import Filters
        from analysis.recovery.policies import chosen
        from analysis.recovery.policy_replay import replay_policies
        from analysis.registry import current, judged

        wanted, filters = chosen(policies), Filters.parse(where, since)
        told = self._unless_stopping(progress)
        return replay_policies(self.store, judged(self.store, current(self.store)), wanted, filters, told).as_json()

    def replay(
        self, baseline: str, candidate: str, where: Sequence[str], recompute: bool, progress: Progress = _silent
    ) -> Json:
        """The report of a replay."""
        from analysis.detectors import detector
        from analysis.filters import Filters
        from analysis.replay import replay

        report = replay(
            self.store,
            detector(baseline),
            detector(candidate),
            Filters.parse(where),
            recompute=recompute,
            progress=progress,
        )
        return report.as_json()

    def detectors(self) -> list[Json]:
        """All detectors, the current one marked."""
        from analysis.registry import current

        return detector_list(current(self.store).id)

    def promote(self, detector_id: str, progress: Progress = _silent) -> None:
        """Make a detector the current one, once it has judged the history."""
        from analysis.detectors import detector
        from analysis.registry import promote

        promote(self.store, detector(detector_id), self._unless_stopping(progress))

    def export_jsonl(self, out: BinaryIO) -> int:
        """Write all records as native JSON Lines; their number."""
        from ingest.export import to_jsonl

        return to_jsonl(self.store, out)

    def export_parquet(self, folder: Path) -> int:
        """Write one Parquet file a table; their number."""
        from ingest.export import to_parquet

        return to_parquet(self.store, folder)

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
        {"detector": each.id, "current": each.id == current_id, "summary": each.summary, "source": each.source}
        for each in detectors()
    ]
