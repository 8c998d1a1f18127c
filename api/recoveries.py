"""Recovery as the service keeps it: computed as a job, kept with what it was computed from, made anew after a change.

A store of many leaks takes minutes. So a page shows what was computed last and says so, while a job brings it up to
date; a program waits for that job.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from analysis.filters import Filters
from analysis.rates import DEFAULT_BY
from analysis.recovery.policies import chosen, policies
from analysis.recovery.policy_replay import replay_policies
from analysis.recovery.round_rates import checked
from analysis.registry import current, fingerprint
from analysis.source_hash import source_hash
from api.backend import BY_KIND, Json, LocalBackend, Progress
from api.jobs import OPEN, Jobs
from ingest.errors import LeakdownError, Stopping
from ingest.store import one

MOST = 50
"""Results that are kept."""
PATIENCE = 1.0
"""Seconds that a page waits for what it began: a small store needs no second look."""
_STATE = """
SELECT (SELECT (count(*), max(upload_id), bit_xor(hash(u))) FROM uploads u WHERE state = 'done')::VARCHAR,
    (SELECT (count(*), count(verdict_key), count(taken_back_at)) FROM labels)::VARCHAR
"""
"""Uploads come, go and are corrected; labels come, find their generation, and are taken back."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What was computed last for a question, and whose fault the leaks are; `now`: the job that brings it up to date,
    None where it is."""

    report: Json | None
    faults: list[Json] | None
    computed_at: str | None
    now: Json | None

    @property
    def under_way(self) -> bool:
        """Whether something newer is being computed."""
        return self.now is not None and self.now["state"] in OPEN


class Recoveries:
    """The answers to questions of recovery: policies, filters, and a time."""

    def __init__(
        self, backend: LocalBackend, stopping: threading.Event, *, patience: float = PATIENCE, most: int = MOST
    ) -> None:
        self.jobs = Jobs(backend.store, "recovery", self._compute)
        self._backend, self._stopping, self._patience, self._most = backend, stopping, patience, most
        self._asking = threading.Lock()

    def kept(self, specs: Sequence[str], where: Sequence[str], since: str | None, by: Sequence[str] = BY_KIND) -> Kept:
        """The latest answer, at once; what a change has made old is computed anew meanwhile. UsageError."""
        question, state = self._question(specs, where, since, by), self._state()
        with self._asking:
            job = self._found(question, lambda job: job["state"] in OPEN or _is_of(job, state))
            is_new, job = job is None, job or self._submit(question, state)
        return self._as_kept(question, self.jobs.wait(job["id"], self._patience) if is_new else job)

    def up_to_date(
        self, specs: Sequence[str], where: Sequence[str], since: str | None, by: Sequence[str] = BY_KIND
    ) -> Json:
        """The answer for the store as it is, once it is computed. UsageError, Stopping, LeakdownError if it fails."""
        question, state = self._question(specs, where, since, by), self._state()
        with self._asking:
            job = self._found(question, lambda job: _is_of(job, state) and job["state"] != "failed")
            job = job or self._submit(question, state)
        while job["state"] in OPEN and not self._stopping.is_set():
            job = self.jobs.wait(job["id"], self._patience)
        if job["state"] in (*OPEN, "interrupted"):
            raise Stopping("the service is stopping; ask again when it is back")
        if job["state"] == "failed":
            raise LeakdownError(f"recovery could not be computed: {job['error']}")
        return self._report(job)[0]

    def again(self, specs: Sequence[str], where: Sequence[str], since: str | None, by: Sequence[str] = BY_KIND) -> None:
        """Compute the answer anew, whatever is kept. UsageError."""
        self._submit(self._question(specs, where, since, by), self._state())

    def _question(self, specs: Sequence[str], where: Sequence[str], since: str | None, by: Sequence[str]) -> Json:
        Filters.parse(where, since)
        return {
            "policies": [each.id for each in chosen(specs)],
            "where": list(where),
            "since": since,
            "by": list(checked(by)),
        }

    def _state(self) -> str:
        """What an answer depends on besides its question, as text."""
        of = current(self._backend.store)
        with self._backend.store.cursor() as cursor:
            return repr((of.id, fingerprint(of), _source(), *one(cursor, _STATE)))

    def _found(self, question: Json, fits: Callable[[Json], bool]) -> Json | None:
        """The latest job for a question that fits."""
        return next((job for job in self.jobs.all() if question.items() <= job.items() and fits(job)), None)

    def _submit(self, question: Json, state: str) -> Json:
        self.jobs.forget(self._most)
        return self.jobs.submit({**question, "of": state})

    def _as_kept(self, question: Json, job: Json) -> Kept:
        done = job if job["state"] == "done" else self._found(question, lambda each: each["state"] == "done")
        if done is None:
            return Kept(None, None, None, job)
        return Kept(*self._report(done), done["finished_at"], None if done is job else job)

    def _report(self, job: Json) -> tuple[Json, list[Json]]:
        """What a job computed: the answer, and whose fault the leaks are."""
        found = dict(self.jobs.get(job["id"])["report"])
        return found, found.pop("faults")

    def _compute(self, request: Json, told: Progress) -> dict[str, Any]:
        where, since = request["where"], request["since"]
        found = self._backend.recovery(request["policies"], where, since, told, by=request["by"])
        # whose fault the leaks are takes as long, and the page shows it beside
        return {**found, "faults": self._backend.faults(DEFAULT_BY, where, since, told)}


def _is_of(job: Json, state: str) -> bool:
    """Whether a job is for the store as it is; one that the service's end cut short is as good as none."""
    return bool(job["of"] == state) and job["state"] in (*OPEN, "done", "failed")


@cache
def _source() -> str:
    """The source that decides the figures: another leakdown computes what an earlier one has kept anew."""
    modules = (replay_policies.__module__, *(each.decide.__module__ for each in policies()))
    return repr([source_hash(each) for each in modules])
