"""Code that a command runs, and a store that this service owns: outputs go out, verdicts come back.

A session is one pass of the code over the history. It runs here in a thread, like any other judging; where a
detector would be asked, it waits for the command to take the outputs and to say what its code says of them. A
command that is not heard of any more ends its session; what it said until then is kept.
"""

import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from analysis.candidates.bringing import bring
from analysis.candidates.wire import as_json, told
from analysis.detectors import Brought, Detector, Verdict
from analysis.output import Output
from ingest.errors import Conflict, LeakdownError, NotFound, Stopping, UsageError
from ingest.store import Store

SILENCE = 60.0
"""Seconds after which a command that is not heard of has gone."""
PATIENCE = 10.0
"""Seconds that a command waits for outputs before it is told to ask again."""
SESSIONS = 8
"""Open at a time."""
_LOOK = 0.2


class Gone(LeakdownError):
    """The command that runs the code was not heard of any more, or began anew."""


class Session:
    """One pass of a command's code over the store."""

    def __init__(
        self, store: Store, of: Detector, stopping: threading.Event, *, anew: bool = False, silence: float = SILENCE
    ) -> None:
        self.id = secrets.token_hex(8)
        self.detector = of.id
        self._store, self._stopping, self._anew, self._silence = store, stopping, anew, silence
        self._change = threading.Condition()
        self._part, self._outputs, self._said = 0, [], []  # type: tuple[int, list[Output], list[Verdict]]
        self._heard = time.monotonic()
        self._searched = 0
        self._state, self._error = "judging", None  # type: tuple[str, str | None]
        self._over = False
        self._thread = threading.Thread(target=self._run, args=(of,), name=f"judging by {of.id}", daemon=True)
        self._thread.start()

    @property
    def open(self) -> bool:
        """Whether it still judges."""
        return self._state == "judging"

    def end(self) -> None:
        """Give it up, and wait until it has ended."""
        with self._change:
            self._over = True
            self._change.notify_all()
        self._thread.join()

    def next(self, patience: float = PATIENCE) -> dict[str, Any]:
        """The outputs that wait for a verdict; none if none come within `patience`, or when it is over."""
        with self._change:
            self._heard = time.monotonic()
            self._change.wait_for(lambda: self._outputs or not self.open or self._stopping.is_set(), patience)
            self._heard = time.monotonic()
            return {
                "session": self.id,
                "detector": self.detector,
                "state": self._state,
                "error": self._error,
                "searched": self._searched,
                "part": str(self._part),
                "outputs": [as_json(output) for output in self._outputs[len(self._said) :]],
            }

    def answer(self, part: str, answers: Sequence[Any]) -> dict[str, Any]:
        """Take what the code said of the next outputs of a part; Conflict for more answers than outputs, or for
        another part. No answer says that the command is there."""
        with self._change:
            self._heard = time.monotonic()
            waiting = len(self._outputs) - len(self._said)
            if answers and part != str(self._part):
                raise Conflict(f"part {part} was judged already; {self._part} is under way")
            if len(answers) > waiting:
                raise UsageError(f"{len(answers):,} verdicts, but {waiting:,} outputs of part {part} wait for one")
            outputs = self._outputs[len(self._said) :]
            self._said += [told(each, output) for each, output in zip(answers, outputs, strict=False)]
            self._change.notify_all()
            return {"session": self.id, "part": part, "missing": len(self._outputs) - len(self._said)}

    def _run(self, of: Detector) -> None:
        content, isolation = (of.brought.content, of.brought.isolation) if of.brought else ("", None)
        asked = replace(of, brought=Brought(content, many=self._many, isolation=isolation))
        error: str | None = None
        try:
            bring(self._store, asked, self._told, anew=self._anew)
        except LeakdownError as fault:
            error = str(fault)
        except Exception as fault:  # noqa: BLE001 - a session that fails is a result, told to who asks for it
            error = f"{type(fault).__name__}: {fault}"
        with self._change:
            self._state, self._error = ("failed", error) if error else ("done", None)
            self._outputs, self._said = [], []
            self._change.notify_all()

    def _told(self, searched: int) -> None:
        self._searched = searched
        self._look()

    def _many(self, outputs: Sequence[Output]) -> list[Verdict]:
        """What the command's code says of the outputs; while it is waited for nothing is held."""
        if not outputs:
            return []
        with self._change:
            self._part, self._outputs, self._said = self._part + 1, list(outputs), []
            self._change.notify_all()
            while len(self._said) < len(outputs):
                self._change.wait(_LOOK)
                self._look()
            said, self._outputs, self._said = self._said, [], []
        return said

    def _look(self) -> None:
        if self._stopping.is_set():
            raise Stopping("the service is stopping; the verdicts until now are kept, run it again")
        if self._over or time.monotonic() - self._heard > self._silence:
            raise Gone("the command that runs the code was not heard of any more; what it said until then is kept")


class Sessions:
    """The sessions of a service."""

    def __init__(self, store: Store, stopping: threading.Event) -> None:
        self._store, self._stopping = store, stopping
        self._lock = threading.Lock()
        self._open: dict[str, Session] = {}

    def begin(self, of: Detector, *, anew: bool) -> Session:
        """A new session, instead of an earlier one of the same code. Conflict if too many are open."""
        with self._lock:
            for earlier in [each for each in self._open.values() if each.detector == of.id or not each.open]:
                earlier.end()
                del self._open[earlier.id]
            if len(self._open) >= SESSIONS:
                raise Conflict(f"{SESSIONS} candidates are being judged; wait for one of them")
            session = Session(self._store, of, self._stopping, anew=anew)
            self._open[session.id] = session
            return session

    def get(self, session_id: str) -> Session:
        """NotFound."""
        session = self._open.get(session_id)
        if session is None:
            raise NotFound(f"no session {session_id!r}; it ended, or the service began anew: run it again")
        return session

    def stop(self) -> None:
        """End all."""
        with self._lock:
            for session in self._open.values():
                session.end()
