"""Outputs judged in several processes, where that is worth their start: what they say does not depend on how many.

`python -m analysis.workers DETECTOR` is such a process: lists of (verdict key, output) come in, lists of verdicts go
out, pickled. Both ends are ours, and only detectors of our own are judged so.
"""

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any, Self

from analysis.detectors import Detector, detector, detectors
from analysis.output import Output
from ingest.verdict_rows import StoredVerdict

MOST = 3
"""Processes, this one among them. Each other takes 110 MB, and all together stay below the 1 GB of a replay."""
WORTH = 5.0
"""Seconds of judging still to come from which on more processes are started (half a second each)."""

Outputs = Sequence[tuple[bytes, Output]]
JudgeOutputs = Callable[[Detector, Outputs], Iterable[StoredVerdict]]


class Workers:
    """Judges the outputs of one detector, `expected` in all, in parts; in `count` processes, or, if None, in as many
    as pay."""

    def __init__(self, by: Detector, judge: JudgeOutputs, expected: int, count: int | None = None) -> None:
        self._by, self._judge, self._left = by, judge, expected
        self._ours = any(by is each for each in detectors())
        self._count = count
        self._others: list[subprocess.Popen[bytes]] = []
        self._open = ExitStack()
        self._seconds, self._judged = 0.0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def verdicts(self, outputs: Outputs) -> list[StoredVerdict]:
        """The verdicts on `outputs`, in their order."""
        self._start(self._wanted() - 1)
        started = time.perf_counter()
        share = -(-len(outputs) // (len(self._others) + 1))
        left = iter(outputs)
        here, *shares = [list(islice(left, share)) for _ in range(len(self._others) + 1)]
        sent = [_send(process, each) for process, each in zip(self._others, shares, strict=True)]
        found = list(self._judge(self._by, here))
        for process, each, was_sent in zip(self._others, shares, sent, strict=True):
            received = _receive(process) if was_sent else None
            found += self._judge(self._by, each) if received is None else received
        self._seconds += time.perf_counter() - started
        self._judged, self._left = self._judged + len(outputs), self._left - len(outputs)
        return found

    def _wanted(self) -> int:
        if not self._ours:
            return 1
        if self._count is not None:
            return self._count
        to_come = self._seconds / self._judged * self._left if self._judged else 0.0
        return min(os.cpu_count() or 1, MOST) if self._others or to_come > WORTH else 1

    def _start(self, count: int) -> None:
        while len(self._others) < count:
            process = subprocess.Popen(  # noqa: S603 - ourselves
                [sys.executable, "-m", __name__, self._by.id],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # an interrupt of the command ends it by the end of its input
            )
            self._open.callback(_end, process)
            self._others.append(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with process:
        pass


def _send(process: subprocess.Popen[bytes], outputs: Outputs) -> bool:
    """False if the process is gone; then its share is judged here."""
    assert process.stdin is not None  # noqa: S101 - for mypy
    try:
        pickle.dump(outputs, process.stdin, pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()
    except BrokenPipeError:
        return False
    return True


def _receive(process: subprocess.Popen[bytes]) -> Any:
    """None if the process is gone."""
    assert process.stdout is not None  # noqa: S101 - for mypy
    try:
        return pickle.load(process.stdout)  # noqa: S301 - from our own process
    except (EOFError, pickle.UnpicklingError):
        return None


def serve(detector_id: str) -> None:
    """Judge what comes in until nothing more does."""
    from analysis.judging import verdicts_on

    by, out = detector(detector_id), sys.stdout.buffer
    while True:
        try:
            outputs = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our own process
        except EOFError:
            return
        pickle.dump(list(verdicts_on(by, outputs)), out, pickle.HIGHEST_PROTOCOL)
        out.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
