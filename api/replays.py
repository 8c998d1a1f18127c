"""Replays and samples, in one place: on an open store, or through the service that owns it."""

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from api.work import Json, Progress, Work, silent
from ingest.errors import LeakdownError

if TYPE_CHECKING:
    from api.asking import Service

_POLL = (0.05, 0.1, 0.2, 0.5)
"""Seconds between looks at a job; the last one repeats."""


class Replays(Protocol):
    """The operations on replays. Answers are plain JSON values."""

    def replay(
        self,
        baseline: str,
        candidate: str,
        where: Sequence[str],
        recompute: bool,
        progress: Progress = silent,
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
        progress: Progress = silent,
    ) -> Json:
        """Draw a sample to label; it, and which bounds it can reach."""
        ...


class LocalReplays:
    """Replays of an open store."""

    def __init__(self, work: Work) -> None:
        self._work, self._store = work, work.store

    def replay(
        self,
        baseline: str,
        candidate: str,
        where: Sequence[str],
        recompute: bool,
        progress: Progress = silent,
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
            self._store,
            known(self._store, baseline),
            known(self._store, candidate),
            filters,
            recompute=recompute,
            progress=progress,
        )
        return {**report.as_json(), **accounts(self._store, baseline, candidate, filters)}

    def sample(
        self,
        baseline: str,
        candidate: str,
        budget: int,
        where: Sequence[str],
        seed: int,
        progress: Progress = silent,
    ) -> Json:
        """Draw a sample to label; it, and which bounds it can reach."""
        from datetime import UTC, datetime

        from analysis.candidates.kept import known
        from analysis.filters import Filters
        from analysis.sampling.drawing import Request, draw
        from analysis.sampling.samples import sample

        pair = known(self._store, baseline), known(self._store, candidate)
        wanted = Request(*pair, Filters.parse(where), budget, seed)
        drawn = draw(self._store, wanted, datetime.now(UTC), self._work.unless_stopping(progress))
        return sample(self._store, drawn.sample_id)


class RemoteReplays:
    """Replays through a service."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def replay(
        self,
        baseline: str,
        candidate: str,
        where: Sequence[str],
        recompute: bool,
        progress: Progress = silent,
        *,
        since: str | None = None,
        until: str | None = None,
    ) -> Json:
        """The report of a replay; interrupted, it is cancelled there as well."""
        pair = {"baseline": baseline, "candidate": candidate, "recompute": recompute}
        wanted = {**pair, "where": list(where), "since": since or None, "until": until or None}
        rules = [
            self._service.rules[each] for each in dict.fromkeys((baseline, candidate)) if each in self._service.rules
        ]
        wanted |= {"rules": rules} if rules else {}
        job = self._service.ask("POST", "/v1/replays", json=wanted).json()
        address = f"/v1/replays/{job['id']}"
        try:
            for seconds in _waits():
                if job["state"] not in ("queued", "running"):
                    break
                time.sleep(seconds)
                job = self._service.ask("GET", address).json()
                progress(job["progress"])
        except KeyboardInterrupt:
            self._service.ask("DELETE", address)
            raise
        if job["state"] != "done":
            raise LeakdownError(f"the replay is {job['state']}" + (f": {job['error']}" if job["error"] else ""))
        report: Json = job["report"]
        return report

    def sample(
        self,
        baseline: str,
        candidate: str,
        budget: int,
        where: Sequence[str],
        seed: int,
        progress: Progress = silent,  # noqa: ARG002 - the service tells none
    ) -> Json:
        """Draw a sample to label; it, and which bounds it can reach."""
        wanted = {"baseline": baseline, "candidate": candidate, "budget": budget, "where": list(where), "seed": seed}
        drawn: Json = self._service.ask("POST", "/v1/samples", json=wanted).json()
        return drawn


def _waits() -> Iterator[float]:
    yield from _POLL
    while True:
        yield _POLL[-1]
