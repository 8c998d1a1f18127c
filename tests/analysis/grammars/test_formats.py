"""Every family of the catalogue of formats: its valid example is read exactly, its malformed ones for what they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.grammars import readings
from tests.analysis.grammars.reported_damage import READ

CATALOGUE = Path(__file__).parents[4] / "shared" / "reference" / "formats.json"
NAMES = frozenset(
    [
        "get_weather",
        "get_time",
        "read_file",
        "copy_file",
        "add_note",
        "decide",
        "write_file",
        "kv_get",
        "run_shell",
        "list_files",
        "bash",
        "run_code",
        "a",
        "b",
        "click",
        "type",
    ]
)
SHARED_SHAPE = {"xlam": "bare_json_offered_tool", "gemma3_prompted": "pythonic_list"}
"""Families whose valid example has no markup of its own."""
LEAD = {"ui_tars": "Thought: The search box is at the top.\n", "react_text": "Thought: I need the weather.\n"}
"""Words of the model in the valid example, which no reading may take in."""


@pytest.fixture(scope="module")
def catalogue() -> dict[str, Any]:
    if not CATALOGUE.exists():
        pytest.skip(f"the catalogue of formats is not at {CATALOGUE}")
    return {each["family"]: each for each in json.loads(CATALOGUE.read_text())}


@pytest.mark.parametrize("family", READ)
def test_the_valid_example_is_read_whole(catalogue: dict[str, Any], family: str) -> None:
    text = catalogue[family]["example_valid"]
    [reading] = readings(text, NAMES)
    assert reading.family == SHARED_SHAPE.get(family, family)
    assert text[reading.start : reading.end] == text.removeprefix(LEAD.get(family, ""))
    assert not reading.damage
    assert reading.calls
    assert all(call.arguments for call in reading.calls)
    assert all(value in text for call in reading.calls for value in map(str, (call.arguments or {}).values()))


@pytest.mark.parametrize(
    ("family", "index"),
    [
        pytest.param(family, index, id=f"{family}-{index}")
        for family, rows in READ.items()
        for index in range(len(rows))
    ],
)
def test_a_malformed_example_is_read_for_what_it_is(catalogue: dict[str, Any], family: str, index: int) -> None:
    found = readings(catalogue[family]["examples_malformed"][index], NAMES)
    expected = READ[family][index]
    assert bool(found) == (expected is not None)
    if expected is not None:
        names = [call.name + ("" if call.arguments is not None else "?") for each in found for call in each.calls]
        assert (found[0].family, " ".join(sorted(found[0].damage)), " ".join(names)) == expected


def test_each_example_has_an_expectation(catalogue: dict[str, Any]) -> None:
    assert {name: len(each["examples_malformed"]) for name, each in catalogue.items()} == {
        name: len(rows) for name, rows in READ.items()
    }
