"""What detectors look for, as terms, and which texts hold them: found over columns by Polars, never text by text.

A trigger stands in content and reasoning as it is. Structured calls are stored as JSON, their arguments as strings in
it: there it stands as JSON escapes it. Only where a source gave arguments as an object does it stand in them as it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import polars as pl
from pydantic_core import to_json

from analysis.detectors import BLANKS, SHORT, Detector

FEW = 16
"""Up to so many literals Polars' own search is the fastest (rare first bytes are skipped to); of more, one regular
expression, whose automaton is three times as fast as that search's."""
MANY = 2_000
"""Literals above which that automaton would grow too large."""
CHUNK = 2 * 2**20
"""Bytes of text whose matches are held at a time, each of which costs sixteen."""
UTF8_LONGEST = 4
"""Bytes of a code point."""


Place = Literal["anywhere", "ending", "object"]

_OBJECTS = ('"arguments":{', '"arguments":[')
"""What stands in the JSON of structured calls where arguments are no string. (In a string the quotes are escaped.)"""
_STRING = r'"(?:[^"\\]|\\.)*"'
_FIRST_CALL = rf'^\[\{{(?:"id":(?:null|{_STRING}),)?"name":({_STRING}),"arguments":'
"""The frame of the first call, which is most often the only one: its own quoted keys are nobody's trigger."""


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """A literal to look for: anywhere in a text, at the end of a short one, or in the JSON of structured calls of which
    one has an object as its arguments."""

    literal: str
    place: Place = "anywhere"


@dataclass(frozen=True)
class Wanted:
    """What makes an output worth a look to a detector. `triggers` and `endings` are its own, `call_triggers` those of
    structured calls alone; `by_name`: outputs that name an offered tool as well."""

    triggers: frozenset[str]
    endings: frozenset[str] = frozenset()
    by_name: bool = False
    call_triggers: frozenset[str] = frozenset()

    @classmethod
    def by(cls, detector: Detector) -> Self:
        """What `detector` looks for."""
        return cls(
            frozenset(detector.triggers),
            frozenset(detector.endings),
            detector.by_name,
            frozenset(detector.call_triggers),
        )

    @property
    def everything(self) -> bool:
        """An empty trigger stands in every text."""
        return "" in self.triggers

    @cached_property
    def words(self) -> frozenset[Term]:
        """The terms of content and reasoning."""
        return frozenset({*map(Term, self.triggers), *(Term(each, "ending") for each in self.endings)})

    @cached_property
    def calls(self) -> frozenset[Term]:
        """The terms of structured calls."""
        escaped = {each: to_json(each).decode()[1:-1] for each in self.triggers | self.call_triggers}
        bare = {Term(each, "object") for each, in_string in escaped.items() if in_string != each}
        return frozenset({*map(Term, escaped.values()), *bare})

    @cached_property
    def terms(self) -> frozenset[Term]:
        """All terms whose texts must be known."""
        if self.everything:
            return frozenset()
        return self.words | self.calls


def search(texts: pl.Series, terms: Sequence[Term]) -> pl.DataFrame:
    """Which of `texts` hold which of `terms`: pairs of positions (`at`, `term`), each once."""
    if len(texts) == 1:  # Polars takes a column of one value for a constant, and copies it four times
        texts = pl.concat([texts, pl.Series([""])], rechunk=False)
    places: dict[Place, dict[str, int]] = {"anywhere": {}, "ending": {}, "object": {}}
    for at, term in enumerate(terms):
        places[term.place][term.literal] = at
    found = [
        *_literals(texts, places["anywhere"]),
        *_endings(texts, places["ending"]),
        *_in_objects(texts, places["object"]),
    ]
    return pl.concat([_pairs(pl.Series(dtype=pl.UInt32), 0), *found])


def holding(texts: pl.Series, literals: Sequence[str]) -> pl.Series:
    """The positions of the texts that hold one of `literals`, none of which is empty."""
    if FEW < len(literals) <= MANY:
        return texts.str.contains("|".join(map(pl.escape_regex, literals))).arg_true()
    return texts.str.contains_any(list(literals)).arg_true()


def _pairs(at: pl.Series, term: int) -> pl.DataFrame:
    return pl.DataFrame({"at": at.cast(pl.Int64)}).with_columns(term=pl.lit(term, pl.Int32))


def _literals(texts: pl.Series, literals: dict[str, int]) -> Iterator[pl.DataFrame]:
    if not literals:
        return
    at = holding(texts, list(literals))
    held = pl.DataFrame({"at": at.cast(pl.Int64), "text": texts.gather(at)})
    size = pl.col("text").str.len_bytes()
    for part in held.filter(size <= CHUNK).with_columns(part=size.cum_sum() // CHUNK).partition_by("part"):
        matches = part["text"].str.extract_many(list(literals), overlapping=True)
        found = pl.DataFrame({"at": part["at"], "literal": matches}).explode("literal").unique()
        yield found.select("at", term=pl.col("literal").replace_strict(literals, return_dtype=pl.Int32))
    long = held.filter(size > CHUNK)
    for literal, number in literals.items() if len(long) else ():
        yield _pairs(long.filter(pl.col("text").str.contains(literal, literal=True))["at"], number)


def _in_objects(texts: pl.Series, literals: dict[str, int]) -> Iterator[pl.DataFrame]:
    """A superset: the frames of further calls stay."""
    if not literals:
        return
    at = holding(texts, _OBJECTS).cast(pl.Int64)
    calls = texts.gather(at).str.replace(_FIRST_CALL, "[{$1,")
    for found in _literals(calls, literals):
        yield found.with_columns(at=at.gather(found["at"]))


def _endings(texts: pl.Series, endings: dict[str, int]) -> Iterator[pl.DataFrame]:
    """Most texts are told by their length alone, which costs no look at them."""
    if not endings:
        return
    short = (texts.str.len_bytes() <= SHORT * UTF8_LONGEST).arg_true()
    texts = texts.gather(short)
    stripped = texts.str.strip_chars_end(BLANKS)
    for ending, number in endings.items():
        ends = stripped.str.ends_with(ending) & (texts.str.len_chars() <= SHORT)
        yield _pairs(short.filter(ends), number)
