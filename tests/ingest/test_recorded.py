"""The facts of every sample log: right format, right generations, the leaked text in its channel, once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest

from ingest.formats import Quarantined
from ingest.records import Generation
from tests.ingest.recorded import Sample, samples
from tests.ingest.samples import read_files

EVERY = pytest.mark.parametrize("sample", [pytest.param(each, id="+".join(each.paths)) for each in samples()])


def each(facts: Sequence[Any], count: int) -> list[Any]:
    """A fact by generation; a single one stands for all."""
    return list(facts) * count if len(facts) == 1 else list(facts)


@EVERY
def test_a_sample_holds_what_it_is_known_to_hold(sample: Sample) -> None:
    name, found, items = read_files(sample.paths)
    assert name == sample.format
    assert len(found) == sample.generations
    assert len({one.run_id for one in found}) == sample.runs
    assert len([item for item in items if isinstance(item, Quarantined)]) == sample.quarantined
    n = len(found)
    assert [(one.finish_reason, one.finish_fidelity) for one in found] == each(sample.finishes, n)
    assert [one.model for one in found] == each(sample.models, n)
    assert [(one.engine, one.engine_version) for one in found] == each(sample.engines, n)
    assert [one.provider for one in found] == each(sample.providers, n)
    assert [one.call_mode for one in found] == each(sample.call_modes, n)
    assert [_names(one) for one in found] == each(sample.tools, n)
    times = sorted(one.started_at for one in found if one.started_at)
    wanted = [datetime.fromisoformat(time) for time in (sample.first, sample.last) if time]
    assert times[:1] + times[-1:] == wanted


@EVERY
def test_a_leak_stands_exactly_and_once(sample: Sample) -> None:
    _, found, _ = read_files(sample.paths)
    for leak in sample.leaks:
        assert getattr(found[leak.index], leak.channel) == leak.text
    marked = [(n, leak.channel) for n, one in enumerate(found) for leak in sample.leaks[:1] if _holds(one, leak.text)]
    assert len(marked) == len({leak.index for leak in sample.leaks})


def _names(one: Generation) -> tuple[str, ...] | None:
    return tuple(tool.name for tool in one.tools or ()) if "tools" in one.model_fields_set else None


def _holds(one: Generation, text: str) -> bool:
    return any(text in (channel or "") for channel in (one.content, one.reasoning))
