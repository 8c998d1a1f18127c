"""Runs of the fleet: rounds of calls up to an answer, with leaks, nudges and retries on the way."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Any

from data import outputs
from data.dice import Dice
from data.fleet import DAYS, FIRST_DAY, FLEET, Line, Mode, Release
from data.outputs import Output
from data.texts import CODING, TASKS, Task

SEED = "leakdown sample 22"
MOST_ROUNDS = 8
REPORTED = 200
"""Characters of markup in an event."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """A generation as written, and what is true of it."""

    record: Json
    output: Output
    eligible: bool


@dataclass(slots=True)
class Run:
    """A run under way: its place in the fleet, its clock, and what it has written."""

    run_id: str
    line: Line
    release: Release
    client_version: str
    mode: Mode
    begins: datetime
    dice: Dice
    records: list[Json] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    round: int = 0
    retries: int = 0
    reported: int = 0

    def play(self, number: int) -> None:
        """One turn, or two; every sixth run is about tool-call markup itself."""
        self.records.append(self._head())
        about_markup = number % 6 == 3
        turns = 3 if self.mode == "no_tools" else 2 if self.dice.chance(0.3) else 1
        for turn in range(turns):
            task = CODING if about_markup else self.dice.pick(TASKS)
            steps = 0 if self.mode == "no_tools" else self.dice.between(2, 3 if turns == 2 else 6)
            self._turn(turn, task, steps, about_markup)

    def _turn(self, turn: int, task: Task, steps: int, about_markup: bool) -> None:
        going = True
        while going and self.round < MOST_ROUNDS:
            output = self._round(turn, task, steps, about_markup)
            goes_on = bool(output.calls) or (self.mode == "text" and steps > 0)
            going, steps, self.round = goes_on, max(steps - 1, 0), self.round + 1

    def _round(self, turn: int, task: Task, steps: int, about_markup: bool) -> Output:
        """The round's attempts; the last one's output."""
        output, attempt = self._first(task, steps, about_markup), 0
        while True:
            retried = self._noticed(output) and self.retries < self.line.client.max_retries
            self._write(output, task, turn, attempt)
            if self.line.client.reports and output.marked is not None:
                self._report(output.marked, retried)
            if not retried:
                return output
            self.retries, attempt = self.retries + 1, attempt + 1
            output = self._nudged(output, task)

    def _first(self, task: Task, steps: int, about_markup: bool) -> Output:
        dice, line = self.dice, self.line
        if self.mode == "text" and steps:
            return outputs.calling_in_text(dice, line, task.call(dice))
        if self.mode in ("native", "tools_unknown"):
            if dice.chance(0.012):
                return outputs.failing(dice)
            if dice.chance(self.release.leak_rate):
                return outputs.leaking(dice, line, task.call(dice))
            if dice.chance(self.release.printed_rate):
                return outputs.printing(dice, line, task.call(dice))
        if steps:
            return outputs.calling(dice, line, task.call(dice))
        return outputs.quoting(dice, line) if about_markup else outputs.answering(dice, line, task)

    def _noticed(self, output: Output) -> bool:
        if self.line.client.reports:
            return output.marked is not None
        return output.leak is not None

    def _nudged(self, before: Output, task: Task) -> Output:
        """What follows a nudge; after a good answer that only quoted markup, a poorer one in words."""
        dice, line = self.dice, self.line
        if before.leak is None:
            return outputs.answering_a_nudge(dice, line)
        match dice.weighted(line.retried):
            case "structured":
                return outputs.calling(dice, line, task.call(dice))
            case "answered":
                return outputs.answering_a_nudge(dice, line)
            case "leaked":
                return outputs.leaking(dice, line, task.call(dice))
            case "errored":
                return Output(None, finish=None, status="error")

    def _now(self) -> str:
        return f"{self.begins + timedelta(seconds=19 * len(self.made)):%Y-%m-%dT%H:%M:%SZ}"

    def _head(self) -> Json:
        """The run's record: what a client knows once, the settings of the engine behind it."""
        return {
            "type": "run",
            "run_id": self.run_id,
            "engine": self.line.engine,
            "engine_version": self.release.version,
            "template": self.line.template,
            "tool_parser": self.line.tool_parser,
        }

    def _write(self, output: Output, task: Task, turn: int, attempt: int) -> None:
        record: Json = {
            "type": "generation",
            "run_id": self.run_id,
            "generation_id": f"{self.run_id}.{len(self.made):02}",
            "turn": turn,
            "round": self.round,
            "attempt": attempt,
            "started_at": self._now(),
            "model": self.line.model,
            "provider": self.line.provider,
            "client": self.line.client.name,
            "client_version": self.client_version,
            **self._offered(task),
            **_said(output, len(self.made)),
        }
        self.records.append(record)
        self.made.append(Made(record, output, self._eligible(output, attempt)))

    def _offered(self, task: Task) -> Json:
        match self.mode:
            case "native":
                return {"tools": list(task.tools), "tool_choice": "auto"}
            case "text":
                return {"call_mode": "text", "tools": list(task.tools)}
            case "no_tools":
                return {"tools": []}
            case "tools_unknown":
                return {"call_mode": "native"}

    def _eligible(self, output: Output, attempt: int) -> bool:
        failed = output.status in ("error", "cancelled") and output.says_nothing
        return self.mode == "native" and attempt == 0 and not failed

    def _report(self, marked: str, retried: bool) -> None:
        self.reported += 1
        event = {"type": "leaked_tool_call", "run_id": self.run_id, "round": self.round, "at": self._now()}
        if self.line.thinks:
            event["generation_id"] = self.made[-1].record["generation_id"]
        event |= {"markup": marked.strip()[:REPORTED], "leak": self.reported, "retried": retried}
        self.records.append({**event, "detector": "openrouter-net@1"})


def _said(output: Output, before: int) -> Json:
    said: Json = {"content": output.content}
    if output.reasoning is not None:
        said["reasoning"] = output.reasoning
    said["tool_calls"] = [
        {"id": f"call_{before}_{index}", "name": call.name, "arguments": call.json}
        for index, call in enumerate(output.calls)
    ]
    said |= {"finish_reason": output.finish, "status": output.status}
    if output.raw_text is not None:
        said["raw_text"] = output.raw_text
    written = len(output.content or "") + len(output.reasoning or "") + sum(len(c.json) for c in output.calls)
    said["usage"] = {"input_tokens": 620 + 140 * before, "output_tokens": written // 4}
    return said


def fleet_runs() -> list[Run]:
    """Every run of the fleet, played, by the time it began."""
    runs = sorted((run for line in FLEET for run in _line_runs(line)), key=lambda run: run.begins)
    for number, run in enumerate(runs):
        run.run_id = f"run-{number:03}"
        run.play(number)
    return runs


def _line_runs(line: Line) -> Iterator[Run]:
    """The line's runs, spread evenly over the days, unplayed and unnamed."""
    modes = _modes(line)
    for number in range(line.runs):
        dice = Dice(f"{SEED}/{line.model}/{number}")
        day = number * DAYS // line.runs
        moment = time(dice.between(6, 20), dice.between(0, 59), dice.between(0, 59), tzinfo=UTC)
        begins = datetime.combine(FIRST_DAY + timedelta(days=day), moment)
        release = [each for each in line.releases if each.from_day <= day][-1]
        client_version = [version for version, since in line.client.releases if since <= day][-1]
        yield Run("", line, release, client_version, modes.get(number, "native"), begins, dice)


def _modes(line: Line) -> dict[int, Mode]:
    """Which of the line's runs are not native: one kind after the other, at even distances."""
    wanted = [mode for mode, count in line.modes for _ in range(count)]
    return {(2 * place + 1) * line.runs // (2 * len(wanted)): mode for place, mode in enumerate(wanted)}
