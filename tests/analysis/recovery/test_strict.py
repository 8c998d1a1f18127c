"""Stored retries that a strict system would have refused, counted with their reasons."""

from pathlib import Path
from typing import Any

import pytest

from analysis.filters import Filters
from analysis.recovery.strict import strict_counts
from tests.analysis.stories import Json, called, leaked, said, store_of

TOOLS = [{"name": "ls", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]
RAW = '<tool_call>[{"name": "ls", "parameters": {"n": 1}}]</tool_call>'


def retry(arguments: str = '{"n": 1}', attempt: int = 1, **fields: Any) -> Json:
    return called(0, attempt, arguments=arguments, **{"tools": TOOLS, **fields})


def counted(folder: Path, records: list[Json], filters: Filters | None = None) -> dict[str, Any]:
    with store_of(folder, records) as store:
        return strict_counts(store, filters).as_json()


@pytest.mark.parametrize(
    ("records", "verdicts", "reasons", "why"),
    [
        pytest.param([retry(raw_text=RAW)], (1, 0, 0), {}, {}, id="accepted"),
        pytest.param([retry()], (0, 0, 1), {}, {"envelope_not_stored": 1}, id="the envelope is not stored"),
        pytest.param([retry('{"n": "x"}')], (0, 1, 0), {"wrong_type": 1}, {"envelope_not_stored": 1}, id="refused"),
        pytest.param([retry("{")], (0, 1, 0), {"unclosed_json": 1}, {"envelope_not_stored": 1}, id="an invalid call"),
        pytest.param([retry(raw_text=RAW, tools=...)], (0, 0, 1), {}, {"tools_unknown": 1}, id="tools unknown"),
        pytest.param(
            [retry(attempt=0), said("Done.", 0, 1), leaked(0, 2)], (0, 0, 0), {}, {}, id="no retry with calls"
        ),
        pytest.param([retry(status="failed")], (0, 0, 0), {}, {}, id="a retry that did not stand"),
        pytest.param([retry(role="judge")], (0, 0, 0), {}, {}, id="a judge retries nothing"),
    ],
)
def test_what_is_counted(
    records: list[Json], verdicts: tuple[int, ...], reasons: Json, why: Json, tmp_path: Path
) -> None:
    found = counted(tmp_path, records)
    assert tuple(found[name] for name in ("accepted", "refused", "not_checkable")) == verdicts
    assert (found["retries"], found["reasons"], found["not_checkable_why"]) == (sum(verdicts), reasons, why)


def test_rates_have_their_own_n_and_interval(tmp_path: Path) -> None:
    found = counted(tmp_path, [retry(raw_text=RAW), retry('{"n": "x"}', 2), retry(attempt=3, tools=...)])
    assert (found["calls"]["n"], found["calls"]["refused"], found["calls"]["rate"]) == (2, 1, 0.5)
    assert found["calls"]["low"] < 0.5 < found["calls"]["high"]
    assert (found["envelopes"]["n"], found["envelopes"]["refused"]) == (1, 0)


def test_nothing_to_check_has_no_rate(tmp_path: Path) -> None:
    found = counted(tmp_path, [leaked(0, 0)])
    assert found["calls"] == {"n": 0, "refused": 0, "rate": None, "low": None, "high": None}


def test_filters_choose_retries(tmp_path: Path) -> None:
    records = [retry(model="a"), retry(attempt=2, model="b")]
    assert counted(tmp_path, records, Filters.parse(["model=a"]))["retries"] == 1
