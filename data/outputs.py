"""What a model of the fleet gives back, together with what is true of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from data.dice import Dice
from data.fleet import Line
from data.markup import LEAKS, PRINTED, Call, Shape, first_marker
from data.quotes import QUOTES
from data.texts import CLOSINGS, LEADS, NUDGED_ANSWERS, THOUGHTS, Task, fill
from ingest.records import Kind, Status


@dataclass(frozen=True, slots=True)
class Output:
    """One response. `leak` is its kind if it leaks; `marked` is the text that a client of markers reports."""

    content: str | None
    reasoning: str | None = None
    calls: tuple[Call, ...] = ()
    finish: str | None = "stop"
    status: Status = "ok"
    raw_text: str | None = None
    leak: Kind | None = None
    quotes: bool = False
    marked: str | None = None

    @property
    def says_nothing(self) -> bool:
        return self.content is None and self.reasoning is None and not self.calls


def thought(dice: Dice, line: Line) -> str | None:
    return dice.pick(THOUGHTS) if line.thinks else None


def calling(dice: Dice, line: Line, call: Call) -> Output:
    lead = dice.pick(LEADS) if dice.chance(0.4) else None
    return Output(lead, thought(dice, line), (call,), finish="tool_calls")


def answering(dice: Dice, line: Line, task: Task) -> Output:
    return Output(task.answer(dice), thought(dice, line))


def quoting(dice: Dice, line: Line) -> Output:
    """A good answer that quotes markup."""
    quote = dice.pick(QUOTES)
    text = f"{fill(dice, quote.text)} {fill(dice, dice.pick(CLOSINGS))}"
    marked = text[text.index(quote.bare) :] if quote.bare else None
    return Output(text, thought(dice, line), quotes=True, marked=marked)


def answering_a_nudge(dice: Dice, line: Line) -> Output:
    return Output(f"{dice.pick(NUDGED_ANSWERS)} {fill(dice, dice.pick(CLOSINGS))}", thought(dice, line))


def failing(dice: Dice) -> Output:
    """An error or a cancellation; half of the cancelled ones had begun to answer."""
    if dice.chance(0.5):
        return Output(None, finish=None, status="error")
    return Output(dice.pick(LEADS) if dice.chance(0.5) else None, finish=None, status="cancelled")


def printing(dice: Dice, line: Line, call: Call) -> Output:
    return _leaking(dice, thought(dice, line), call, PRINTED)


def leaking(dice: Dice, line: Line, call: Call) -> Output:
    return _leaking(dice, thought(dice, line), call, LEAKS[line.shapes])


def calling_in_text(dice: Dice, line: Line, call: Call) -> Output:
    """Markup in the content by design, for a client that asked for calls as text."""
    return Output(LEAKS[line.shapes][0].write(call), thought(dice, line))


def _leaking(dice: Dice, thinking: str | None, call: Call, shapes: Sequence[Shape]) -> Output:
    shape = dice.weighted({each: each.weight for each in shapes})
    text = shape.write(call)
    if shape.in_reasoning:
        return Output("", f"{dice.pick(THOUGHTS)}\n{text}", leak=shape.kind)
    lead = f"{dice.pick(LEADS)}\n\n" if dice.chance(0.4) else ""
    raw = f"{lead}{shape.before_parser(call)}" if shape.before_parser else None
    content = f"{lead}{text}"
    return Output(content, thinking, finish=shape.finish, raw_text=raw, leak=shape.kind, marked=first_marker(content))
