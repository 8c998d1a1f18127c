"""Sample logs cut, with lines taken out, with bytes flipped: never a crash, and the lines balance."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.batch import Batch
from ingest.batches import read
from ingest.errors import InputError
from ingest.files.containers import Source
from ingest.formats import formats
from tests.ingest.samples import SHARED_LOGS

LARGEST = 300_000
"""Bytes of a sample that is damaged many times over."""


def small() -> Iterator[Path]:
    """The samples beside the repository that are not large."""
    for path in sorted(SHARED_LOGS.rglob("*")):
        if path.is_file() and not path.name.startswith("LICENSE") and path.stat().st_size < LARGEST:
            yield path


def example_files() -> list[tuple[str, bytes]]:
    """The examples of all formats, and the samples where they are at hand."""
    own = [(each.name, each.example.encode()) for each in formats()]
    return own + [(str(path.relative_to(SHARED_LOGS)), path.read_bytes()) for path in small()]


EVERY = pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in example_files()])


def answered(path: Path, data: bytes) -> list[Batch] | None:
    """The batches of damaged data, whose lines balance; None where it was refused in one line."""
    path.write_bytes(data)
    try:
        found = list(read(Source(path, path.name)).batches)
    except InputError as refusal:
        assert "\n" not in str(refusal)  # noqa: PT017 - a refusal may come
        return None
    for batch in found:
        lines = {each.entry.line for each in batch.generations}
        lines |= {line for kind in (batch.events, batch.runs, batch.labels) for line, _ in kind}
        lines |= {item.line for item in batch.quarantined}
        assert len(lines) + batch.skipped.total() == batch.lines
    return found


@EVERY
def test_a_cut_at_every_tenth_is_answered(data: bytes, tmp_path: Path) -> None:
    for tenth in range(1, 10):
        answered(tmp_path / "it", data[: len(data) * tenth // 10])


@EVERY
def test_each_line_taken_out_is_answered(data: bytes, tmp_path: Path) -> None:
    lines = data.splitlines(keepends=True)
    step = max(1, len(lines) // 25)
    for at in range(0, len(lines), step):
        answered(tmp_path / "it", b"".join(lines[:at] + lines[at + 1 :]))


@EVERY
@given(flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=8))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_flipped_bytes_are_answered(data: bytes, flips: list[tuple[float, int]], tmp_path: Path) -> None:
    damaged = bytearray(data)
    for place, change in flips:
        damaged[int(place * len(data))] ^= change
    answered(tmp_path / "it", bytes(damaged))
