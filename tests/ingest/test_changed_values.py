"""Records of every format with one value changed for any other: each line is answered, none with an exception."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.files.jsonlines import decode
from ingest.formats import Format, Item, Line, Quarantined, Skipped, formats
from tests.ingest.recorded import Sample, samples
from tests.ingest.samples import decoded, json_values, raw_lines, sample_lines, shared_log

FORMATS = pytest.mark.parametrize("chosen", [pytest.param(each, id=each.name) for each in formats()])
SAMPLES = pytest.mark.parametrize("sample", [pytest.param(each, id="+".join(each.paths)) for each in samples()])


def changed(value: Any, data: st.DataObject) -> Any:
    """`value` with a part of it, or all of it, exchanged."""
    inner = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not inner or not data.draw(st.integers(0, 6)):
        return data.draw(json_values)
    place = data.draw(st.sampled_from(inner))
    copy = value.copy()
    copy[place] = changed(value[place], data)
    return copy


def answered(chosen: Format, values: list[Any]) -> None:
    lines = decoded(*values)
    assert 0 <= chosen.sniff(values) <= 1
    items: list[Item] = list(chosen.read(lines))
    assert {item.line for item in items} == {line.number for line in lines}
    reasons = [item.why for item in items if isinstance(item, Quarantined | Skipped)]
    assert all(why and "\n" not in why for why in reasons)


@FORMATS
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_an_example(chosen: Format, data: st.DataObject) -> None:
    values = [line.value for line in decode(raw_lines(*chosen.example.splitlines())) if isinstance(line, Line)]
    place = data.draw(st.integers(0, len(values) - 1))
    answered(chosen, [*values[:place], changed(values[place], data), *values[place + 1 :]])


@SAMPLES
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_a_sample(sample: Sample, data: st.DataObject) -> None:
    values = [line.value for line in sample_lines(shared_log(sample.paths[0]))]
    (chosen,) = (each for each in formats() if each.name == sample.format)
    place = data.draw(st.integers(0, len(values) - 1))
    answered(chosen, [*values[:place], changed(values[place], data), *values[place + 1 :]])
