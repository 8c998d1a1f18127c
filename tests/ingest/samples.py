"""Lines to read in tests, and the sample logs that may stand beside the repository."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from ingest.files.containers import RawLine, Source
from ingest.files.jsonlines import decode
from ingest.files.opening import Opened
from ingest.files.segments import Feed, segmented
from ingest.formats import Format, Item, Line, Mapped, Quarantined, Skipped
from ingest.records import Generation

SHARED_LOGS = Path(__file__).parents[3] / "shared" / "logs"

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
json_values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def shared_log(name: str) -> Path:
    """A sample log of another project; the test is skipped where there is none."""
    path = SHARED_LOGS / name
    if not path.is_file():
        pytest.skip(f"no sample logs beside the repository ({name})")
    return path


def raw_lines(*texts: str | bytes) -> Iterator[RawLine]:
    """Texts as lines, from 1."""
    for number, text in enumerate(texts, 1):
        yield RawLine(number, text.encode() if isinstance(text, str) else text)


def decoded(*values: Any) -> list[Line]:
    """JSON values as decoded lines, from 1."""
    return [Line(number, value, json.dumps(value).encode()) for number, value in enumerate(values, 1)]


def read_text(chosen: Format, text: str) -> list[Item]:
    """What became of each line of `text`."""
    lines = [line for line in decode(raw_lines(*text.splitlines())) if isinstance(line, Line)]
    return list(chosen.read(lines))


def generations(items: list[Item]) -> list[Generation]:
    """All generations of `items`; a test that expects them fails on a quarantined line, with its reason."""
    assert [item for item in items if isinstance(item, Quarantined)] == []
    return mapped(items)


def mapped(items: list[Item]) -> list[Generation]:
    """All generations of `items`, whatever became of the other lines."""
    records = [record for item in items if isinstance(item, Mapped) for record in item.records]
    return [record for record in records if isinstance(record, Generation)]


def only(items: list[Item]) -> Generation:
    """The one generation of `items`."""
    (found,) = generations(items)
    return found


def reason(item: Item) -> str:
    """Why a line was skipped or quarantined."""
    assert isinstance(item, Skipped | Quarantined), item
    return item.why


def sample_lines(path: Path) -> list[Line]:
    """The decoded records of a sample."""
    with ExitStack() as stack:
        [member] = Opened(Source(path, path.name), stack).members
        return [record for record in Feed(member).rest() if isinstance(record, Line)]


def read_files(names: Sequence[str]) -> tuple[str, list[Generation], list[Item]]:
    """The format, the generations and the items of sample logs that are read together, as an upload reads them."""
    first, *more = [Source(path, path.name) for path in map(shared_log, names)]
    with ExitStack() as stack:
        opened = Opened(replace(first, name=first.name, more=tuple(more)), stack)
        segments, left_out = segmented(opened.members, first.name, None)
        items = [item for segment in segments for item in segment.items()]
    assert not left_out
    return ", ".join(dict.fromkeys(segment.format.name for segment in segments)), mapped(items), items
