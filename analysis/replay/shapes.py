"""Disagreements that are alike, folded into one: the same kinds, families, reasons and syntax on both sides."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from analysis.replay.disagreements import Disagreement, Verdict
from analysis.replay.skeleton import reason_class, skeleton, vocabulary

EXAMPLES = 3
SHOWN = 30
"""Shapes in a report, the most frequent first."""
MOST = 5_000
"""Shapes told apart; disagreements of further ones, which come late and are rare, are only counted."""


@dataclass(frozen=True, slots=True)
class Gist:
    """What a verdict says, without what is particular to one output."""

    kind: str
    family: str | None
    channel: str
    reason: str


@dataclass(slots=True)
class Shape:
    """Disagreements that are alike; the first few as examples, each perhaps with `passages` of its text."""

    says_leak: Literal["baseline", "candidate"]
    baseline: Gist | None
    candidate: Gist | None
    skeleton: str
    n: int = 0
    labelled: int = 0
    leaks: int = 0
    examples: list[Disagreement] = field(default_factory=list)
    passages: list[list[dict[str, Any]]] = field(default_factory=list)

    def take(self, each: Disagreement) -> None:
        """Count `each`."""
        self.n += 1
        self.labelled += each.truth is not None
        self.leaks += bool(each.truth)
        if len(self.examples) < EXAMPLES:
            self.examples.append(each)

    def as_json(self) -> dict[str, Any]:
        """What both say, how often, what the labels say, and the examples."""
        passages = self.passages or [[] for _ in self.examples]
        return {
            "says_leak": self.says_leak,
            "n": self.n,
            "labelled": {"n": self.labelled, "leaks": self.leaks},
            "baseline": _gist_json(self.baseline),
            "candidate": _gist_json(self.candidate),
            "skeleton": self.skeleton,
            "examples": [
                {**each.as_json(), "passages": shown} for each, shown in zip(self.examples, passages, strict=True)
            ],
        }


def _gist_json(gist: Gist | None) -> dict[str, Any] | None:
    if gist is None:
        return None
    return {"kind": gist.kind, "family": gist.family, "channel": gist.channel, "reason": gist.reason}


@dataclass(frozen=True, slots=True)
class Folded:
    """The most frequent shapes; what is left out is counted."""

    shapes: list[Shape]
    left_out_shapes: int
    left_out: int

    def as_json(self) -> dict[str, Any]:
        """The rows, and how many shapes and disagreements are left out."""
        return {
            "rows": [each.as_json() for each in self.shapes],
            "left_out": {"shapes": self.left_out_shapes, "disagreements": self.left_out},
        }


class Folding:
    """Takes disagreements one by one; `literals` are the triggers of both detectors."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._words = vocabulary(literals)
        self._shapes: dict[tuple[Any, ...], Shape] = {}
        self._total = 0

    def take(self, each: Disagreement) -> None:
        """Put `each` into its shape."""
        self._total += 1
        says: Literal["baseline", "candidate"] = "candidate" if each.by_candidate else "baseline"
        shown = each.candidate if each.by_candidate else each.baseline
        syntax = skeleton(shown["markup"], self._words) if shown else ""
        key = (says, _gist(each.baseline), _gist(each.candidate), syntax)
        shape = self._shapes.get(key)
        if shape is None:
            if len(self._shapes) >= MOST:
                return
            shape = self._shapes[key] = Shape(*key)
        shape.take(each)

    def folded(self) -> Folded:
        """The shapes so far, the most frequent first, those of the same n in the order in which they came."""
        ranked = sorted(self._shapes.values(), key=lambda shape: -shape.n)
        shown = ranked[:SHOWN]
        return Folded(shown, len(ranked) - len(shown), self._total - sum(shape.n for shape in shown))


def with_passages(of: Folded, passages: list[list[dict[str, Any]]]) -> Folded:
    """`of`, its examples with their texts, which stand in the order of shapes and examples."""
    texts = iter(passages)
    shapes = [replace(shape, passages=[next(texts) for _ in shape.examples]) for shape in of.shapes]
    return replace(of, shapes=shapes)


def _gist(verdict: Verdict | None) -> Gist | None:
    if verdict is None:
        return None
    names = {call["name"] for call in verdict["calls"]} | {verdict["tool"]}
    reason = reason_class(verdict["reason"], frozenset(name for name in names if name))
    return Gist(verdict["kind"], verdict["family"], verdict["channel"], reason)
