"""leakdown@1 on public reports of leaks and of what only looks like one."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.detectors import detector, judge
from analysis.output import Call, OfferedTool, Output

REPORTS = Path(__file__).parents[3] / "shared" / "cases" / "public.jsonl"


@pytest.fixture(scope="module")
def said() -> list[tuple[bool, bool]]:
    """(is a leak, is taken for one) of each report."""
    if not REPORTS.is_file():
        pytest.skip(f"the public reports are not at {REPORTS}")
    reports = [json.loads(line) for line in REPORTS.read_text("utf-8").splitlines()]
    by = detector("leakdown@1")
    findings = [judge(by, _output(report)) for report in reports]
    leaks = [report["expected"]["leak"] for report in reports]
    return [(leak, bool(found and found.leak)) for leak, found in zip(leaks, findings, strict=True)]


def _output(report: dict[str, Any]) -> Output:
    tools = [tool if isinstance(tool, str) else tool["name"] for tool in report["tools_offered"]]
    return Output(
        content=report["content"],
        reasoning=report["reasoning"],
        calls=tuple(_call(call.get("function", call)) for call in report["structured_tool_calls"] or []),
        tools=tuple(map(OfferedTool, tools)) or None,
        finish_reason=report["finish_reason"],
    )


def _call(call: dict[str, Any]) -> Call:
    arguments = call.get("arguments")
    text = arguments if arguments is None or isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return Call(call.get("name") or "", text)


def test_of_the_reported_leaks_at_most_three_in_a_hundred_are_missed(said: list[tuple[bool, bool]]) -> None:
    found = [taken for leak, taken in said if leak]
    assert sum(found) >= 0.97 * len(found)


def test_no_clean_report_is_taken_for_a_leak(said: list[tuple[bool, bool]]) -> None:
    assert [taken for leak, taken in said if not leak and taken] == []
