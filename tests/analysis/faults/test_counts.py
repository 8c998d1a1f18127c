"""Faults over a real store: counted by series, of eligible generations, with n and interval."""

from pathlib import Path
from typing import Any

import pytest

from analysis.browse import run
from analysis.detectors import detector
from analysis.faults import FAULTS
from analysis.faults.counts import fault_rows
from analysis.filters import Filters
from analysis.rates import rates
from analysis.statistics.intervals import clustered_rate
from ingest.errors import UsageError
from tests.analysis.faults.test_rules import CLOSERS, CODER, CODER_BROKEN, CUT, HERMES
from tests.analysis.stories import Json, said, store_of

LEAKDOWN = detector("leakdown@1")
LOOK = {"type": "object", "properties": {"at": {"type": "string"}}}
TOOLS = [{"name": "look", "parameters": LOOK}]
VLLM = {"engine": "vllm", "tool_parser": "qwen3_coder", "model": "m", "template": "t"}


def told(text: str | None, *place: int, **fields: Any) -> Json:
    return said(text, *place, **{"tools": TOOLS, **VLLM, **fields})


def counted(folder: Path, records: list[Json], by: tuple[str, ...] = ("engine",), **filters: Any) -> list[Json]:
    with store_of(folder, records, LEAKDOWN) as store:
        found = fault_rows(store, LEAKDOWN, by, Filters.parse(**filters) if filters else None)
        return [row.as_json() for row in found]


def test_a_store_is_split_by_fault_with_what_to_set(tmp_path: Path) -> None:
    records = [
        told(CODER, run="a"),
        told(CODER, run="b", tool_parser="hermes"),
        told(CODER_BROKEN, run="c", text_fidelity="exact"),
        told(CLOSERS, run="d"),
        told(CLOSERS, run="e", raw_text=CODER),
        told(CUT, run="f", finish_reason="length"),
        told("Done.", run="g"),
    ]
    [row] = counted(tmp_path, records)
    assert {name: row["faults"][name]["n"] for name in FAULTS} == {
        "model": 2, "parser": 2, "template_and_parser": 1, "unknown": 1,
    }  # fmt: skip
    assert (row["leaks"], row["runs"], row["not_eligible"], row["tools_known"]) == (6, 6, 0, True)
    settings = [(each["setting"], each["configured"], each["n"]) for each in row["settings"]]
    assert settings == [
        ("--enable-auto-tool-choice --tool-call-parser qwen3_coder", True, 2),
        ("--enable-auto-tool-choice --tool-call-parser qwen3_coder", False, 1),
    ]
    assert {"fault": "unknown", "evidence": ["frame_broken", "text_not_exact"], "n": 1} in row["evidence"]


def test_the_shares_add_up_and_their_intervals_are_by_run(tmp_path: Path) -> None:
    runs = [(3, 0), (0, 3), (2, 1), (3, 0), (0, 3), (1, 2), (3, 0), (0, 3), (3, 0), (2, 1), (0, 3), (3, 0)]
    records = [
        told(text, run=f"r{at}")
        for at, (parser, model) in enumerate(runs)
        for text in [f"{CODER}\n"] * parser + [CODER.replace("look", "rm")] * model
    ]
    [row] = counted(tmp_path, records)
    expected = clustered_rate((parser, parser + model) for parser, model in runs)
    share = row["faults"]["parser"]
    assert (share["n"], share["rate"]) == (expected.hits, expected.value)
    assert (share["low"], share["high"]) == pytest.approx((expected.low, expected.high))
    assert sum(row["faults"][name]["n"] for name in FAULTS) == row["leaks"] == 36
    assert sum(each["n"] for each in row["evidence"]) == 36


def test_they_count_the_leaks_that_the_rates_count_printed_calls_among_them(tmp_path: Path) -> None:
    records = [
        told(CODER, 0, 0),
        told(CODER, 0, 1),
        told('{"name": "look", "arguments": {"at": "sky"}}', run="b"),
        told(HERMES, run="c", role="judge"),
        told(HERMES, run="d", tools=...),
        told("Done.", run="e"),
    ]
    with store_of(tmp_path, records, LEAKDOWN) as store:
        found = {row.tools_known: row for row in fault_rows(store, LEAKDOWN)}
        rated = {row.tools_known: row for row in rates(store, LEAKDOWN)}
    assert {known: row.leaks for known, row in found.items()} == {
        known: row.leak.hits + row.printed.hits for known, row in rated.items()
    }
    assert (found[True].leaks, found[True].apart, found[False].leaks) == (2, 2, 1)


def test_the_keys_are_those_that_were_asked_for_most_leaks_first(tmp_path: Path) -> None:
    records = [told(CODER, run="a"), *(told(CODER, run=f"b{at}", engine="sglang", model=None) for at in range(2))]
    found = counted(tmp_path, records, ("engine", "model"))
    assert [(row["engine"], row["model"], row["leaks"]) for row in found] == [("sglang", None, 2), ("vllm", "m", 1)]


def test_without_an_eligible_leak_the_shares_are_null(tmp_path: Path) -> None:
    [row] = counted(tmp_path, [told(CODER, 0, 1)])
    assert (row["leaks"], row["runs"], row["not_eligible"]) == (0, 0, 1)
    assert row["faults"]["model"] == {"n": 0, "rate": None, "low": None, "high": None}


@pytest.mark.parametrize(
    ("filters", "leaks"),
    [
        pytest.param({"where": ["run_id=a"]}, [1], id="a glob"),
        pytest.param({"where": ["engine=ollama"]}, [], id="nothing matches"),
        pytest.param({"where": [], "since": "2026-11-02"}, [1], id="since"),
    ],
)
def test_filters_choose_the_leaks(filters: Any, leaks: list[int], tmp_path: Path) -> None:
    records = [told(CODER, run="a"), told(CODER, run="b", started_at="2026-11-02T00:00:00Z")]
    assert [row["leaks"] for row in counted(tmp_path, records, **filters)] == leaks


def test_what_the_run_tells_counts_for_its_generations(tmp_path: Path) -> None:
    records = [
        told(CODER, engine=..., tool_parser=...),
        {"type": "run", "run_id": "r", "engine": "vllm", "tool_parser": "hermes"},
    ]
    [row] = counted(tmp_path, records)
    assert (row["engine"], row["faults"]["template_and_parser"]["n"]) == ("vllm", 1)


def test_a_choice_wrapped_in_an_object_is_read(tmp_path: Path) -> None:
    [row] = counted(tmp_path, [told(CODER, tool_choice={"type": "none"})])
    assert row["evidence"] == [{"fault": "model", "evidence": ["tool_choice_none"], "n": 1}]


@pytest.mark.parametrize("by", [pytest.param((), id="nothing"), pytest.param(("modle",), id="no series key")])
def test_keys_that_are_refused(by: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name one or more of"):
        counted(tmp_path, [told(CODER)], by)


def test_each_leak_of_a_run_has_its_fault_and_nothing_else_has(tmp_path: Path) -> None:
    records = [told(CODER, 0, 0, tool_parser="hermes"), told("Done.", 0, 1), told(CUT, 1, 0, finish_reason="length")]
    with store_of(tmp_path, records, LEAKDOWN) as store:
        found = run(store, LEAKDOWN, "r")["generations"]
    assert [each["fault"] and each["fault"]["fault"] for each in found] == ["template_and_parser", None, "model"]
    assert found[0]["fault"]["setting"]["engine"] == "vLLM"


def test_a_store_of_many_leaks_is_read_in_parts(tmp_path: Path) -> None:
    """More leaks than are read at a time, of runs whose generations do not stand together."""
    records = [told(f"{at}\n{CODER}", run=f"r{at % 50}") for at in range(5_000)]
    [row] = counted(tmp_path, records)
    assert (row["leaks"], row["runs"], row["faults"]["parser"]["n"]) == (5_000, 50, 5_000)
