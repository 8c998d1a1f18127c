"""An upload that grows while detectors judge it (`ingest.rolling`): nothing of it counts as clean unseen."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.detectors import Detector, detector
from analysis.judging import judge_for, unseen
from analysis.registry import current, judged, promote
from analysis.replay import replay
from analysis.rollups import refresh, up_to_date
from ingest import inbox
from ingest.otlp.intake import taken
from ingest.rolling import Rolling
from ingest.store import Store, one
from tests.ingest.loading import rows
from tests.ingest.otlp_signals import said, span, traces

LEAK = '<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>'
TOOLS = {"gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "ls"}])}
OTHER = detector("openrouter-net@1")


class Application:
    """One that leaks with every call."""

    def __init__(self, store: Store) -> None:
        self.store, self.rolling, self.calls = store, Rolling(store), 0

    def call(self, by: Detector | None = None) -> None:
        """A call, sent and read."""
        self.calls += 1
        message = traces(span(self.calls, {**said(f"{LEAK} {self.calls}"), **TOOLS}))
        inbox.put(self.store, taken(json.dumps(message).encode(), "traces", as_json=True).messages)
        self.rolling.fold(lambda: judge_for(by or current(self.store)))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "s.duckdb", create=True) as opened:
        yield opened


@pytest.fixture
def application(store: Store) -> Application:
    current(store)
    return Application(store)


def judged_by(store: Store, by: Detector) -> list[int]:
    """The calls on which a detector has a finding."""
    sql = """SELECT generation_id FROM generations SEMI JOIN (FROM verdicts WHERE detector = $1) v USING (verdict_key)
    ORDER BY line"""
    found = rows(store, sql, by.id)
    return [int(name, 16) for (name,) in found]


def test_another_detector_has_not_seen_what_came_since(store: Store, application: Application) -> None:
    application.call()
    judged(store, OTHER)
    application.call()
    with store.cursor() as cursor:
        assert unseen(cursor, OTHER) == {1: 2}
        assert unseen(cursor, current(store)) == {}
    assert judged_by(store, OTHER) == [1]
    judged(store, OTHER)
    assert judged_by(store, OTHER) == judged_by(store, current(store)) == [1, 2]


def test_it_looks_only_at_what_came_since(store: Store, application: Application) -> None:
    looked: list[int] = []
    for _ in range(3):
        application.call()
        judged(store, OTHER, looked.append)
    assert max(looked) == 1


def test_a_replay_judges_what_comes_while_it_judges(store: Store, application: Application) -> None:
    application.call()

    def meanwhile(_: int) -> None:
        if application.calls < 4:
            application.call()

    report = replay(store, current(store), OTHER, progress=meanwhile)
    assert (report.generations, report.both, report.candidate_only) == (4, 4, 0)


def test_what_was_judged_by_the_last_detector_is_judged_by_the_new_one(store: Store, application: Application) -> None:
    application.call()
    before = current(store)
    promote(store, OTHER)
    application.call(before)
    now = judged(store, current(store))
    assert judged_by(store, now) == [1, 2]
    refresh(store, now)
    with up_to_date(store, now) as cursor:
        assert one(cursor, "SELECT sum(leaks), sum(generations) FROM run_totals") == (2, 2)
