"""docs/write-records.md: its Python writes what its JSON says, and leakdown understands all of it."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import from_json

from analysis.judging import judge_for
from analysis.rates import rates
from analysis.registry import current
from analysis.reported import reported
from ingest.files.containers import Source
from ingest.pipeline import UploadResult, ingest
from ingest.records import Generation, Native, validate
from ingest.store import Store
from tests.test_docs import ROOT, blocks

DOCUMENT = ROOT / "docs" / "write-records.md"
[PYTHON] = blocks(DOCUMENT, "python")
[GENERATIONS, *REST] = blocks(DOCUMENT, "json")


def written(folder: Path) -> Path:
    """The file that the Python of the document writes."""
    subprocess.run([sys.executable, "-W", "error", "-c", PYTHON], cwd=folder, check=True)
    return folder / "agent.jsonl"


def taken(store: Store, path: Path) -> UploadResult:
    return ingest(store, Source(path, path.name), judge_for(current(store)))


def test_the_python_writes_the_json(tmp_path: Path) -> None:
    lines = written(tmp_path).read_text("utf-8").splitlines()
    assert [from_json(line) for line in lines] == [from_json(line) for line in GENERATIONS.splitlines()]


def test_what_it_writes_is_one_leak_that_was_retried_and_recovered(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        result = taken(store, written(tmp_path))
        assert (result.generations, result.quarantined) == (2, 0)
        [row] = rates(store, current(store), ["model", "engine", "engine_version", "client"])
        found = row.as_json()
        assert found["tools_known"] is True
        assert [found[key] for key in ("eligible", "leaks", "retried", "recovered")] == [1, 1, 1, 1]


@pytest.mark.parametrize("again", [pytest.param(False, id="as written"), pytest.param(True, id="and the file again")])
def test_the_other_records_belong_to_the_same_run(tmp_path: Path, again: bool) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text("utf-8") + "".join(REST), "utf-8")
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        result = taken(store, path)
        assert result.quarantined_why == {}
        if again:
            assert taken(store, path).mapped == 0
        [row] = rates(store, current(store), ["template", "tool_parser"])
        assert row.series == {"template": "qwen3-coder", "tool_parser": "qwen3_coder"}
        joined = reported(store, current(store)).as_json()
        assert (joined["both"], joined["reported_only"], joined["found_only"], joined["unjoined"]) == (1, 0, 0, 0)


def test_every_field_of_the_table_is_one() -> None:
    rows = [line.split(" | ")[0] for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in row.strip("| ").replace("`", "").split(", ") if name != "…"]
    assert {name for name in named if name not in Generation.model_fields} == set()


def test_the_records_are_of_all_types_but_labels() -> None:
    records: list[Native] = [validate(from_json(line)) for block in (GENERATIONS, *REST) for line in block.splitlines()]
    kinds: Counter[Any] = Counter(type(each).__name__ for each in records)
    assert kinds == {"Generation": 2, "Run": 1, "LeakedToolCall": 2}
