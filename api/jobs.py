"""Long work of the service: one job at a time, queued, with progress, cancelled on demand, kept over a restart."""

import queue
import secrets
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pydantic_core import from_json, to_json

from ingest.errors import Busy, Conflict, LeakdownError, NotFound, Stopping, StoreError
from ingest.retention.prunings import state
from ingest.store import Store

Work = Callable[[dict[str, Any], Callable[[int], object]], dict[str, Any]]
"""From a request and a progress to a result; it ends early when the progress raises."""
OPEN = ("queued", "running")
PAUSE = 0.5
"""Seconds until what a full disk kept from being written is tried again."""
MEANWHILE = "texts were pruned or a run forgotten meanwhile; ask again"
KEPT = 200
"""Jobs that are listed."""

_INTERRUPT = """
UPDATE jobs SET state = 'interrupted', finished_at = $now WHERE kind = $kind AND state IN ('queued', 'running')
"""
_QUEUE = """
INSERT INTO jobs BY NAME SELECT $id AS job_id, $kind AS kind, 'queued' AS state, $request AS request,
    0 AS progress,
    greatest($now, (SELECT max(created_at) + INTERVAL 1 MICROSECOND FROM jobs WHERE kind = $kind)) AS created_at
"""
_BEGIN = """
UPDATE jobs SET state = 'running', started_at = $now WHERE job_id = $id AND state = 'queued' RETURNING request
"""
_END = """
UPDATE jobs SET state = $state, finished_at = $now, result = $result, error = $error, progress = $progress
WHERE job_id = $id AND state = $from
"""
_FORGET = """
DELETE FROM jobs WHERE kind = $kind AND state NOT IN ('queued', 'running') AND job_id NOT IN (
    SELECT job_id FROM jobs WHERE kind = $kind ORDER BY created_at DESC, job_id LIMIT $most)
"""
_LIST = """
SELECT job_id, state, request, progress, created_at, started_at, finished_at, error FROM jobs
WHERE kind = $kind ORDER BY created_at DESC, job_id LIMIT $most
"""
_ONE = """
SELECT job_id, state, request, progress, created_at, started_at, finished_at, error, result FROM jobs
WHERE kind = $kind AND job_id = $id
"""


class _Cancelled(BaseException):
    """Raised through the work of a job that was cancelled."""


class Jobs:
    """Jobs of one kind, done by `work` in a thread of their own."""

    def __init__(self, store: Store, kind: str, work: Work, *, waiting: int | None = None) -> None:
        """At most `waiting` jobs wait; None for any number."""
        self.store, self.kind, self.work, self.waiting = store, kind, work, waiting
        self._queue: queue.Queue[str | None] = queue.Queue()
        self._cancelled: set[str] = set()
        self._progress: dict[str, int] = {}
        self._unwritten: dict[str, dict[str, Any]] = {}
        """How jobs ended whose end a full disk keeps from being written."""
        self._stop = threading.Event()
        self._ended = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=f"{kind} jobs", daemon=True)

    def start(self) -> None:
        """Note what an earlier life left unfinished, and begin."""
        self._write(_INTERRUPT, kind=self.kind, now=_now())
        self._thread.start()

    def stop(self) -> None:
        """Interrupt what runs, leave what waits (the next life calls it interrupted), and wait for the thread."""
        self._stop.set()
        self._queue.put(None)
        self._tell()
        self._thread.join()

    def submit(self, request: dict[str, Any]) -> dict[str, Any]:
        """Queue a job; it as JSON. Busy where too many wait."""
        if self.waiting is not None and self._queue.qsize() >= self.waiting:
            raise Busy(f"{self.waiting} {self.kind}s wait already; send it again later, or cancel one")
        job_id = secrets.token_hex(6)
        self._write(_QUEUE, id=job_id, kind=self.kind, request=to_json(request).decode(), now=_now())
        self._queue.put(job_id)
        return self.get(job_id)

    def get(self, job_id: str) -> dict[str, Any]:
        """One job with its result, as `report`. NotFound."""
        with self.store.cursor() as cursor:
            rows = cursor.execute(_ONE, {"kind": self.kind, "id": job_id}).fetchall()
        if not rows:
            raise NotFound(f"no {self.kind} {job_id!r}")
        *job, result = rows[0]
        return {**self._as_json(*job), "report": from_json(result) if result else None}

    def wait(self, job_id: str, seconds: float | None = None) -> dict[str, Any]:
        """One job once it has ended; as it stands after `seconds`, and when the service stops. NotFound."""
        with self._ended:
            self._ended.wait_for(lambda: self._stop.is_set() or self.get(job_id)["state"] not in OPEN, seconds)
        return self.get(job_id)

    def forget(self, most: int) -> None:
        """Delete what has ended, but for the latest `most`."""
        self._write(_FORGET, kind=self.kind, most=most)

    def all(self) -> list[dict[str, Any]]:
        """The latest jobs, without their results, latest first."""
        with self.store.cursor() as cursor:
            rows = cursor.execute(_LIST, {"kind": self.kind, "most": KEPT}).fetchall()
        return [self._as_json(*row) for row in rows]

    def cancel(self, job_id: str) -> dict[str, Any]:
        """Cancel a job that waits, or ask one that runs to end. NotFound, Conflict if it has ended."""
        state = self.get(job_id)["state"]
        if state not in OPEN:
            raise Conflict(f"{self.kind} {job_id!r} is {state}; only a queued or running one can be cancelled")
        self._cancelled.add(job_id)
        self._end(job_id, "cancelled", only_from="queued")
        return self.get(job_id)

    def _as_json(
        self,
        job_id: str,
        state: str,
        request: str,
        progress: int,
        created: datetime,
        started: datetime | None,
        finished: datetime | None,
        error: str | None,
    ) -> dict[str, Any]:
        return {
            "id": job_id,
            "state": state,
            **from_json(request),
            "progress": self._progress.get(job_id, progress),
            "created_at": _iso(created),
            "started_at": _iso(started),
            "finished_at": _iso(finished),
            "error": error,
            **self._unwritten.get(job_id, {}),
        }

    def _run(self) -> None:
        while (job_id := self._queue.get()) is not None and not self._stop.is_set():
            begun = self._write_once_it_can(_BEGIN, id=job_id, now=_now())
            for (request,) in begun:  # none if it was cancelled while it waited
                self._do(job_id, from_json(request))
            self._cancelled.discard(job_id)
            self._progress.pop(job_id, None)
            self._unwritten.pop(job_id, None)

    def _write_once_it_can(self, sql: str, **values: object) -> list[tuple[Any, ...]]:
        """What `sql` gives, as soon as the store's disk has room for it; nothing if the service stops before that."""
        while True:
            try:
                return self._write(sql, **values)
            except StoreError:
                if self._stop.wait(PAUSE):
                    return []

    def _do(self, job_id: str, request: dict[str, Any]) -> None:
        before = self._pruned()
        try:
            result = to_json(self.work(request, lambda done: self._told(job_id, done))).decode()
        except _Cancelled:
            self._end(job_id, "interrupted" if self._stop.is_set() else "cancelled")
        except Stopping:
            self._end(job_id, "interrupted")
        except LeakdownError as fault:
            self._end(job_id, "failed", error=str(fault))
        except Exception as fault:  # noqa: BLE001 - a job that fails is a result; the next one must run
            self._end(job_id, "failed", error=f"{type(fault).__name__}: {fault}")
        else:
            self._keep(job_id, result, before)

    def _keep(self, job_id: str, result: str, before: tuple[object, ...]) -> None:
        """A report of what was taken out of the store meanwhile must not bring it back."""
        if self._pruned() == before:
            self._end(job_id, "done", result=result)
        else:
            self._end(job_id, "interrupted", error=MEANWHILE)

    def _pruned(self) -> tuple[object, ...]:
        with self.store.cursor() as cursor:
            return state(cursor)

    def _told(self, job_id: str, done: int) -> None:
        if self._stop.is_set() or job_id in self._cancelled:
            raise _Cancelled
        self._progress[job_id] = done

    def _end(
        self,
        job_id: str,
        state: str,
        *,
        only_from: str = "running",
        result: str | None = None,
        error: str | None = None,
    ) -> None:
        told = {"state": state, "error": error, "progress": self._progress.get(job_id, 0)}
        values = {"id": job_id, "from": only_from, "now": _now(), "result": result, **told}
        if threading.current_thread() is not self._thread:
            self._write(_END, **values)
        else:
            if state != "done":
                self._unwritten[job_id] = told
            self._write_once_it_can(_END, **values)
        self._tell()

    def _tell(self) -> None:
        with self._ended:
            self._ended.notify_all()

    def _write(self, sql: str, **values: object) -> list[tuple[Any, ...]]:
        # not the one writer: an upload holds that for its whole length, and a job is queued meanwhile
        with self.store.brief() as cursor:
            return cursor.execute(sql, values).fetchall()


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def _iso(moment: datetime | None) -> str | None:
    return f"{moment.isoformat()}Z" if moment else None
