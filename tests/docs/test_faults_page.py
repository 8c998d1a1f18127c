"""docs/faults.md: every rule's evidence, and every row of engines and parsers, stands there as it is."""

import pytest

from analysis.faults import FAULTS
from analysis.faults.engines import Engine, engines
from analysis.faults.evidence import EVIDENCE
from tests.test_docs import ROOT

PAGE = (ROOT / "docs" / "faults.md").read_text("utf-8")


@pytest.mark.parametrize("word", [*FAULTS, *EVIDENCE])
def test_every_fault_and_every_evidence_is_explained(word: str) -> None:
    assert f"`{word}`" in PAGE


@pytest.mark.parametrize("engine", [pytest.param(each, id=each.name) for each in engines()])
def test_every_parser_of_an_engine_stands_in_its_table(engine: Engine) -> None:
    _, _, part = PAGE.partition(f"### {engine.title}\n")
    table = [line for line in part.partition("\n### ")[0].splitlines() if line.startswith("| ")][1:]
    assert len(table) == len(engine.readers)
    assert engine.source in part
    for line, row in zip(table, engine.readers, strict=True):
        family, parsers, source = line.strip("| ").split(" | ")
        assert (family, source) == (row.family, row.source)
        assert [*row.parsers] == parsers.split(";")[0].replace("`", "").replace("–", "").replace(",", "").split()
