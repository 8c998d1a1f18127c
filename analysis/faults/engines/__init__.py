"""Engines: one module each. Which of its parsers reads which family of call syntax, and how a user sets it.

The rows are those of a survey of public parsers and their registries; each names where it was read. A family that has
no row for an engine has no parser there, as far as the survey went.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from typing import Any

from ingest.plugins import discover

NAMES = 1_024
"""Names out of logs of which it is kept what they stand for."""
_NOT_SPELLED = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Reader:
    """The parsers of an engine that read `family`, the usual one first; none where nothing is to be chosen.

    `source`: where that was read. `note`: what is special about it.
    """

    family: str
    parsers: tuple[str, ...]
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine. `setting` has a place for the parser's name; `otherwise` is for a family without a parser to name.

    `spellings`: its names in logs, in small letters and digits alone. `source`: where the setting is described.
    """

    name: str
    title: str
    spellings: tuple[str, ...]
    setting: str
    source: str
    readers: tuple[Reader, ...]
    otherwise: str = ""

    def reader(self, family: str) -> Reader | None:
        """Its row for `family`."""
        return next((each for each in self.readers if each.family == family), None)

    def as_json(self) -> dict[str, Any]:
        """The keys of the answer that lists engines."""
        told = {"title": self.title, "setting": self.setting, "otherwise": self.otherwise, "source": self.source}
        rows = [{**asdict(each), "parsers": list(each.parsers)} for each in self.readers]
        return {"engine": self.name, **told, "families": rows}


@dataclass(frozen=True, slots=True)
class Setting:
    """What to set on an engine for a family. `parsers`: all that would do. `configured`: the record says it is set."""

    engine: str
    family: str
    parsers: tuple[str, ...]
    setting: str
    source: str
    described: str
    note: str
    configured: bool


@cache
def engines() -> tuple[Engine, ...]:
    """All engines, by module name."""
    return discover(sys.modules[__name__], Engine)


def spelled(name: str) -> str:
    """`name` in small letters and digits alone: logs write `llama.cpp`, `llama_cpp` and `llama-cpp`."""
    return _NOT_SPELLED.sub("", name.lower())


@lru_cache(maxsize=NAMES)
def engine_named(name: str | None) -> Engine | None:
    """The engine that a log calls `name`; None for one that is not known."""
    wanted = spelled(name or "")
    return next((each for each in engines() if wanted in each.spellings), None)


@lru_cache(maxsize=NAMES)
def families_read(parser: str | None, engine: str | None = None) -> frozenset[str]:
    """The families that the parser of that name reads, on the engine that a log calls so; on any, if that has none of
    the name. None for a name that is not known."""
    own = engine_named(engine)
    wanted = spelled(parser or "")
    return (_families(own.readers, wanted) if own else frozenset()) or _families(_all_readers(), wanted)


@lru_cache(maxsize=NAMES)
def families_named(name: str | None, engine: str | None = None) -> frozenset[str]:
    """The families that a template teaches which is called after a parser or a family; none for another name."""
    wanted = spelled(name or "")
    return families_read(name, engine) | {row.family for row in _all_readers() if spelled(row.family) == wanted}


def _all_readers() -> Iterator[Reader]:
    for each in engines():
        yield from each.readers


def _families(readers: Iterable[Reader], wanted: str) -> frozenset[str]:
    return frozenset(row.family for row in readers if any(spelled(name) == wanted for name in row.parsers))


def setting_for(engine: str | None, family: str, configured: str | None = None) -> Setting | None:
    """What to set on `engine` so that calls of `family` are read; None if the engine or its row is not known."""
    own = engine_named(engine)
    row = own.reader(family) if own else None
    if own is None or row is None:
        return None
    first, *others = row.parsers or ("",)
    return Setting(
        engine=own.title,
        family=family,
        parsers=row.parsers,
        setting=own.setting.format(parser=first) if first else own.otherwise,
        source=row.source,
        described=own.source,
        note="; ".join(filter(None, (f"or {', '.join(others)}" if others else "", row.note))),
        configured=family in families_read(configured, engine),
    )
