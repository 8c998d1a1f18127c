"""Gates: an expression over the figures of a report, true where the report must not pass. Syntax: `gate_syntax`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from analysis.gate_syntax import COMPARE, Comparison, Figure, Joined, Not, Number, Parser, Part


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a gate says of a report. `figures` are those it names, None where there is no number; `faults` say why
    there is none, and a gate with any of them fails."""

    expression: str
    failed: bool
    figures: dict[str, Number | None]
    faults: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The value of `gate` in a report."""
        return {
            "expression": self.expression,
            "failed": self.failed,
            "figures": self.figures,
            "faults": list(self.faults),
        }

    def __str__(self) -> str:
        """One line for a person."""
        why = self.faults or [f"{path} is {_shown(value)}" for path, value in self.figures.items()]
        return f"the gate {'failed' if self.failed else 'passed'}: {self.expression} ({'; '.join(why)})"


@dataclass(frozen=True, slots=True)
class Gate:
    """A parsed expression; a report for which it holds fails."""

    expression: str
    part: Part

    @classmethod
    def parse(cls, expression: str) -> Self:
        """UsageError with the column of what is wrong."""
        return cls(expression, Parser(expression).whole())

    def judge(self, report: Mapping[str, Any]) -> Ruling:
        """Fails if the expression holds, and if any figure that it names is unknown, null or no number."""
        found: dict[str, Number | None] = {}
        faults: list[str] = []
        for figure in _figures(self.part):
            if figure.path not in found:
                try:
                    found[figure.path] = _number(report, figure)
                except LookupError as fault:
                    found[figure.path] = None
                    faults.append(str(fault.args[0]))
        known = {path: value for path, value in found.items() if value is not None}
        return Ruling(self.expression, bool(faults) or _holds(self.part, known), found, tuple(faults))


def markdown(ruling: Mapping[str, Any]) -> str:
    """The `gate` of a report as a paragraph of Markdown."""
    figures = "; ".join(f"`{path}` is {_shown(value)}" for path, value in ruling["figures"].items())
    why = "; ".join(ruling["faults"]) or figures
    return f"**The gate {'failed' if ruling['failed'] else 'passed'}**: `{ruling['expression']}` ({why})."


def _shown(value: Number | None) -> str:
    return "undefined" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _figures(part: Part) -> Iterator[Figure]:
    match part:
        case Comparison(left, _, right):
            yield from (value for value in (left, right) if isinstance(value, Figure))
        case Not(inner):
            yield from _figures(inner)
        case Joined(_, parts):
            for each in parts:
                yield from _figures(each)


def _holds(part: Part, known: Mapping[str, Number]) -> bool:
    match part:
        case Comparison(left, compare, right):
            values = (known[value.path] if isinstance(value, Figure) else value for value in (left, right))
            return COMPARE[compare](*values)
        case Not(inner):
            return not _holds(inner, known)
        case Joined(word, parts):
            return (all if word == "and" else any)(_holds(each, known) for each in parts)


def _number(report: Mapping[str, Any], figure: Figure) -> Number:
    """The number at a path; LookupError with a reason for a person where there is none."""
    value: Any = report
    names = figure.path.split(".")
    for at, name in enumerate(names):
        value = _inner(value, name, f"column {figure.column}: no figure {figure.path}", ".".join(names[:at]))
    if value is None:
        raise LookupError(f"{figure.path} is null: there was nothing to compute it from")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LookupError(f"column {figure.column}: {figure.path} is no number but {_kind(value)}")
    return value


def _inner(value: Any, name: str, fault: str, outer: str) -> Any:
    where = outer or "the report"
    match value:
        case {}:
            if name in value:
                return value[name]
            raise LookupError(f"{fault}; {where} has {', '.join(value) or 'none'}")
        case list():
            if name.isdecimal() and int(name) < len(value):
                return value[int(name)]
            raise LookupError(f"{fault}; {where} is a list of {len(value):,}, counted from 0")
        case None:
            raise LookupError(f"{outer} is null: there was nothing to compute it from")
        case _:
            raise LookupError(f"{fault}; {where} is {_kind(value)}")


def _kind(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return "a text"
        case list():
            return "a list"
        case {}:
            return f"an object of {', '.join(value) or 'nothing'}"
        case _:
            return f"the number {value}"
