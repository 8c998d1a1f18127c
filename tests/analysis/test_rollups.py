"""Rollups are the raw counts to the last unit, whatever happened to the store: for rates, trend, segments and drift.

Raw counting is asked for with `run_id=*`, a filter that every generation passes and no rollup answers.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from analysis import browse
from analysis.charts import weekly_lines
from analysis.detectors import Detector
from analysis.drift import drift
from analysis.filters import Filters
from analysis.rates import rates
from analysis.registry import judged
from analysis.rollups import answers, recount, refresh
from analysis.segments import matrix
from ingest.errors import NotFound
from ingest.records import SERIES
from ingest.retention.forgetting import forget, remove_old
from ingest.retention.pruning import prune
from ingest.store import Store
from ingest.uploads import correct, delete, uploads
from tests.analysis.stories import BOOM, WORDS, Json, add, called, dice, event_of, finds, label, numbered, rows, said

BY, OTHER = finds("words", WORDS), finds("others", {"hello": ("leaked_call", "certain"), "CUT": WORDS["CUT"]})
RAW = "run_id=*"
SEGMENTS = (
    ("model", "engine_version"), ("prompt_tokens", "kind"), ("tools_offered", "prompt_tokens"),
    ("tools_offered", "model"), ("client", "family"), ("kind", "channel"), ("tool", "tools_offered"),
)  # fmt: skip
ASKED = (
    ((), None, None),
    (("model=m1",), None, None),
    (("engine_version=",), "2026-11-02", None),
    (("model=*", "client=c*", "role=agent", "mode=n*"), "2026-11-01", "2026-11-02"),
)


def said_of(
    store: Store,
    of: Detector,
    where: tuple[str, ...],
    since: str | None,
    until: str | None,
    segments: Sequence[tuple[str, str]] = SEGMENTS,
) -> list[Any]:
    """All that the rollups answer."""
    asked = Filters.parse(where, since, until)
    return [
        *(rates(store, of, by, asked) for by in (("model", "engine", "template"), ("client",), SERIES)),
        weekly_lines.lines(store, of, asked),
        *(matrix(store, of, row, column, asked).as_json() for row, column in segments),
        drift(store, of, date(2026, 11, 2), asked).as_json(),
        *(browse.runs(store, of, asked, leaking=leaking).as_json() for leaking in (False, True)),
    ]


def unordered(cells: Any) -> Any:
    """A matrix has its cells in no order."""
    return (
        {**cells, "cells": sorted(cells["cells"], key=repr)} if isinstance(cells, dict) and "cells" in cells else cells
    )


HINTS = """
SELECT g.key, coalesce(v.tier IN ('certain', 'likely'), false) AS found, e.generation IS NOT NULL AS reported,
    w.key IS NOT NULL AS reprimanded
FROM generations g LEFT JOIN verdicts v ON v.detector = $1 AND v.verdict_key = g.verdict_key
LEFT JOIN (SELECT DISTINCT generation FROM events) e ON e.generation = g.key
LEFT JOIN weak_evidence w ON w.key = g.key AND w.source = 'reprimand'
WHERE found OR reported OR reprimanded ORDER BY ALL
"""
PLACES = (
    "SELECT run_id, min(upload_id), max(upload_id), min(line), max(line) FROM generations GROUP BY ALL ORDER BY ALL"
)
LABELLED_KEPT = "SELECT verdict_key, generation_id, run_id, upload_id, line, compared FROM labelled ORDER BY ALL"
LABELLED = """
SELECT verdict_key, generation_id, run_id, upload_id, line, reply <> 'empty' FROM generations
WHERE verdict_key IN (SELECT verdict_key FROM labels) ORDER BY ALL
"""
OUTPUTS = "SELECT count(DISTINCT verdict_key) FROM generations WHERE reply <> 'empty'"
PLACES_KEPT = "SELECT run_id, first_upload, last_upload, first_line, last_line FROM run_totals ORDER BY ALL"


def check(store: Store, of: Detector) -> None:
    refresh(store, of)
    with store.cursor() as cursor:
        hints = cursor.execute("SELECT key, found, reported, reprimanded FROM hints ORDER BY ALL").fetchall()
        assert hints == cursor.execute(HINTS, [of.id]).fetchall()
    assert rows(store, PLACES_KEPT) == rows(store, PLACES)
    assert rows(store, LABELLED_KEPT) == rows(store, LABELLED)
    assert rows(store, "SELECT outputs FROM output_counts") == rows(store, OUTPUTS)
    for where, since, until in ASKED:
        segments = SEGMENTS[:2] if where else SEGMENTS
        rolled = said_of(store, of, where, since, until, segments)
        raw = said_of(store, of, (*where, RAW), since, until, segments)
        assert list(map(unordered, rolled)) == list(map(unordered, raw))


def at_random(seed: int) -> list[Json]:
    """Records of a few runs, over a few series and days, with retries and records of runs among them."""
    throw = dice(seed)
    texts = ("LEAK", "CUT", "PRINTED", "MAYBE", BOOM, "hello", "bye")
    fields: dict[str, tuple[Any, ...]] = {
              "model": ("m1", "m2", ...), "engine": ("vllm", ...), "engine_version": ("1", "2", ...),
              "client": ("c1", "d", ...), "status": ("ok", "cut", "error"), "role": ("agent", "subagent", ...),
              "tools": ([{"name": "ls"}], [{"name": f"t{at}"} for at in range(9)], ...), "reprimand": ("no", ...),
              "usage": ({"input_tokens": 5}, {"input_tokens": 5_000}, ...),
              "started_at": ("2026-11-01T23:59:59Z", "2026-11-02T00:00:00Z", "2026-11-20T12:00:00Z", ...)}  # fmt: skip
    found: list[Json] = []
    for _ in range(throw.randint(1, 8)):
        place = throw.randint(0, 2), throw.choice((0, 0, 1))
        given = {"run": f"r{throw.randint(0, 3)}", "generation_id": f"{throw.randint(0, 10**6)}"}
        given |= {name: throw.choice(values) for name, values in fields.items() if throw.random() < 0.7}
        found.append(called(*place, **given) if throw.random() < 0.3 else said(throw.choice(texts), *place, **given))
    if throw.random() < 0.4:
        found.append(event_of("<tool_call>", run_id=f"r{throw.randint(0, 3)}", round=throw.randint(0, 2)))
    if throw.random() < 0.4:
        found.append({"type": "run", "run_id": f"r{throw.randint(0, 3)}", "model": throw.choice(("m1", "m3"))})
    return found


class AnyHistory(RuleBasedStateMachine):
    """A store to which anything may happen."""

    @initialize()
    def opened(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = Store.open(Path(self.folder.name) / "s.duckdb", create=True)
        self.of, self.sent = BY, [0]
        add(self.store, at_random(0), BY)

    @rule(seed=st.integers(1, 10**6))
    def upload(self, seed: int) -> None:
        self.sent.append(seed)
        add(self.store, at_random(seed), self.of)

    @rule(data=st.data())
    def upload_again_with_more(self, data: st.DataObject) -> None:
        seed = data.draw(st.sampled_from(self.sent))
        add(self.store, [*at_random(seed), *at_random(seed + 1)], self.of)

    @precondition(lambda self: bool(uploads(self.store)))
    @rule(data=st.data(), key=st.sampled_from(("model", "client", "template")), value=st.sampled_from(("m1", "c9")))
    def set_of_an_upload(self, data: st.DataObject, key: str, value: str) -> None:
        correct(self.store, data.draw(st.sampled_from(uploads(self.store))).upload_id, {key: value})

    @precondition(lambda self: bool(uploads(self.store)))
    @rule(data=st.data())
    def delete_an_upload(self, data: st.DataObject) -> None:
        delete(self.store, data.draw(st.sampled_from(uploads(self.store))).upload_id)

    @rule(run=st.integers(0, 3), model=st.sampled_from(("m1", "m4")), version=st.sampled_from((None, "1", "7")))
    def tell_of_a_run(self, run: int, model: str, version: str | None) -> None:
        add(self.store, [{"type": "run", "run_id": f"r{run}", "model": model, "engine_version": version}], self.of)

    @rule(anew=st.booleans())
    def take_the_other_detector(self, anew: bool) -> None:
        self.of = judged(self.store, OTHER if self.of is BY else BY, anew=anew)

    @rule()
    def judge_anew(self) -> None:
        judged(self.store, self.of, anew=True)

    @rule(day=st.sampled_from(("2026-11-02", "2026-11-03", "2026-11-21")), keep_rates=st.booleans())
    def prune_what_is_old(self, day: str, keep_rates: bool) -> None:
        before, now = datetime.fromisoformat(day), datetime.now(UTC).replace(tzinfo=None)
        if keep_rates:
            prune(self.store, before, now)
        else:
            remove_old(self.store, before, now, recount)

    @rule(run=st.integers(0, 3))
    def forget_a_run(self, run: int) -> None:
        with suppress(NotFound):
            forget(self.store, f"r{run}", datetime.now(UTC).replace(tzinfo=None), recount)

    @rule(leak=st.booleans(), data=st.data())
    def label_something(self, leak: bool, data: st.DataObject) -> None:
        ids = [id_ for (id_,) in rows(self.store, "SELECT generation_id FROM generations ORDER BY ALL")] or ["1"]
        add(self.store, [label(data.draw(st.sampled_from(ids)), leak)], self.of)

    @invariant()
    def all_is_as_counted(self) -> None:
        judged(self.store, self.of)
        check(self.store, self.of)

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=3, stateful_step_count=6)


@contextmanager
def a_store(folder: Path) -> Iterator[Store]:
    with Store.open(folder / "s.duckdb", create=True) as store:
        for seed in range(4):
            add(store, at_random(seed), BY)
        yield store


def _corrected(store: Store, upload: int, **values: str) -> Detector:
    correct(store, upload, values)
    return BY


def _without(store: Store, upload: int) -> Detector:
    delete(store, upload)
    return BY


def _told(store: Store, *records: Json) -> Detector:
    add(store, records, BY)
    return BY


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(
            lambda store: _told(store, said("LEAK", 3, 0, run="r0")), id="a generation of a run that is there"
        ),
        pytest.param(lambda store: _told(store, called(0, 1, run="r0")), id="a retry, which counts only for its leak"),
        pytest.param(lambda store: _told(store, {"type": "run", "run_id": "r1", "engine": "e9"}), id="a run's record"),
        pytest.param(lambda store: _corrected(store, 2, model="m9"), id="a correction"),
        pytest.param(lambda store: _corrected(store, 1, client="c9"), id="a correction that tells clients apart"),
        pytest.param(lambda store: _told(store, said("bye", 0, 0, run="r0", role="subagent")), id="another role"),
        pytest.param(lambda store: _without(store, 2), id="a deletion"),
        pytest.param(lambda store: _without(store, 1), id="a deletion with an heir of all but one"),
        pytest.param(lambda store: judged(store, OTHER), id="another detector"),
        pytest.param(
            lambda store: judged(store, finds("words", {"bye": WORDS["LEAK"]}), anew=True), id="other verdicts"
        ),
    ],
)
def test_each_change_is_counted(change: Callable[[Store], Detector], tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        both = [said("LEAK", 0, 0, run="r0", model="m1"), said("hello", 0, 0, run="r1")]
        further = [said("CUT", 1, 0, run="r1", model="m2"), said("bye", 2, 0, run="r2", model="m2")]
        for records in ([*both, said("CUT", run="r3", generation_id="alone")], [*both, *further]):
            add(store, numbered(records), BY)
        before = said_of(store, BY, (), None, None)
        of = change(store)
        check(store, of)
        assert said_of(store, of, (), None, None) != before


@pytest.mark.parametrize("missing", ["rollup_series", "run_totals", "day_rates", "day_sizes"])
def test_a_refresh_that_is_interrupted_leaves_right_numbers(missing: str, tmp_path: Path) -> None:
    """It fails where it comes to the table that is not there."""
    with a_store(tmp_path) as store:
        refresh(store, BY)
        before = rows(store, "FROM run_rates ORDER BY ALL")
        add(store, at_random(7), BY)
        renamed(store, missing, "away")
        with pytest.raises(Exception, match=missing):
            refresh(store, BY)
        renamed(store, "away", missing)
        assert rows(store, "FROM run_rates ORDER BY ALL") == before
        check(store, BY)


def renamed(store: Store, table: str, name: str) -> None:
    with store.transaction() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {name}")


def test_what_is_deleted_leaves_nothing_behind(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        refresh(store, BY)
        for upload in uploads(store):
            delete(store, upload.upload_id)
        refresh(store, BY)
        tables = ("stale_runs", "stale_verdicts", "rollup_series", "run_totals", "run_rates", "day_rates", "run_sizes",
                  "day_sizes", "run_leaks", "hints", "labelled")  # fmt: skip
        assert not any(rows(store, f"FROM {name}") for name in tables)


def test_only_the_runs_that_changed_are_counted_anew(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        refresh(store, BY)
        with store.transaction() as cursor:
            cursor.execute("UPDATE run_rates SET errors = errors + 1000 WHERE run_id = 'r0'")
        add(store, numbered([said("hello", run="new", model="m1")]), BY)
        refresh(store, BY)
        spoilt = rows(store, "SELECT DISTINCT run_id FROM run_rates WHERE errors >= 1000")
        assert spoilt == [("r0",)]
        add(store, numbered([said("hello again", run="r0")]), BY)
        check(store, BY)


def test_an_upload_under_way_is_not_waited_for(tmp_path: Path) -> None:
    with a_store(tmp_path) as store, store.writing():
        refresh(store, BY)
        assert rows(store, "SELECT detector FROM rolled_up") == [(BY.id,)]


def test_a_change_that_commits_while_counting_stays_marked(tmp_path: Path) -> None:
    with a_store(tmp_path) as store, store.rolling_up() as cursor:
        cursor.execute("DELETE FROM stale_runs")
        add(store, numbered([said("hello", run="meanwhile")]), BY)
        cursor.execute("DELETE FROM stale_runs")
        cursor.commit()
        assert rows(store, "FROM stale_runs") == [("meanwhile",)]
        cursor.begin()


@pytest.mark.parametrize(
    ("where", "since", "answered"),
    [
        pytest.param(("model=a*", "client_version=1"), None, True, id="series keys"),
        pytest.param((), "2026-11-01", True, id="a day"),
        pytest.param((), "2026-11-01T00:00Z", True, id="the first moment of a day"),
        pytest.param((), "2026-11-01T00:00+01:00", False, id="a day elsewhere"),
        pytest.param((), "2026-11-01T12:00Z", False, id="a time of day"),
        pytest.param(("role=agent", "mode=native"), None, True, id="the role and the mode"),
        pytest.param(("status=ok",), None, False, id="the status"),
        pytest.param((RAW,), None, False, id="the run"),
    ],
)
def test_what_rollups_answer(where: tuple[str, ...], since: str | None, answered: bool) -> None:
    assert answers(Filters.parse(where, since)) is answered
