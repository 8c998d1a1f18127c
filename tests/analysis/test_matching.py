"""A filter that matches nothing is refused, and the refusal says what there is to match."""

from pathlib import Path

import pytest

from analysis.detectors import detector
from analysis.filters import Filters
from analysis.matching import require_match
from analysis.replay import replay
from ingest.errors import NotFound
from ingest.store import Store
from tests.analysis.stories import rows, said, store_of

RECORDS = [
    *(said("a", model="qwen", engine="vllm", started_at="2026-11-02T00:00:00Z") for _ in range(2)),
    said("b", model="glm", engine="sglang", started_at="2026-11-01T00:00:00Z"),
]


@pytest.mark.parametrize(
    ("where", "since", "told"),
    [
        pytest.param(["model=qwem"], None, "--where model=qwem: none of 3 generations matches; model is qwen, glm",
                     id="a typo: the values that there are"),
        pytest.param(["model=glm", "engine=vllm"], None,
                     "--where model=glm, --where engine=vllm: none of 3 generations matches",
                     id="each matches something, both together nothing"),
        pytest.param(["model=glm", "engine=x"], None,
                     "--where model=glm, --where engine=x: none of 3 generations matches; engine is vllm, sglang",
                     id="only the key that matches nothing is explained"),
        pytest.param(["template=x"], None,
                     "--where template=x: none of 3 generations matches; no generation tells its template",
                     id="a key that no record has"),
        pytest.param([], "2027-01-01", "since 2027-01-01T00:00:00+00:00: none of 3 generations matches",
                     id="a time after all"),
    ],
)  # fmt: skip
def test_a_filter_that_matches_nothing_is_refused(
    where: list[str], since: str | None, told: str, tmp_path: Path
) -> None:
    with store_of(tmp_path, RECORDS) as store, pytest.raises(NotFound) as refused:
        require_match(store, Filters.parse(where, since))
    assert str(refused.value) == told


@pytest.mark.parametrize("where", [pytest.param([], id="no filter"), pytest.param(["model=q*"], id="a glob that fits")])
def test_what_matches_passes(where: list[str], tmp_path: Path) -> None:
    with store_of(tmp_path, RECORDS) as store:
        require_match(store, Filters.parse(where))


def test_an_empty_store_without_a_filter_is_no_slip(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        require_match(store, Filters())


def test_many_and_long_values_are_cut(tmp_path: Path) -> None:
    records = [said("x", model=f"{at}{'m' * 500}") for at in range(9)]
    with store_of(tmp_path, records) as store, pytest.raises(NotFound) as refused:
        require_match(store, Filters.parse(["model=x"]))
    assert str(refused.value).endswith(", …")
    assert len(str(refused.value)) < 500


def test_a_replay_of_nothing_judges_nothing(tmp_path: Path) -> None:
    """`--recompute` would first forget every verdict."""
    with store_of(tmp_path, [said("<tool_call>x")]) as store:
        pair = detector("openrouter-net@1"), detector("goat@1")
        replay(store, *pair)
        before = rows(store, "FROM verdicts ORDER BY ALL")
        with pytest.raises(NotFound, match="--where model=x"):
            replay(store, *pair, Filters.parse(["model=x"]), recompute=True)
        assert rows(store, "FROM verdicts ORDER BY ALL") == before != []
