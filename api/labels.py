"""What can be done with labels, in one place: on an open store, or through the service that owns it."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol

from api.asking import sent
from ingest.files.containers import Source

if TYPE_CHECKING:
    from api.asking import Service
    from ingest.redaction import Redactor
    from ingest.store import Store

Json = dict[str, Any]
FileFormat = Literal["jsonl", "csv"]
COUNT = "Leakdown-Count"
"""The header that tells how many labels an exported file holds."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What decides a conflict; `leak` None: that it cannot be told. `note` says why."""

    generation_id: str
    leak: bool | None
    by: str
    note: str
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """Which part of the history: of one generation, run or person, and how many of the latest changes."""

    generation_id: str | None = None
    run_id: str | None = None
    by: str | None = None
    limit: int = 100


class Labels(Protocol):
    """The operations on labels. Answers are plain JSON values."""

    def read(self, source: Source, by: str | None = None) -> Json:
        """Import one file of labels; `by` names the person where a line does not. What became of it."""
        ...

    def write(self, out: BinaryIO, as_: FileFormat) -> int:
        """Write all labels that count to `out`; their number."""
        ...

    def conflicts(self) -> Json:
        """Outputs on which people contradict each other: `open` and `resolved`."""
        ...

    def resolve(self, given: Resolution) -> str:
        """Decide a conflict; the id of the resolution."""
        ...

    def agreement(self) -> Json:
        """Coverage, people, pairs of people, and weak evidence against truth."""
        ...

    def history(self, asked: Asked) -> list[Json]:
        """The latest changes, latest first."""
        ...


class LocalLabels:
    """Labels of an open store; a `redactor` takes what is secret out of imported ones."""

    def __init__(self, store: "Store") -> None:
        self.store = store

    def read(self, source: Source, by: str | None = None, redactor: "Redactor | None" = None) -> Json:
        """Import one file of labels; `by` names the person where a line does not. What became of it."""
        from analysis.labels.importing import import_labels

        return import_labels(self.store, source, datetime.now(UTC), by, redactor).as_json()

    def write(self, out: BinaryIO, as_: FileFormat) -> int:
        """Write all labels that count to `out`; their number."""
        from analysis.labels.files import write

        return write(self.store, out, as_)

    def conflicts(self) -> Json:
        """Outputs on which people contradict each other: `open` and `resolved`."""
        from analysis.labels.conflicts import conflicts

        return dict(conflicts(self.store))

    def resolve(self, given: Resolution) -> str:
        """Decide a conflict; the id of the resolution."""
        from analysis.labels.giving import NewLabel, resolve

        return resolve(self.store, NewLabel(**asdict(given)), datetime.now(UTC))

    def agreement(self) -> Json:
        """Coverage, people, pairs of people, and weak evidence against truth."""
        from analysis.labels.agreement import agreement

        return agreement(self.store)

    def history(self, asked: Asked) -> list[Json]:
        """The latest changes, latest first."""
        from analysis.labels.history import history

        return history(self.store, **asdict(asked))


class RemoteLabels:
    """Labels through a service."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def read(self, source: Source, by: str | None = None) -> Json:
        """Import one file of labels; `by` names the person where a line does not. What became of it."""
        parameters = {"name": source.name, **({"by": by} if by else {})}
        with sent(source) as body:
            found: Json = self._service.ask("POST", "/v1/labels/import", params=parameters, **body).json()
        return found

    def write(self, out: BinaryIO, as_: FileFormat) -> int:
        """Write all labels that count to `out`; their number."""
        answer = self._service.ask("GET", f"/v1/labels.{as_}")
        out.write(answer.content)
        return int(answer.headers[COUNT])

    def conflicts(self) -> Json:
        """Outputs on which people contradict each other: `open` and `resolved`."""
        found: Json = self._service.ask("GET", "/v1/labels/conflicts").json()
        return found

    def resolve(self, given: Resolution) -> str:
        """Decide a conflict; the id of the resolution."""
        return str(self._service.ask("POST", "/v1/labels/resolutions", json=asdict(given)).json()["label_id"])

    def agreement(self) -> Json:
        """Coverage, people, pairs of people, and weak evidence against truth."""
        found: Json = self._service.ask("GET", "/v1/labels/agreement").json()
        return found

    def history(self, asked: Asked) -> list[Json]:
        """The latest changes, latest first."""
        wanted = {name: value for name, value in asdict(asked).items() if value is not None}
        found: list[Json] = self._service.ask("GET", "/v1/labels/history", params=wanted).json()
        return found
