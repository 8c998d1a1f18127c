"""README: what it says of the two detectors that it compares is so."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import from_json

from tests.api.conftest import SAMPLE
from tests.test_docs import ROOT, shell

SECTION = (ROOT / "README.md").read_text("utf-8").partition("### Compare two")[2].partition("\n### ")[0]
REPLAY = "leakdown replay --baseline openrouter-net@1 --candidate openrouter-net-tight@1 --json -"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report that the section speaks of."""
    folder = tmp_path_factory.mktemp("readme")
    shell(f"leakdown ingest {SAMPLE}/runs.jsonl", folder)
    found: dict[str, Any] = from_json(shell(REPLAY, folder))
    return found


def ids(report: dict[str, Any], truth: bool) -> list[str]:
    """The disagreements on outputs that are labelled so."""
    return [each["generation_id"] for each in report["disagreements"] if each["truth"] is truth]


def test_the_figures_in_its_words_are_those_of_the_report(report: dict[str, Any]) -> None:
    judged = report["labelled"]
    assert f"removes {judged['lost_fp']} false alarms" in SECTION
    assert f"loses {judged['lost_tp']} leaks" in SECTION
    for figure in ("precision", "recall"):
        told = re.search(rf"(?i){figure} (?:rises|falls) from (\d+) to (\d+) %", SECTION)
        assert told, figure
        assert [int(each) for each in told.groups()] == [
            round(100 * judged[side][figure]) for side in ("baseline", "candidate")
        ]


def test_all_lost_leaks_were_cut_and_no_removed_false_alarm_was(report: dict[str, Any]) -> None:
    """What the third version that it names goes by."""
    records = [from_json(line) for line in Path(SAMPLE, "runs.jsonl").read_bytes().splitlines()]
    finish = {each["generation_id"]: each.get("finish_reason") for each in records if each["type"] == "generation"}
    assert [finish[each] for each in ids(report, truth=True)] == ["length"] * 4
    assert [finish[each] for each in ids(report, truth=False)] == ["stop"] * 13
