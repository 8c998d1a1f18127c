"""One worker process: a line in, a line out, and what can go wrong with that."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence

from analysis.candidates.limits import Limits, environment, launched
from analysis.candidates.sandbox import Sandbox
from analysis.candidates.watch import EVERY, Watch
from analysis.candidates.wire import line, shown

HELLO = line(
    {
        "hello": "leakdown",
        "content": None,
        "reasoning": None,
        "tool_calls": [],
        "tools": [],
        "inferred_names": [],
        "finish_reason": None,
        "call_mode": "native",
    }
)
"""The first line, an output with nothing in it: who knows the protocol says what he is, all others say null."""
_PIECE = 2**16
_PARTING = 2.0
"""Seconds that a worker has to end once its input has."""
_BY_SIGNAL = 128
"""What a sandbox adds to the number of a signal, as shells do."""
_LAST_WORDS = 2_000
"""Bytes kept of what a worker says on stderr."""


class Failed(Exception):
    """A worker did not answer as it should; it is of no more use."""


class Surplus(Failed):
    """A worker answered more than it was asked, so that nobody knows which answer belongs to which output."""


class Worker:
    """A running worker; `close` or `finish` it."""

    def __init__(self, command: Sequence[str], limits: Limits, box: Sandbox | None = None, outputs: int = 1) -> None:
        self._limits, self._boxed = limits, box is not None
        # no process needs more CPU than all the time that it may take
        inside = launched(command, limits, limits.start + outputs * limits.seconds if box else None)
        # a session of its own: its children end with it, and Ctrl-C is ours to handle
        self._process = subprocess.Popen(  # noqa: S603 - what the user of the command named
            [*(box.words if box else ()), *inside],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=box.environment if box else environment(),
            start_new_session=True,
        )
        self._watch = Watch(self._process.pid, limits) if box else None
        self._in, self._out, self._err = (
            pipe.fileno() for pipe in (self._process.stdin, self._process.stdout, self._process.stderr) if pipe
        )
        for each in (self._in, self._out, self._err):
            os.set_blocking(each, False)
        self._selector = selectors.DefaultSelector()
        for each in (self._out, self._err):
            self._selector.register(each, selectors.EVENT_READ)
        self._read = bytearray()
        self._said = b""
        self._ended = False

    def hello(self) -> bytes:
        """Its answer to the first line. Failed."""
        return self._ask(HELLO, self._limits.start)

    def ask(self, sent: bytes) -> bytes:
        """Its answer to a line. Failed, Surplus."""
        self._pump(0)
        if self._read:
            raise Surplus(f"answers without a question: {shown(bytes(self._read))}")
        return self._ask(sent, self._limits.seconds)

    def finish(self) -> None:
        """End it with the end of its input. Surplus if it had more to say."""
        deadline = time.monotonic() + min(self._limits.seconds, _PARTING)
        try:
            if self._process.stdin:
                self._process.stdin.close()
            while not self._ended and time.monotonic() < deadline and not self._read:
                self._pump(deadline - time.monotonic())
            if self._read:
                raise Surplus(f"answers without a question: {shown(bytes(self._read))}")
        finally:
            self.close()

    def close(self) -> None:
        """End it, and whatever it started."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()
        self._process.wait()
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe:
                try:
                    pipe.close()
                except OSError:
                    continue  # what it did not read is of no use to anyone any more

    def _ask(self, sent: bytes, seconds: float) -> bytes:
        deadline = time.monotonic() + seconds
        left = memoryview(sent)
        while b"\n" not in self._read:
            left = self._write(left)
            if len(self._read) > self._limits.answer:
                raise Failed(f"too long: its answer is over {self._limits.answer:,} bytes")
            if self._ended:
                raise Failed(self._end())
            if self._watch and (over := self._watch.look()):
                raise Failed(over)
            wait = deadline - time.monotonic()
            if wait <= 0:
                raise Failed(f"timeout: no answer within {seconds:g} s")
            self._pump(min(wait, EVERY) if self._watch else wait, writing=bool(left))
        answer, _, rest = bytes(self._read).partition(b"\n")
        self._read = bytearray(rest)
        if len(answer) > self._limits.answer:
            raise Failed(f"too long: its answer is over {self._limits.answer:,} bytes")
        return answer

    def _write(self, left: memoryview) -> memoryview:
        try:
            return left[os.write(self._in, left[:_PIECE]) :] if left else left
        except BlockingIOError:
            return left
        except BrokenPipeError:
            return left[:0]  # it reads no more: its end, or its silence, will be told as such

    def _pump(self, seconds: float, *, writing: bool = False) -> None:
        """Take what it says within `seconds`, or wait until it reads on."""
        if writing:
            self._selector.register(self._in, selectors.EVENT_WRITE)
        try:
            for key, _ in self._selector.select(max(0.0, seconds)):
                if key.fd == self._out:
                    self._take()
                elif key.fd == self._err:
                    self._listen()
        finally:
            if writing:
                self._selector.unregister(self._in)

    def _take(self) -> None:
        piece = os.read(self._out, _PIECE)
        self._read += piece
        if not piece:
            self._ended = True
            self._selector.unregister(self._out)

    def _listen(self) -> None:
        piece = os.read(self._err, _PIECE)
        self._said = (self._said + piece)[-_LAST_WORDS:]
        if not piece:
            self._selector.unregister(self._err)

    def _end(self) -> str:
        """How it ended, and its last words."""
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return "crash: it closed its output"
        self._pump(0)
        lines = self._said.decode("utf-8", "replace").strip().splitlines()
        last = f"; it said: {lines[-1][:200]}" if lines else ""
        if self._boxed and code > _BY_SIGNAL:
            code = _BY_SIGNAL - code
        if code < 0:
            return f"crash: ended by {_signal(-code)}{last}"
        return f"crash: ended with exit code {code}{last}"


def _signal(number: int) -> str:
    try:
        return f"signal {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"
