"""Code as a detector: asked in worker processes, an output at a time, whatever it does with that."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from analysis.candidates.limits import Limits
from analysis.candidates.sandbox import Sandbox
from analysis.candidates.wire import as_json, line, said
from analysis.candidates.workers import Failed, Surplus, Worker
from analysis.detectors import Failure, Verdict
from analysis.output import Output

IN_A_ROW = 20
"""Outputs that end a worker, one after the other, after which the code is asked no more."""
IN_ALL = 1_000
"""The same, anywhere."""
NOT_ASKED = "not asked"
"""The sort of failure of an output that came after that."""


@dataclass
class Losses:
    """Workers that the code has ended or stalled."""

    in_a_row: int = 0
    in_all: int = 0

    def count(self, failed: bool) -> None:
        """Note how an output ended."""
        self.in_a_row = self.in_a_row + 1 if failed else 0
        self.in_all += failed

    @property
    def given_up(self) -> str | None:
        """Why the code is asked no more; None while it is."""
        if self.in_a_row >= IN_A_ROW:
            return f"{NOT_ASKED}: it failed on {self.in_a_row:,} outputs in a row"
        return f"{NOT_ASKED}: it ended {self.in_all:,} workers" if self.in_all >= IN_ALL else None


@dataclass(eq=False)
class Code:
    """A command that speaks the protocol. No process outlives a call of `many`."""

    command: tuple[str, ...]
    limits: Limits
    sandbox: Sandbox | None = None
    losses: Losses = field(default_factory=Losses)

    def many(self, outputs: Sequence[Output]) -> list[Verdict]:
        """What the code says of each output, in their order; a Failure where it says nothing that can be used."""
        asked = _Asked(self, len(outputs))
        try:
            for output in outputs:
                asked.ask(output)
            asked.finish()
        finally:
            asked.drop()
        return asked.verdicts

    def find(self, output: Output) -> Verdict:
        """The same of one output."""
        return self.many([output])[0]


class _Asked:
    """One pass over outputs, with the worker of the moment."""

    def __init__(self, code: Code, outputs: int) -> None:
        self._code, self._outputs = code, outputs
        self._worker: Worker | None = None
        self._since = 0
        self.verdicts: list[Verdict] = []

    def ask(self, output: Output) -> None:
        """Add the verdict on one more output."""
        if why := self._code.losses.given_up:
            self.verdicts.append(Failure(why))
            return
        try:
            answer = self._running().ask(line(as_json(output)))
        except Surplus as fault:
            self._lose(fault)
            self.ask(output)  # it was not asked of this one yet; giving up ends it
        except Failed as fault:
            self._lose(fault)
            self.verdicts.append(Failure(str(fault)))
        else:
            self._code.losses.count(False)
            self.verdicts.append(said(answer, output))

    def finish(self) -> None:
        """End the worker, and see whether it had more to say than it was asked."""
        if self._worker:
            try:
                self._worker.finish()
            except Surplus as fault:
                self._lose(fault)
            self._worker = None

    def drop(self) -> None:
        """End the worker as it is."""
        if self._worker:
            self._worker.close()
            self._worker = None

    def _running(self) -> Worker:
        if self._worker is None:
            code, self._since = self._code, len(self.verdicts)
            self._worker = Worker(code.command, code.limits, code.sandbox, self._outputs)
            self._worker.hello()
        return self._worker

    def _lose(self, fault: Failed) -> None:
        self.drop()
        self._code.losses.count(True)
        if isinstance(fault, Surplus):
            # one answer too many shifts all that follow, and nobody saw where it came
            asked = len(self.verdicts) - self._since
            self.verdicts[self._since :] = [Failure(f"too many answers to {asked:,} outputs: {fault}")] * asked
