"""Filters choose generations by glob and by time, and say clearly what they do not understand."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from analysis.filters import KEYS, Filters
from ingest.errors import UsageError
from tests.analysis.stories import rows, said, store_of

RECORDS = [
    {"type": "run", "run_id": "b", "engine": "sglang"},
    said("", generation_id="old", model="qwen3-8b", started_at="2026-10-31T23:59:59Z", role="judge"),
    said("", generation_id="new", model="Qwen3-8B", started_at="2026-11-01T00:00:00Z", role="agent", status="cut"),
    said("", generation_id="timeless", run="b", engine=None, finish_reason="[stop]"),
]


@pytest.mark.parametrize(
    ("where", "since", "expected"),
    [
        pytest.param([], None, "new old timeless", id="no filter"),
        pytest.param(["model=qwen3-8b"], None, "old", id="a value; case counts"),
        pytest.param(["model=*wen3-8?"], None, "new old", id="star and question mark"),
        pytest.param(["model=[qQ]wen3-8[bB]"], None, "new old", id="a class of characters"),
        pytest.param(["model=*"], None, "new old timeless", id="a star matches a missing value too"),
        pytest.param(["model="], None, "timeless", id="nothing matches a missing value alone"),
        pytest.param(["model=?*"], None, "new old", id="a value that is there"),
        pytest.param(["engine=sglang"], None, "timeless", id="the record of the run tells the engine"),
        pytest.param(["model=*8b", "role=judge"], None, "old", id="two filters: both must hold"),
        pytest.param(["model=q*", "model=*B"], None, "", id="the same key twice: both must hold"),
        pytest.param(["finish_reason=[[]stop]"], None, "timeless", id="a bracket in a value"),
        pytest.param(["model=["], None, "", id="half a class matches nothing"),
        pytest.param(["model=' OR true --"], None, "", id="a quote is a character"),
        pytest.param(["model=a=b"], None, "", id="an equals sign is a character of the glob"),
        pytest.param(["generation_id=new"], None, "new", id="one generation"),
        pytest.param(["role=agent"], None, "new timeless", id="a missing role is agent"),
        pytest.param(["status=ok"], None, "old timeless", id="a missing status is ok"),
        pytest.param(["mode=native"], None, "new old timeless", id="the call mode that absence means"),
        pytest.param([], "2026-11-01", "new", id="since a day, which begins at midnight UTC; no time is not since"),
        pytest.param([], "2026-11-01T00:00:01", "", id="since a second later"),
        pytest.param([], "2026-11-01T01:00:00+01:00", "new", id="since a time of another zone"),
        pytest.param([], "2026-11-01T00:00:00-01:00", "", id="since a time further west"),
        pytest.param(["run_id=r"], "2026-01-01", "new old", id="both"),
    ],
)
def test_what_is_chosen(where: list[str], since: str | None, expected: str, tmp_path: Path) -> None:
    condition, parameters = Filters.parse(where, since).sql()
    with store_of(tmp_path, RECORDS) as store, store.cursor() as cursor:
        # the condition is what is tested; its values are bound
        cursor.execute(f"SELECT generation_id, ({condition}) FROM facts", parameters)  # noqa: S608
        found = dict(cursor.fetchall())
    assert " ".join(sorted(name for name, chosen in found.items() if chosen)) == expected
    assert None not in found.values()


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        pytest.param(None, "2026-10-31", "old", id="to the end of a day"),
        pytest.param(None, "2026-10-30", "", id="to the end of the day before"),
        pytest.param(None, "2026-10-31T23:59:59", "", id="before a moment, which is outside"),
        pytest.param(None, "2026-11-01T00:59:59+01:00", "", id="before a moment of another zone"),
        pytest.param(None, "2026-11-01T02:00:00+01:00", "new old", id="no time is before no time"),
        pytest.param("2026-11-01", "2026-11-01", "new", id="one day"),
    ],
)
def test_which_times_are_chosen(since: str | None, until: str, expected: str, tmp_path: Path) -> None:
    condition, parameters = Filters.parse([], since, until).sql()
    with store_of(tmp_path, RECORDS) as store, store.cursor() as cursor:
        cursor.execute(f"SELECT generation_id FROM facts WHERE {condition} ORDER BY 1", parameters)  # noqa: S608
        assert " ".join(name for (name,) in cursor.fetchall()) == expected


@pytest.mark.parametrize(
    ("since", "until", "told"),
    [
        pytest.param(None, "tomorrow", "--until tomorrow: write a date", id="no date"),
        pytest.param(None, "9999-12-31", "no day after that", id="the last day of all"),
        pytest.param("2026-11-02", "2026-11-01", "not after --since 2026-11-02", id="the wrong way round"),
        pytest.param("2026-11-01T12:00", "2026-11-01T12:00", "nothing can match", id="no moment between"),
    ],
)
def test_a_period_that_is_none_is_refused(since: str | None, until: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Filters.parse([], since, until)


@pytest.mark.parametrize("key", KEYS)
def test_each_key_is_a_column(key: str, tmp_path: Path) -> None:
    with store_of(tmp_path, RECORDS) as store:
        assert key in {name for (name,) in rows(store, "SELECT column_name FROM (DESCRIBE facts)")}


@pytest.mark.parametrize(
    ("where", "since", "told"),
    [
        pytest.param(["model"], None, "--where model: write key=glob", id="no equals sign"),
        pytest.param(
            ["colour=red"], None, "colour=red: .* model, provider", id="an unknown key, answered with the known"
        ),
        pytest.param(["=x"], None, "--where =x", id="an empty key"),
        pytest.param(["1=1 OR model=x"], None, "--where 1=1 OR", id="SQL is no key"),
        pytest.param(["model=\ud800"], None, "holds half of a surrogate pair", id="what no database takes"),
        pytest.param([], "yesterday", "--since yesterday: write a date", id="no date"),
        pytest.param([], "2026-13-01", "2026-13-01", id="no such month"),
        pytest.param([], "0001-01-01T00:00+14:00", "0001-01-01", id="before the first day, in UTC"),
    ],
)
def test_what_is_refused(where: list[str], since: str | None, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Filters.parse(where, since)


def test_a_time_is_kept_in_utc() -> None:
    assert Filters.parse((), "2026-11-01T01:00+01:00").since == datetime(2026, 11, 1, tzinfo=UTC)
