"""Answers that take minutes on a large store: computed as a job, kept with what they were computed from, made anew
after a change.

A page shows what was computed last and says so, while a job brings it up to date; a program waits for that job. What
takes a moment is remembered instead (`api.remembered`).
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from api.backend import LocalBackend
from api.jobs import OPEN, Jobs
from api.work import Json, Progress
from ingest.errors import LeakdownError, Stopping

MOST = 50
"""Results that are kept."""
PATIENCE = 1.0
"""Seconds that a page waits for what it began: a small store needs no second look."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What was computed last for a question; `now`: the job that brings it up to date, None where it is."""

    report: Json | None
    computed_at: str | None
    now: Json | None

    @property
    def under_way(self) -> bool:
        """Whether something newer is being computed."""
        return self.now is not None and self.now["state"] in OPEN


class KeptAnswers(ABC):
    """The answers to questions of one kind, each a JSON object; what they are is told by a subclass."""

    kind: str

    def __init__(
        self, backend: LocalBackend, stopping: threading.Event, *, patience: float = PATIENCE, most: int = MOST
    ) -> None:
        self.jobs = Jobs(backend.store, self.kind, self.compute)
        self.backend, self._stopping, self._patience, self._most = backend, stopping, patience, most
        self._asking = threading.Lock()

    @abstractmethod
    def compute(self, request: Json, told: Progress) -> Json:
        """The answer to a question."""

    @abstractmethod
    def state(self) -> str:
        """What an answer depends on besides its question, as text."""

    def latest(self, question: Json) -> Kept:
        """The latest answer, at once; what a change has made old is computed anew meanwhile."""
        state = self.state()
        with self._asking:
            job = self._found(question, lambda job: job["state"] in OPEN or _is_of(job, state))
            is_new, job = job is None, job or self._submit(question, state)
        return self._as_kept(question, self.jobs.wait(job["id"], self._patience) if is_new else job)

    def answer(self, question: Json) -> Json:
        """The answer for the store as it is, once it is computed. Stopping, LeakdownError if it fails."""
        state = self.state()
        with self._asking:
            job = self._found(question, lambda job: _is_of(job, state) and job["state"] != "failed")
            job = job or self._submit(question, state)
        while job["state"] in OPEN and not self._stopping.is_set():
            job = self.jobs.wait(job["id"], self._patience)
        if job["state"] in (*OPEN, "interrupted"):
            raise Stopping("the service is stopping; ask again when it is back")
        if job["state"] == "failed":
            raise LeakdownError(f"{self.kind} could not be computed: {job['error']}")
        return self._report(job)

    def computed(self, question: Json) -> Json | None:
        """What was computed last for a question, of whichever state of the store; None before the first time."""
        done = self._found(question, lambda each: each["state"] == "done")
        return done and self._report(done)

    def anew(self, question: Json) -> None:
        """Compute the answer anew, whatever is kept."""
        self._submit(question, self.state())

    def _found(self, question: Json, fits: Callable[[Json], bool]) -> Json | None:
        """The latest job for a question that fits."""
        return next((job for job in self.jobs.all() if question.items() <= job.items() and fits(job)), None)

    def _submit(self, question: Json, state: str) -> Json:
        self.jobs.forget(self._most)
        return self.jobs.submit({**question, "of": state})

    def _as_kept(self, question: Json, job: Json) -> Kept:
        done = job if job["state"] == "done" else self._found(question, lambda each: each["state"] == "done")
        if done is None:
            return Kept(None, None, job)
        return Kept(self._report(done), done["finished_at"], None if done is job else job)

    def _report(self, job: Json) -> Json:
        return dict(self.jobs.get(job["id"])["report"])


def _is_of(job: Json, state: str) -> bool:
    """Whether a job is for the store as it is; one that the service's end cut short is as good as none."""
    return bool(job["of"] == state) and job["state"] in (*OPEN, "done", "failed")
