"""Call grammars: one module a family or close kin. Each reads a text and says where calls stand, and what is wrong.

The strings and variants are those of the public parsers and reports that `docs/detectors.md` names.
"""

import sys
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from analysis.reading import Reading, Scan
from analysis.reading.edges import glued, trimmed, with_edges, without_prefix
from analysis.reading.held import Literals
from ingest.plugins import discover

FEW = 64
"""So many offered names are looked for before a grammar that lives by them is asked; of more, some name always is
taken to stand in the text."""

_EFFORT = 12
"""Steps that a reading takes, besides what its grammar looked at."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar. A text that holds none of `anchors` (and, if `by_name`, no offered name) has nothing for it.

    `examples` are valid calls, by family: each is read as that family, whole and without damage, given its names.
    """

    families: tuple[str, ...]
    anchors: tuple[str, ...]
    read: Callable[[Scan], Iterator[Reading]]
    by_name: bool = False
    examples: Mapping[str, str] = field(default_factory=dict)


def spellings(*tokens: str) -> tuple[str, ...]:
    """`tokens` and what folds into them: the look-alikes of a pipe or an underscore. Each token has one at most, so
    that all mixtures are covered."""
    alike = {"|": "｜‖", "_": "▁"}
    others = (token.replace(sign, other) for token in tokens for sign in alike for other in alike[sign])
    return tuple(dict.fromkeys((*tokens, *others)))


@cache
def grammars() -> tuple[Grammar, ...]:
    """All grammars, by module name."""
    return discover(sys.modules[__name__], Grammar)


def readings(text: str, names: frozenset[str] = frozenset()) -> list[Reading]:
    """What all grammars read in `text`, in order, without overlaps. `names` are the offered tools."""
    asked = worth_asking(text, names)
    return read_with(asked, text, names) if asked else []


@cache
def _anchors() -> tuple[Literals, Mapping[str, set[int]]]:
    """All anchors, and the places in `grammars()` of those that have each."""
    places: dict[str, set[int]] = {}
    for at, grammar in enumerate(grammars()):
        for anchor in grammar.anchors:
            places.setdefault(anchor, set()).add(at)
    return Literals(places), places


def worth_asking(text: str, names: frozenset[str]) -> list[Grammar]:
    """The grammars that may find something in `text`."""
    literals, places = _anchors()
    anchored: set[int] = set().union(*(places[anchor] for anchor in literals.held(text)))
    named = bool(names) and (len(names) > FEW or any(name in text for name in names))
    return [each for at, each in enumerate(grammars()) if at in anchored or (named and each.by_name)]


def read_with(asked: Iterable[Grammar], text: str, names: frozenset[str]) -> list[Reading]:
    """What the grammars `asked` read in `text`, in order, without overlaps."""
    scan = Scan(text, names)
    found: list[Reading] = []
    for grammar in asked:
        before = scan.left
        for each in grammar.read(scan):
            if not scan.charge(0, _EFFORT):
                break
            scan.earn(before, each.end - each.start)
            before = scan.left
            whole = trimmed(scan, with_edges(scan, glued(scan, without_prefix(scan, each))))
            found += [whole] if whole else []
    return _apart(found, names)


def _apart(found: list[Reading], names: frozenset[str]) -> list[Reading]:
    """Of readings that overlap, calls win over none, marked ones over shapes (unless the shape is a whole call of an
    offered tool, which may hold markup), then the one that begins first, then the longer one."""

    def rank(reading: Reading) -> tuple[int, int, int]:
        whole = bool(reading.calls) and "cut" not in reading.damage
        offered = whole and any(call.name in names for call in reading.calls)
        return (
            (0 if reading.calls and (reading.marked or offered) else 1 if reading.marked else 2),
            reading.start,
            -reading.end,
        )

    starts: list[tuple[int, int]] = []
    kept: list[Reading] = []
    for reading in sorted(found, key=rank):
        at = bisect_left(starts, (reading.start, reading.end))
        before, after = starts[at - 1] if at else (-1, -1), starts[at] if at < len(starts) else (reading.end, 0)
        if before[1] <= reading.start and reading.end <= after[0]:
            insort(starts, (reading.start, reading.end))
            kept.append(reading)
    return sorted(kept, key=lambda each: each.start)
