"""A run leaves every table, and what another run holds too stays; old generations go in the same way."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis import browse
from analysis.filters import Filters
from analysis.labels.giving import NewLabel
from analysis.labels.giving import add as label
from analysis.labels.queue import following
from analysis.labels.turns import Reviewer
from analysis.registry import judged, promote
from analysis.rollups import recount, refresh
from analysis.sampling.drawing import Request, draw
from ingest.errors import Conflict, NotFound
from ingest.export import records
from ingest.identity import text_hash
from ingest.retention.forgetting import forget, remove_old
from ingest.store import Store
from ingest.uploads import uploads
from tests.analysis.retention.history import BY, CUTOFF, NEWER, NOW, SHARED, counted, half, holding, today, whole
from tests.analysis.stories import add, rows, store_of
from tests.ingest.loading import everything

JOB = "INSERT INTO jobs BY NAME SELECT '1' AS job_id, 'replay' AS kind, $1 AS state, $2 AS request, $3 AS result"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """With work of everyone on it: two detectors, rollups, a sample, an assignment."""
    with store_of(tmp_path, whole(), BY) as made:
        judged(made, NEWER)
        promote(made, BY)
        refresh(made, BY)
        draw(made, Request(BY, NEWER, Filters(), 10, 1), today())
        following(made, Reviewer("bob"), today())
        label(made, NewLabel("old.0", True, "cyd"), today())
        yield made


def hashes(*texts: str) -> list[str]:
    """The hashes of texts as the store writes them."""
    digits = [text_hash(text).hex() for text in texts]
    return [f"{one[:8]}-{one[8:12]}-{one[12:16]}-{one[16:20]}-{one[20:]}" for one in digits]


def keys(store: Store, run_id: str) -> list[str]:
    """The keys of a run's generations, and the verdict keys that no other run has."""
    own = rows(store, "SELECT key::VARCHAR FROM generations WHERE run_id = $1", run_id)
    alone = rows(
        store,
        "SELECT verdict_key::VARCHAR FROM generations GROUP BY ALL HAVING bool_and(run_id = $1)",
        run_id,
    )
    return [key for (key,) in (*own, *alone)]


def test_no_table_holds_its_ids_or_its_texts(store: Store) -> None:
    sought = ["old-0", "old.0", "old.1", "old.2", "quartz1", "quartz3", *hashes("quartz1 LEAK", "quartz4 CUT")]
    sought += keys(store, "old-0")
    assert {each.rpartition(": ")[2] for each in holding(store, *sought)} == {*sought}
    removed = forget(store, "old-0", NOW, recount)
    assert (removed.runs, removed.generations, removed.events, removed.labels) == (1, 3, 1, 2)
    assert holding(store, *sought) == []


def test_what_another_run_holds_too_stays(store: Store) -> None:
    """The shared text, its verdict, and what both people said of it, which now speaks of the run that is left."""
    forget(store, "old-1", NOW, recount)
    assert rows(store, "SELECT count(*) FROM texts WHERE text = $1", SHARED) == [(1,)]
    labels = rows(store, "SELECT generation_id FROM labels WHERE note LIKE 'on both%'")
    assert labels == [("young.5",), ("young.5",)]
    assert browse.run(store, BY, "young-1")["generations"][-1]["truth"] is True
    assert holding(store, "old-1", "old.5") == []


def test_the_counts_are_those_of_a_store_that_never_had_it(store: Store, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    forget(store, "old-0", NOW, recount)
    forget(store, "old-1", NOW, recount)
    with store_of(tmp_path / "other", half("2026-11-20T12:00:00Z", "young", "basalt"), BY) as other:
        assert counted(store) == counted(other)
    assert not any("old-" in str(each) or "old." in str(each) for each in records(store))


def test_what_nobody_counted_yet_is_counted_later(tmp_path: Path) -> None:
    with store_of(tmp_path, whole(), BY) as store:
        forget(store, "old-0", NOW, recount)
        assert holding(store, "old-0") == []
        found = counted(store)
        assert found["rolled"] == found["raw"]


def test_an_upload_of_which_nothing_is_left_goes_and_comes_again(store: Store) -> None:
    told = [each for each in half("2026-11-21T12:00:00Z", "more", "schist") if each["type"] != "label"]
    add(store, told, BY)
    forget(store, "more-0", NOW, recount)
    assert len(uploads(store)) == 2
    assert forget(store, "more-1", NOW, recount).uploads == 1
    assert len(uploads(store)) == 1
    assert add(store, told, BY).new_generations == 6


@pytest.mark.parametrize("run_id", ["", "old", "old-%", "none"])
def test_a_run_that_is_not_there_is_told(store: Store, run_id: str) -> None:
    before = everything(store)
    with pytest.raises(NotFound, match="no run"):
        forget(store, run_id, NOW, recount)
    assert everything(store) == before


def test_an_end_half_way_leaves_the_old_state(store: Store) -> None:
    before = everything(store)

    def fails(_: object) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        forget(store, "old-0", NOW, fails)
    with pytest.raises(InterruptedError):
        remove_old(store, CUTOFF, NOW, fails)
    assert everything(store) == before


def test_a_dry_run_changes_nothing(store: Store) -> None:
    before = everything(store)
    told = forget(store, "old-0", NOW, recount, dry=True), remove_old(store, CUTOFF, NOW, recount, dry=True)
    assert everything(store) == before
    assert [each.generations for each in told] == [3, 6]


class TestReports:
    """A report of a replay quotes texts and names runs."""

    QUOTE = '{"disagreements":[{"run_id":"old-0","generation_id":"old.0","baseline":{"markup":"quartz1"}}],"both":3}'

    def test_a_report_that_names_the_run_goes(self, store: Store) -> None:
        with store.transaction() as cursor:
            cursor.execute(JOB, ["done", "{}", self.QUOTE])
        assert forget(store, "old-0", NOW, recount).reports == 1
        assert rows(store, "FROM jobs") == []

    def test_a_replay_of_the_run_alone_that_is_under_way_is_not_overtaken(self, store: Store) -> None:
        with store.transaction() as cursor:
            cursor.execute(JOB, ["running", '{"where":["run_id=old-0"]}', None])
        with pytest.raises(Conflict, match="cancel it"):
            forget(store, "old-0", NOW, recount)

    def test_a_report_of_what_is_old_keeps_its_counts(self, store: Store) -> None:
        with store.transaction() as cursor:
            cursor.execute(JOB, ["done", "{}", self.QUOTE])
        assert remove_old(store, CUTOFF, NOW, recount).reports == 1
        [(report,)] = rows(store, "SELECT result FROM jobs")
        assert report == self.QUOTE.replace("quartz1", "")


class TestOldGenerations:
    """Without the rates they go wholly."""

    def test_nothing_of_them_is_left(self, store: Store) -> None:
        removed = remove_old(store, CUTOFF, NOW, recount)
        assert (removed.runs, removed.generations, removed.events) == (2, 6, 1)
        assert holding(store, "quartz", "old-0", "old-1", "old.0") == []

    def test_the_rest_is_as_if_they_had_never_been(self, store: Store, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        remove_old(store, CUTOFF, NOW, recount)
        with store_of(tmp_path / "other", half("2026-11-20T12:00:00Z", "young", "basalt"), BY) as other:
            assert counted(store) == counted(other)
