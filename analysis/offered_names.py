"""Which outputs name a tool that they were offered: what a detector that goes by names has to look at.

A structured call names its tool by nature. So of calls only a name counts that was not offered but holds one that was:
something else has run into it.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import lru_cache

from pydantic_core import from_json

from analysis.triggers import Term, search
from ingest.batch import Batch, Judgeable

_CALLED = re.compile(r'"name":"((?:[^"\\]|\\.)*+)"')
"""In JSON strings quotes are escaped: this is a member called "name", of a call or of its arguments."""


def naming(batch: Batch) -> set[bytes]:
    """The verdict keys of the outputs of `batch` that hold an offered name in content or reasoning, or in the name of
    a call that was not offered."""
    lists = {key: _names(tools) for key, tools in batch.tool_lists.items()}
    held = _held(batch, frozenset().union(*lists.values(), *(each.inferred_names for each in batch.generations)))
    return {each.verdict_key for each in batch.generations if _names_one(each, batch, lists, held)}


def _names_one(each: Judgeable, batch: Batch, lists: dict[bytes, frozenset[str]], held: dict[bytes, set[str]]) -> bool:
    entry = each.entry
    words = [held[key] for key in (entry.content, entry.reasoning) if key in held]
    if not words and not entry.tool_calls:
        return False
    offered = lists.get(entry.tools or b"", frozenset()) if entry.tools_known else frozenset(each.inferred_names)
    if any(not offered.isdisjoint(names) for names in words):
        return True
    called = _called(batch.texts[entry.tool_calls]) if entry.tool_calls else ()
    return any(name not in offered and any(each in name for each in offered) for name in called)


def _held(batch: Batch, names: Collection[str]) -> dict[bytes, set[str]]:
    """The names that the words of a batch hold, by text."""
    terms = sorted(names - {""}) if isinstance(names, frozenset) else sorted({*names} - {""})
    said = {key for each in batch.generations for key in (each.entry.content, each.entry.reasoning) if key}
    if not terms or not said:
        return {}
    words, places = zip(*((key, at) for at, key in enumerate(batch.texts) if key in said), strict=True)
    column = batch.column()
    found = search(column if len(words) == len(column) else column.gather([*places]), [*map(Term, terms)])
    held: dict[bytes, set[str]] = defaultdict(set)
    for at, term in found.rows():
        held[words[at]].add(terms[term])
    return dict(held)


@lru_cache(maxsize=256)
def _names(tools: str) -> frozenset[str]:
    return frozenset(tool["name"] for tool in from_json(tools)) - {""}


def _called(calls: str) -> Iterator[str]:
    """The names in the JSON of structured calls, and members of arguments that are called so."""
    return map(_unescaped, _CALLED.findall(calls))


@lru_cache(maxsize=4096)
def _unescaped(name: str) -> str:
    return str(from_json(f'"{name}"'))
