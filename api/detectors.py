"""What can be done with detectors, in one place: on an open store, or through the service that owns it."""

from typing import TYPE_CHECKING, Protocol

from api.work import Json, Progress, Work, silent

if TYPE_CHECKING:
    from analysis.detectors import Detector
    from api.asking import Service


class Detectors(Protocol):
    """The operations on detectors. Answers are plain JSON values."""

    def listed(self) -> list[Json]:
        """All detectors, the current one marked."""
        ...

    def bring(self, of: "Detector", recompute: bool, progress: Progress = silent) -> None:
        """Make a detector from outside known under its id. Code, which runs in this process's workers, judges the
        history."""
        ...

    def promote(self, detector_id: str, progress: Progress = silent) -> int:
        """Make a detector the current one; how many generations were pruned before it could judge them."""
        ...


class LocalDetectors:
    """Detectors of an open store."""

    def __init__(self, work: Work) -> None:
        self._work, self._store = work, work.store

    def listed(self) -> list[Json]:
        """All detectors, the current one marked; those from outside last."""
        from analysis.candidates.kept import kept
        from analysis.registry import current

        chosen = current(self._store).id
        brought = [{**each, "current": each["detector"] == chosen} for each in kept(self._store)]
        return [*built_in(chosen), *brought]

    def bring(self, of: "Detector", recompute: bool, progress: Progress = silent) -> None:
        """Make a detector from outside known under its id. Code, which runs in this process's workers, judges the
        history."""
        from analysis.candidates.bringing import bring

        bring(self._store, of, self._work.unless_stopping(progress), anew=recompute)

    def promote(self, detector_id: str, progress: Progress = silent) -> int:
        """Make a detector the current one, once it has judged the history; how many generations were pruned before it
        could judge them."""
        from analysis.candidates.kept import known
        from analysis.registry import promote
        from ingest.retention.prunings import unjudged

        promote(self._store, known(self._store, detector_id), self._work.unless_stopping(progress))
        self._work.count()
        return unjudged(self._store, detector_id)


class RemoteDetectors:
    """Detectors through a service."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def listed(self) -> list[Json]:
        """All detectors, the current one marked."""
        found: list[Json] = self._service.ask("GET", "/v1/detectors").json()
        return found

    def bring(self, of: "Detector", recompute: bool, progress: Progress = silent) -> None:
        """Make a detector from outside known there under its id. A rule file goes along with the replay; code judges
        here what the service sends."""
        if of.brought and of.brought.rules is not None:
            self._service.rules[of.id] = of.brought.rules
        elif of.brought and of.brought.many:
            from api.remote_judging import judge_remotely

            judge_remotely(self._service.ask, of, recompute=recompute, progress=progress)

    def promote(self, detector_id: str, progress: Progress = silent) -> int:  # noqa: ARG002 - the service tells none
        """Make a detector the current one; how many generations were pruned before it could judge them."""
        rules = {"rules": self._service.rules[detector_id]} if detector_id in self._service.rules else {}
        answer = self._service.ask("PUT", "/v1/detectors/current", json={"detector": detector_id, **rules})
        return int(answer.json()["pruned"])


def built_in(current_id: str) -> list[Json]:
    """The built-in detectors by name, with the one of `current_id` marked."""
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
