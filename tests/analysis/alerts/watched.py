"""Histories of thirty-odd days, and what rules say of them."""

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from analysis.alerts.files import DEFAULT, AnyRule, parse
from analysis.alerts.watching import Alerts, watch
from analysis.filters import Filters
from tests.analysis.drift.histories import LEAK, TODAY, history
from tests.analysis.stories import WORDS, Json, finds, store_of

BY = finds("words", WORDS)


def rule(**fields: Any) -> AnyRule:
    """A rule, as a file has it; its name is that of its kind."""
    told = "".join(f"{key} = {value!r}\n" for key, value in {"name": fields["kind"], **fields}.items())
    [made] = parse(f"[[rule]]\n{told}", "rules.toml")
    return made


def found(
    folder: Path, records: Iterable[Json], *rules: AnyRule, today: date = TODAY, where: Sequence[str] = ()
) -> Any:
    """What `rules` say of a store with `records` on a day, as JSON; the built-in rules without any."""
    with store_of(folder, records, BY) as store:
        return alerts(store, *rules, today=today, where=where).as_json()


def alerts(store: Any, *rules: AnyRule, today: date = TODAY, where: Sequence[str] = ()) -> Alerts:
    """The same of an open store, as it is."""
    return watch(store, BY, today, rules or DEFAULT, Filters.parse(where))


def steady(leaks: int, word: str = LEAK, **fields: Any) -> list[Json]:
    """Twenty-eight days of ten runs, of which so many leak with `word`."""
    return _worded(history(range(28), leaks, runs=10, **fields), word)


def then(leaks: int, word: str = LEAK, days: int = 12, **fields: Any) -> list[Json]:
    """Twelve days of ten runs after these."""
    return _worded(history(range(28, 28 + days), leaks, runs=10, **fields), word)


def _worded(records: Iterable[Json], word: str) -> list[Json]:
    return [{**each, "content": word if each["content"] == LEAK else each["content"]} for each in records]
