"""A store of every earlier schema, with rows in it, comes through: the records, the figures and a replay's report are
those of a store of today. A kill in the middle leaves a store that opens and completes (`test_kills`)."""

import shutil
from pathlib import Path

import duckdb
import pytest

from api.discovery import notice
from ingest.store import Store
from tests.api.conftest import Leakdown
from tests.durability.history import inputs, make
from tests.durability.old_stores import make_old, names
from tests.durability.soundness import State, sound, state
from tests.ingest.loading import rows

EARLIER = range(1, len(names()))
_SHAPE = """
SELECT table_name, column_name, data_type, column_default FROM duckdb_columns() WHERE NOT internal ORDER BY ALL
"""
_VIEWS = "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY ALL"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    first, second, _ = inputs(folder, 40)
    return make(folder / "s.duckdb", first, second)


@pytest.fixture(scope="module")
def today(made: Path, tmp_path_factory: pytest.TempPathFactory) -> State:
    path = Path(shutil.copy(made, tmp_path_factory.mktemp("today") / "s.duckdb"))
    with Store.open(path) as store:
        return state(store)


@pytest.mark.parametrize("version", EARLIER, ids=[f"from {name}" for name in names()[:-1]])
def test_an_earlier_store_is_brought_up_to_date_with_its_rows(
    tmp_path: Path, made: Path, today: State, version: int
) -> None:
    path = make_old(tmp_path / "s.duckdb", version, made)
    with duckdb.connect(str(path)) as old:
        before = old.execute("SELECT (SELECT count(*) FROM generations), (SELECT count(*) FROM texts)").fetchall()
    with Store.open(path) as store, Store.open(tmp_path / "new.duckdb", create=True) as new:
        assert rows(store, "SELECT (SELECT count(*) FROM generations), (SELECT count(*) FROM texts)") == before
        assert before[0][0] > 50
        assert state(store) == today
        sound(store)
        assert rows(store, _SHAPE) == rows(new, _SHAPE)
        assert rows(store, _VIEWS) == rows(new, _VIEWS)
        assert [name for (name,) in rows(store, "SELECT name FROM migrations ORDER BY number")] == names()


@pytest.mark.parametrize("arguments", [("rates",), ("ingest", "x.jsonl"), ("serve", "--port", "0"), ("backup", "b")])
def test_a_newer_store_is_refused_with_one_line(leakdown: Leakdown, made: Path, arguments: tuple[str, ...]) -> None:
    path = Path(shutil.copy(made, "s.duckdb"))
    Path("x.jsonl").write_text("{}")
    with duckdb.connect(str(path)) as store:
        store.execute("INSERT INTO migrations VALUES (9999, '9999_later.sql', TIMESTAMP '2030-01-01')")
    before = path.read_bytes()
    ran = leakdown(*arguments, "--store", path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "written by a newer leakdown (9999_later.sql); update leakdown to read it" in ran.err
    assert (path.read_bytes(), notice(path).exists(), Path("b").exists()) == (before, False, False)
