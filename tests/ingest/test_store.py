"""The store as a file: made, brought up to date, refused, locked, and whole after a crash."""

import os
import signal
import subprocess
import sys
import threading
from importlib import resources
from pathlib import Path

import duckdb
import pytest

from ingest.errors import StoreError, StoreLocked, StoreTooNew
from ingest.pipeline import ingest
from ingest.store import Store, atomic, one
from ingest.sweeping import sweep
from tests.ingest.loading import MARK_JUDGE, everything, generation, load, rows, written

ROOT = Path(__file__).parents[2]


def migration_names() -> list[str]:
    files = resources.files("ingest").joinpath("migrations").iterdir()
    return sorted(file.name for file in files if file.name.endswith(".sql"))


def test_migrations_apply_once_and_in_order(tmp_path: Path) -> None:
    for _ in range(2):
        with Store.open(tmp_path / "s.duckdb", create=True) as store:
            applied = rows(store, "SELECT name FROM migrations ORDER BY applied_at, number")
            assert [name for (name,) in applied] == migration_names()


def at_first_migration(path: Path) -> None:
    """A store as the first version made it, with an upload in it."""
    first = migration_names()[0]
    with duckdb.connect(str(path)) as old:
        old.execute("CREATE TABLE migrations (number INTEGER, name VARCHAR, applied_at TIMESTAMP)")
        old.execute(resources.files("ingest").joinpath("migrations", first).read_text("utf-8"))
        old.execute("INSERT INTO migrations VALUES (1, $1, TIMESTAMP '2026-11-01')", [first])
        old.execute("INSERT INTO uploads BY NAME SELECT 1 AS upload_id, 'a' AS path, 'done' AS state, '{}' AS settings")
        old.execute("INSERT INTO texts VALUES (uuid(), 'a text')")


def test_an_old_store_is_brought_up_to_date_with_its_rows(tmp_path: Path) -> None:
    at_first_migration(tmp_path / "s.duckdb")
    with Store.open(tmp_path / "s.duckdb") as store:
        assert rows(store, "SELECT path FROM uploads") == [("a",)]
        assert rows(store, "SELECT text FROM texts") == [("a text",)]
        assert rows(store, "SELECT count(*) FROM migrations") == [(len(migration_names()),)]
        load(store, generation())
    with Store.open(tmp_path / "new.duckdb", create=True) as new, Store.open(tmp_path / "s.duckdb") as old:
        shape = "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY ALL"
        assert rows(old, shape) == rows(new, shape)


def test_reopening_changes_nothing(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        load(store, generation(content="<tool_call>"))
        before = everything(store)
    with Store.open(tmp_path / "s.duckdb") as store:
        assert everything(store) == before


def test_closing_leaves_one_file(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        load(store, generation())
        assert (tmp_path / "s.duckdb.wal").stat().st_size > 0
    assert [path.name for path in tmp_path.glob("s.duckdb*")] == ["s.duckdb"]


def test_a_newer_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb", create=True) as store, store.transaction() as cursor:
        cursor.execute("INSERT INTO migrations VALUES (9999, '9999_later.sql', TIMESTAMP '2030-01-01')")
    with pytest.raises(StoreTooNew, match=r"newer leakdown \(9999_later.sql\); update leakdown"):
        Store.open(tmp_path / "s.duckdb")
    with duckdb.connect(str(tmp_path / "s.duckdb")) as left:
        assert left.execute("SELECT max(number) FROM migrations").fetchall() == [(9999,)]


def foreign(path: Path, sql: str) -> None:
    with duckdb.connect(str(path)) as other:
        other.execute(sql)


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        pytest.param("CREATE TABLE mine (a INTEGER)", "not a leakdown store", id="a table of theirs"),
        pytest.param("CREATE TABLE migrations (version INTEGER)", "not a leakdown store", id="migrations of theirs"),
    ],
)
def test_another_duckdb_file_is_refused_and_left_alone(tmp_path: Path, sql: str, why: str) -> None:
    foreign(tmp_path / "s.duckdb", sql)
    before = (tmp_path / "s.duckdb").read_bytes()
    with pytest.raises(StoreError, match=why):
        Store.open(tmp_path / "s.duckdb", create=True)
    assert (tmp_path / "s.duckdb").read_bytes() == before


def test_a_text_file_is_refused_in_one_line_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "lock.txt").write_text("a text\n" * 999)
    with pytest.raises(StoreError, match=r"\A[^\n]*lock.txt: cannot be opened as a store[^\n]*\Z") as fault:
        Store.open(tmp_path / "lock.txt")
    assert not isinstance(fault.value, StoreLocked)
    assert (tmp_path / "lock.txt").read_text() == "a text\n" * 999


@pytest.mark.parametrize("create", [pytest.param(True, id="to be made"), pytest.param(False, id="to be read")])
def test_a_folder_is_refused_in_one_line(tmp_path: Path, create: bool) -> None:
    with pytest.raises(StoreError, match=r"\A[^\n]*cannot be opened as a store[^\n]*\Z"):
        Store.open(tmp_path, create=create)


def test_a_missing_store_is_not_made_unasked(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store here; `leakdown ingest PATH… --store "):
        Store.open(tmp_path / "s.duckdb")
    assert list(tmp_path.iterdir()) == []


HOLD = """
import sys
from pathlib import Path
from ingest.store import Store

with Store.open(Path(sys.argv[1]), create=True):
    print("open", flush=True)
    sys.stdin.read()
"""


def python(code: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_a_store_that_another_process_holds_names_it(tmp_path: Path) -> None:
    with python(HOLD, str(tmp_path / "s.duckdb")) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StoreLocked, match=rf"\A[^\n]*: in use by process {holder.pid}; [^\n]*\Z"):
            Store.open(tmp_path / "s.duckdb")
        holder.communicate()
    with Store.open(tmp_path / "s.duckdb") as store:
        assert rows(store, "SELECT count(*) FROM uploads") == [(0,)]


LOAD = """
import sys
from pathlib import Path
from ingest.files.containers import Source
from ingest.pipeline import ingest
from ingest.store import Store
from tests.ingest.loading import MARK_JUDGE

def wait_after_the_first_batch(read):
    print(read.lines, flush=True)
    sys.stdin.read()

path = Path(sys.argv[2])
with Store.open(Path(sys.argv[1])) as store:
    ingest(store, Source(path, path.name), MARK_JUDGE, progress=wait_after_the_first_batch)
"""


def test_a_killed_upload_leaves_nothing_and_can_come_again(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        load(store, generation(generation_id="kept", content="kept"))
        before = everything(store)
    many = [
        generation(generation_id=f"g{at}", content=f"<tool_call>{at}", tools=[{"name": "ls"}]) for at in range(20_000)
    ]
    source = written(tmp_path / "big.jsonl", many)
    with python(LOAD, str(tmp_path / "s.duckdb"), str(source.path)) as loader:
        assert loader.stdout is not None
        assert int(loader.stdout.readline()) < len(many)
        os.kill(loader.pid, signal.SIGKILL)
    with duckdb.connect(str(tmp_path / "s.duckdb")) as left:
        assert left.execute("SELECT count(*) > 1 FROM texts").fetchall() == [(True,)]
    with Store.open(tmp_path / "s.duckdb") as store:
        assert everything(store) == before
        assert ingest(store, source, MARK_JUDGE).new_generations == len(many)
        assert rows(store, "SELECT count(*) FROM texts") == [(len(many) + 1,)]


def test_readers_see_whole_uploads_while_one_writes(store: Store) -> None:
    """Every reader counts a multiple of an upload's generations, and never fewer than before."""
    of_one, uploads = 50, 12
    done, counted = threading.Event(), [list[int](), list[int]()]

    def count(into: list[int]) -> None:
        while not done.is_set() or not into:
            into.append(rows(store, "SELECT count(*) FROM generations")[0][0])

    readers = [threading.Thread(target=count, args=(into,)) for into in counted]
    for reader in readers:
        reader.start()
    try:
        for upload in range(uploads):
            load(store, *(generation(generation_id=f"{upload}.{at}") for at in range(of_one)))
    finally:
        done.set()
        for reader in readers:
            reader.join()
    for seen in counted:
        assert seen == sorted(seen)
        assert {count % of_one for count in seen} == {0}
    assert rows(store, "SELECT count(*) FROM generations") == [(of_one * uploads,)]


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    def insert_and_fail() -> None:
        with store.transaction() as cursor:
            cursor.execute("INSERT INTO texts (hash, text) VALUES (uuid(), 'a')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        insert_and_fail()
    assert rows(store, "FROM texts") == []


def test_sweeping_keeps_what_a_generation_points_at(store: Store) -> None:
    load(store, generation(content="a", reasoning=None, raw_text="b", tools=[{"name": "ls"}]), generation(content=None))
    with store.writing() as cursor, atomic(cursor):
        cursor.execute("INSERT INTO texts (hash, text) VALUES (uuid(), 'c')")
        cursor.execute("INSERT INTO tool_lists VALUES (uuid(), '[]')")
        cursor.execute("INSERT INTO verdicts BY NAME SELECT 'd@1' AS detector, uuid() AS verdict_key")
        sweep(cursor)
        assert one(cursor, "SELECT list(text ORDER BY text) FROM texts") == (["a", "b"],)
        assert one(cursor, "SELECT count(*) FROM tool_lists") == (1,)
        assert one(cursor, "SELECT count(*) FROM verdicts") == (0,)
