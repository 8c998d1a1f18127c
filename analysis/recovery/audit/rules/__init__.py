"""Rules of the audit: one module each. A rule reads one row for each thing that it looks at, and judges it purely.

Most look at leaks: those of agents, at `likely` and above, but for those that people labelled as none. The temporary
tables they read are made in `analysis.recovery.audit.history`.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic_core import from_json

from analysis.filters import Filters
from analysis.recovery.policies import Configured
from ingest.errors import UsageError
from ingest.plugins import discover
from ingest.store import Cursor

Row = Mapping[str, Any]
"""`keys` (what a finding would stand on), `run_id`, `generation_id`, and what the rule needs to know."""
Unit = Literal["leaks", "events", "retries"]
SHOWN = 120
"""Characters of a text of a log in the evidence."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an audit is asked: by the verdicts of which detector, of which generations, under which policy.

    `policy` None: each run is held to the policy of its client, where that is known.
    """

    detector: str
    filters: Filters = field(default_factory=Filters)
    policy: Configured | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """The rule is broken; `evidence` says how, in one line."""

    evidence: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The log does not tell; `code` is one of the rule's `not_checkable`."""

    code: str


Verdict = Broken | Unknown | None
"""None: the rule was looked at, and holds."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: what must not be (`summary`), whose line it is, what it looks at and what the log must hold for it."""

    name: str
    summary: str
    source: str
    unit: Unit
    needs: str
    not_checkable: Mapping[str, str]
    """By code: when it cannot be told."""
    rows: Callable[[Cursor, Asked], Iterable[Row]]
    judge: Callable[[Row, Asked], Verdict]

    def as_json(self) -> dict[str, Any]:
        """What a reader needs to know of it."""
        names = ("summary", "source", "unit", "needs")
        return {"rule": self.name, **{name: getattr(self, name) for name in names}, "meanings": self.not_checkable}


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, by module name."""
    return discover(sys.modules[__name__], Rule)


def chosen(names: Sequence[str]) -> tuple[Rule, ...]:
    """The rules that are asked for, each once; all without a name. UsageError that lists what is known."""
    known = {each.name: each for each in rules()}
    for name in names:
        if name not in known:
            raise UsageError(f"unknown rule {name!r}; known: {', '.join(known)}")
    return tuple(each for each in rules() if not names or each.name in names)


def read(sql: str) -> Callable[[Cursor, Asked], Iterator[Row]]:
    """The rows that `sql` gives, of the temporary tables alone."""
    return lambda cursor, _: rows_of(cursor, sql, {})


def rows_of(cursor: Cursor, sql: str, parameters: Mapping[str, object]) -> Iterator[Row]:
    """The rows that `sql` gives, each by the names of its columns."""
    found = cursor.execute(sql, parameters)
    names = [column[0] for column in found.description or ()]
    while some := found.fetchmany(4_096):
        yield from (dict(zip(names, row, strict=True)) for row in some)


def told(row: Row, name: str) -> Any:
    """What the record of a leak says in a field of its own, None where it says nothing."""
    return from_json(row["extra"]).get(name) if row["extra"] else None


def excerpt(text: str) -> str:
    """The start of a text of a log on one line, as evidence has it."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


LEAK = "[l.key::VARCHAR] AS keys, l.run_id, l.generation_id"
"""The columns that every row of a leak has."""
