"""Agents' logs in which anything stands anywhere: every line is answered, once, and nothing is raised."""

import copy
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.detection import by_name
from ingest.formats import Format, Line, Mapped, Quarantined, Skipped
from tests.ingest.samples import decoded, json_values

NAMES = (
    "cline", "cline-stream", "cline-tasks", "copilot", "crush", "cursor", "gemini-cli", "gemini-stream",
    "gemini-telemetry", "goose", "hf-sts", "messages", "openhands-events", "opencode", "opencode-run", "pi", "sharegpt",
)  # fmt: skip
DOCUMENTS = ("cline", "cline-tasks", "goose", "opencode")
EACH = pytest.mark.parametrize("chosen", [pytest.param(by_name(name), id=name) for name in NAMES])

ODD: list[Any] = ["", "assistant", "gemini", [], {}, None, 0, True, 10**30, -1, [{}], {"type": "x"}]
odd: st.SearchStrategy[Any] = json_values | st.sampled_from(ODD)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values within `value`."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, each in inner for found in places(each, (*path, key)))]


@st.composite
def broken(draw: st.DrawFn, text: str) -> list[Any]:
    """The lines of an example, some of them twice, with a few values replaced or gone."""
    lines: list[Any] = [json.loads(line) for line in text.splitlines()]
    lines = [copy.deepcopy(lines[n]) for n in draw(st.lists(st.integers(0, len(lines) - 1), min_size=1, max_size=8))]
    for _ in range(draw(st.integers(0, 4))):
        path = draw(st.sampled_from(places(lines)[1:]))
        owner: Any = lines
        for key in path[:-1]:
            owner = owner[key]
        if isinstance(owner, dict) and draw(st.booleans()):
            del owner[path[-1]]
        else:
            owner[path[-1]] = copy.deepcopy(draw(odd))
    return lines


@EACH
@given(data=st.data())
@settings(deadline=None, max_examples=100)
def test_a_broken_log_is_answered_line_by_line(chosen: Format, data: st.DataObject) -> None:
    lines: list[Line] = decoded(*data.draw(broken(chosen.example)))
    items = list(chosen.read(lines))
    answered = Counter(item.line for item in items)
    assert answered.keys() == {line.number for line in lines}
    assert chosen.name in DOCUMENTS or set(answered.values()) == {1}
    assert all(isinstance(item, Mapped | Skipped | Quarantined) for item in items)
    assert all(item.records for item in items if isinstance(item, Mapped))
    assert 0 <= chosen.sniff([line.value for line in lines]) <= 1
