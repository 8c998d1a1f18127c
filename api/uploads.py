"""What can be done with uploads, in one place: on an open store, or through the service that owns it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from api.asking import redacting, sent
from api.work import Json, ReadProgress, Work, silent
from ingest.errors import TooLarge
from ingest.files.containers import Source

if TYPE_CHECKING:
    from api.asking import Service


@dataclass(frozen=True, slots=True)
class Given:
    """What is said of an input beside itself: its format, and series fields, by a person or by a sidecar.

    `redact` is None to keep everything; else what is secret is taken out, by these patterns too. `labels`: whether
    who sends it may give labels.
    """

    format_name: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    sidecar: dict[str, str] = field(default_factory=dict)
    redact: tuple[str, ...] | None = None
    labels: bool = True


class Uploads(Protocol):
    """The operations on uploads. Answers are plain JSON values."""

    def ingest(self, source: Source, given: Given, progress: ReadProgress = silent) -> Json:
        """Read one input; the result of the upload."""
        ...

    def listed(self) -> list[Json]:
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


class LocalUploads:
    """Uploads of an open store."""

    def __init__(self, work: Work) -> None:
        self._work, self._store = work, work.store

    def ingest(self, source: Source, given: Given, progress: ReadProgress = silent) -> Json:
        """Read one input; the result of the upload."""
        from analysis.judging import judge_for
        from analysis.registry import current
        from ingest.pipeline import ingest
        from ingest.redaction import Redactor

        judge, told = judge_for(current(self._store), self._work.go_on), self._work.unless_stopping(progress)
        result = ingest(
            self._store,
            source,
            judge,
            format_name=given.format_name,
            settings=given.settings,
            sidecar=given.sidecar,
            redactor=None if given.redact is None else Redactor(given.redact),
            labels=given.labels,
            progress=told,
        )
        self._work.count()
        return result.as_json()

    def listed(self) -> list[Json]:
        """All uploads, oldest first."""
        from ingest.uploads import uploads

        return [upload.as_json() for upload in uploads(self._store)]

    def quarantine(self, upload_id: int, limit: int) -> list[Json]:
        """The first quarantined lines of an upload: line, reason, excerpt."""
        from ingest.uploads import quarantine

        return quarantine(self._store, upload_id, limit)

    def correct(self, upload_id: int, settings: dict[str, str]) -> None:
        """Set series fields of an upload."""
        from ingest.uploads import correct

        correct(self._store, upload_id, settings)
        self._work.count()

    def delete(self, upload_id: int) -> None:
        """Delete an upload."""
        from ingest.uploads import delete

        delete(self._store, upload_id)
        self._work.count()


class RemoteUploads:
    """Uploads through a service."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def ingest(self, source: Source, given: Given, progress: ReadProgress = silent) -> Json:
        """Read one input; the result of the upload."""
        parameters = [("name", source.name)]
        parameters += [("format_name", given.format_name)] if given.format_name else []
        for name, fields in (("set", given.settings), ("sidecar", given.sidecar)):
            parameters += [(name, f"{key}={value}") for key, value in fields.items()]
        parameters += redacting(given.redact)
        try:
            with sent(source, progress) as body:
                answer = self._service.ask("POST", "/v1/uploads", params=parameters, **body)
        except TooLarge as fault:
            # the guard, which refuses a body, knows no name
            named = str(fault) if str(fault).startswith(source.name) else f"{source.name}: {fault}"
            raise TooLarge(named) from None
        result: Json = answer.json()["uploads"][0]
        return result

    def listed(self) -> list[Json]:
        """All uploads, oldest first."""
        found: list[Json] = self._service.ask("GET", "/v1/uploads").json()
        return found

    def quarantine(self, upload_id: int, limit: int) -> list[Json]:
        """The first quarantined lines of an upload: line, reason, excerpt."""
        found: list[Json] = self._service.ask("GET", f"/v1/uploads/{upload_id}").json()["quarantine"]
        return found[:limit]

    def correct(self, upload_id: int, settings: dict[str, str]) -> None:
        """Set series fields of an upload."""
        self._service.ask("PATCH", f"/v1/uploads/{upload_id}", json={"settings": settings})

    def delete(self, upload_id: int) -> None:
        """Delete an upload."""
        self._service.ask("DELETE", f"/v1/uploads/{upload_id}")
