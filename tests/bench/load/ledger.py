"""What was sent and acknowledged, what every request took, and what was wrong about an answer."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

MAY_WAIT = (429, 503)
"""With Retry-After: what a busy service may answer."""


@dataclass(slots=True)
class Ledger:
    """Shared by all threads. `sent` and `acknowledged` count uploads."""

    deadline: float
    sent: int = 0
    acknowledged: int = 0
    labels: int = 0
    waited: int = 0
    faults: list[str] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def over(self) -> bool:
        """Whether nobody begins anything more."""
        return time.monotonic() > self.deadline

    def add(self, name: str) -> int:
        """One more of `sent`, `acknowledged` or `labels`; how many there are now."""
        with self.lock:
            setattr(self, name, getattr(self, name) + 1)
            return int(getattr(self, name))

    def wrong(self, what: str) -> None:
        """Note a fault."""
        with self.lock:
            self.faults.append(what)

    def ask(self, http: httpx.Client, kind: str, method: str, path: str, **more: Any) -> httpx.Response | None:
        """Send a request; its answer, or None where there is none to be judged, which is a fault unless the service
        said when to come again."""
        begun = time.monotonic()
        try:
            answer = http.request(method, path, **more)
        except httpx.HTTPError as fault:
            self.wrong(f"{kind}: {method} {path}: {type(fault).__name__} after {time.monotonic() - begun:.1f} s")
            return None
        with self.lock:
            self.seconds[kind].append(time.monotonic() - begun)
        if answer.is_success:
            return answer
        self._refused(kind, f"{method} {path}", answer)
        return None

    def _refused(self, kind: str, request: str, answer: httpx.Response) -> None:
        after = answer.headers.get("Retry-After", "")
        if answer.status_code in MAY_WAIT and after.isdigit():
            self.add("waited")
            time.sleep(min(int(after), 5))
        else:
            self.wrong(f"{kind}: {request}: {answer.status_code} {answer.text[:300]}")

    def guarded(self, kind: str, work: Callable[[], object]) -> threading.Thread:
        """A thread that does `work`; what it raises is a fault."""

        def run() -> None:
            try:
                work()
            except Exception as fault:  # noqa: BLE001 - told in the end, where the test fails for it
                self.wrong(f"{kind}: {type(fault).__name__}: {fault}")

        return threading.Thread(target=run, name=kind, daemon=True)
