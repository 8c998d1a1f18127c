"""A clock that jumps: what was said last counts, whatever time it bears, and a record's day changes no other number."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from analysis.alerts.words import Word, last_words, say
from analysis.labels.giving import NewLabel, add, resolve
from analysis.registry import current, promote, promotions
from api.jobs import Jobs
from ingest.store import Store
from tests.analysis.stories import rows
from tests.api.conftest import LEAK, generation
from tests.api.service import served
from tests.ingest.loading import load

AHEAD = datetime(2099, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 30, tzinfo=UTC)
BACK = "UPDATE {table} SET {column} = TIMESTAMP '2099-01-01'"
"""As if the clock had been ahead until now."""


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.open(tmp_path / "s.duckdb", create=True) as opened:
        load(opened, generation("r", 0, LEAK))
        yield opened


def moved(store: Store, table: str, column: str) -> None:
    with store.transaction() as cursor:
        cursor.execute(BACK.format(table=table, column=column))


def test_the_latest_promotion_counts(store: Store) -> None:
    from analysis.detectors import detector

    for each in ("goat@1", "openrouter-net@1", "leakdown@1"):
        promote(store, detector(each))
        assert current(store).id == each
        moved(store, "promotions", "promoted_at") if each == "goat@1" else None
    assert [each.detector for each in promotions(store)] == ["goat@1", "openrouter-net@1", "leakdown@1"]


def states(store: Store) -> list[tuple[Any, ...]]:
    return rows(store, "SELECT state FROM label_states")


def test_a_persons_last_label_counts(store: Store) -> None:
    add(store, NewLabel("r.0", leak=True, by="ana"), AHEAD)
    add(store, NewLabel("r.0", leak=False, by="ana"), NOW)
    assert states(store) == [("clean",)]
    add(store, NewLabel("r.0", leak=True, by="ben"), NOW)
    assert rows(store, "SELECT labelled_at FROM labels WHERE by_whom = 'ben'") == [(NOW.replace(tzinfo=None),)]
    assert states(store) == [("conflict",)]


def test_the_last_resolution_counts(store: Store) -> None:
    for by, leak in (("ana", True), ("ben", False)):
        add(store, NewLabel("r.0", leak=leak, by=by), NOW)
    resolve(store, NewLabel("r.0", leak=True, by="cy", note="seen"), AHEAD)
    resolve(store, NewLabel("r.0", leak=False, by="ana", note="seen again"), NOW)
    assert states(store) == [("clean",)]


def test_the_last_word_on_an_alert_counts(store: Store) -> None:
    say(store, "a", "rule", Word("mute", "why", "ana", AHEAD.replace(tzinfo=None), date(2099, 2, 1)))
    say(store, "a", "rule", Word("unmute", "not so", "ana", NOW.replace(tzinfo=None)))
    with store.cursor() as cursor:
        word = last_words(cursor)["a"]
    assert (word.action, word.at) == ("unmute", AHEAD.replace(tzinfo=None) + timedelta(microseconds=1))


def test_the_latest_job_comes_first(store: Store) -> None:
    jobs = Jobs(store, "test", lambda request, _: request)
    asked = [jobs.submit({"n": 0})["id"]]
    moved(store, "jobs", "created_at")
    asked += [jobs.submit({"n": number})["id"] for number in (1, 2)]
    assert [each["id"] for each in jobs.all()] == asked[::-1]
    with store.transaction() as cursor:
        cursor.execute("UPDATE jobs SET state = 'done'")
    jobs.forget(1)
    assert [each["id"] for each in jobs.all()] == asked[-1:]


DAYS = ("0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2099-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z")
ADDRESSES = (
    "/v1/rates", "/v1/drift", "/v1/recovery", "/v1/audit", "/v1/alerts", "/v1/runs", "/v1/generations",
    "/", "/series", "/drift", "/recovery", "/audit", "/runs", "/uploads",
)  # fmt: skip


@pytest.mark.parametrize("day", DAYS)
def test_a_record_of_another_time_is_counted_and_changes_no_other_day(tmp_path: Path, day: str) -> None:
    with served(tmp_path / "s.duckdb") as service:
        for at in range(3):
            service.upload(generation(f"r{at}", 0, LEAK, started_at=f"2026-11-0{at + 1}T00:00:00Z"))
        of_these_days = service.http.get("/v1/rates", params={"where": "run_id=r*"}).json()
        service.upload(generation("odd", 0, LEAK, started_at=day))
        service.upload(generation("r3", 0, "All is well.", started_at="2026-11-02T00:00:00Z"))
        assert [service.http.get(each).status_code for each in ADDRESSES] == [200] * len(ADDRESSES)
        [rates] = service.http.get("/v1/rates").json()
        assert (rates["eligible"], rates["leaks"]) == (of_these_days[0]["eligible"] + 2, of_these_days[0]["leaks"] + 1)
        exported = service.http.get("/v1/export.jsonl").text
        assert day in exported
