"""`leakdown backup` and `restore`: one moment of a store, while others write; the way back, and what is refused."""

import shutil
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from ingest.actions import actions
from ingest.store import Store
from tests.api.conftest import LEAK, SCRIPT, Leakdown, generation
from tests.api.service import Service, served
from tests.durability.history import inputs, make
from tests.durability.soundness import exported, sound, state
from tests.ingest.loading import everything, rows

REPLAY = ("replay", "--baseline", "goat@1", "--candidate", "leakdown@1", "--where", "run_id=a*", "--json", "-")
OF_ONE = 25
"""Generations of an upload that comes meanwhile."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    first, second, _ = inputs(folder, 40)
    return make(folder / "s.duckdb", first, second)


@pytest.fixture
def store(made: Path) -> Path:
    return Path(shutil.copy(made, "s.duckdb"))


def report(leakdown: Leakdown, store: Path) -> object:
    ran = leakdown(*REPLAY, "--store", store)
    assert ran.code == 0, ran.err
    whole = {"stored": None, "left_out": None}  # how much there is besides
    return {**ran.json, "seconds": None, "population": {**ran.json["population"], **whole}}


def holds(store: Path) -> dict[str, list[str]]:
    with Store.open(store) as opened:
        return everything(opened)


def noted(store: Path) -> list[str]:
    with Store.open(store) as opened:
        return [each["action"] for each in actions(opened, 10)]


def test_what_comes_back_is_all_that_was_there(leakdown: Leakdown, store: Path) -> None:
    said = report(leakdown, store)
    ran = leakdown("backup", "b.duckdb", "--store", store)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"wrote {Path('b.duckdb').stat().st_size:,} bytes to b.duckdb, read back and compared\n"
    ran = leakdown("restore", "b.duckdb", "--store", "back.duckdb")
    assert (ran.code, ran.out, ran.err) == (0, "", "restored back.duckdb: 2 uploads, 102 generations\n")
    assert holds(Path("back.duckdb")) == holds(store)
    assert report(leakdown, Path("back.duckdb")) == said
    assert (noted(store)[:1], noted(Path("back.duckdb"))[:1]) == (["backup"], ["restore"])
    assert sorted(each.name for each in Path().iterdir()) == ["b.duckdb", "back.duckdb", "s.duckdb"]


def test_a_pipe_carries_a_backup_too(store: Path) -> None:
    with subprocess.Popen([SCRIPT, "backup", "-", "--store", store], stdout=subprocess.PIPE) as written:
        there = [SCRIPT, "restore", "-", "--store", "back.duckdb"]
        subprocess.run(there, stdin=written.stdout, check=True)
    assert written.returncode == 0
    assert holds(Path("back.duckdb")) == holds(store)


class Uploader(threading.Thread):
    """Uploads one run after the other until it is told to end."""

    def __init__(self, service: Service) -> None:
        super().__init__()
        self.service, self.acknowledged, self.over, self.some = (
            service,
            list[str](),
            threading.Event(),
            threading.Event(),
        )

    def run(self) -> None:
        while not self.over.is_set():
            run_id = f"m{len(self.acknowledged)}"
            self.service.upload(*(generation(run_id, at, f"{LEAK} {run_id} {at}") for at in range(OF_ONE)))
            self.acknowledged.append(run_id)
            self.some.set()


def test_a_backup_is_of_one_moment_while_uploads_go_on(leakdown: Leakdown, store: Path) -> None:
    said = report(leakdown, store)
    with served(store) as service:
        uploader = Uploader(service)
        uploader.start()
        assert uploader.some.wait(60)
        acknowledged = [*uploader.acknowledged]
        ran = leakdown("backup", "b.duckdb", "--store", store)
        with ThreadPoolExecutor() as pool:
            both = [*pool.map(service.http.get, ["/v1/backup"] * 2)]
        uploader.over.set()
        uploader.join()
        assert service.beside() - {"b.duckdb"} <= {store.name, f"{store.name}.wal", f"{store.name}.service.json"}
    assert ran.code == 0, ran.err
    assert len(uploader.acknowledged) > len(acknowledged)
    assert [answer.content[8:12] for answer in both] == [b"DUCK"] * 2
    assert leakdown("restore", "b.duckdb", "--store", "back.duckdb").code == 0
    assert report(leakdown, Path("back.duckdb")) == said
    with Store.open(Path("back.duckdb")) as back:
        counted = dict(rows(back, "SELECT run_id, count(*) FROM generations WHERE run_id LIKE 'm%' GROUP BY ALL"))
        sound(back)
        state(back)
    assert counted.keys() >= {*acknowledged}
    assert {*counted.values()} == {OF_ONE}


def _of_a_later_leakdown(path: Path) -> None:
    with duckdb.connect(str(path)) as store:
        store.execute("INSERT INTO migrations VALUES (9999, '9999_later.sql', TIMESTAMP '2030-01-01')")


def _of_another_program(path: Path) -> None:
    path.unlink()
    with duckdb.connect(str(path)) as store:
        store.execute("CREATE TABLE mine (a INTEGER)")


def _empty_duckdb(path: Path) -> None:
    path.unlink()
    duckdb.connect(str(path)).close()


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


BAD = {
    "text": (lambda path: path.write_text("a text\n" * 99), "another kind of file"),
    "nothing": (lambda path: path.write_bytes(b""), "another kind of file"),
    "half of one": (lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]), "is damaged"),
    "one with a flipped bit": (_flipped, "is damaged"),
    "one of a later leakdown": (_of_a_later_leakdown, "newer leakdown"),
    "one of another program": (_of_another_program, "not a leakdown store"),
    "an empty DuckDB file": (_empty_duckdb, "no leakdown store"),
    "a store with its log": (lambda path: path.with_name("b.duckdb.wal").touch(), "leakdown backup FILE"),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), "is a directory"),
    "no file": (lambda path: path.unlink(), "no such file"),
}


@pytest.mark.parametrize(("spoil", "why"), BAD.values(), ids=BAD)
def test_a_bad_backup_replaces_nothing(
    leakdown: Leakdown, store: Path, spoil: Callable[[Path], object], why: str
) -> None:
    backup = Path(shutil.copy(store, "b.duckdb"))
    spoil(backup)
    before = store.read_bytes()
    for target in (store, Path("new.duckdb")):
        ran = leakdown("restore", "b.duckdb", "--store", target, "--force")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran.err
        assert why in ran.err
        assert "b.duckdb" in ran.err
        assert ".restoring" not in ran.err
    assert store.read_bytes() == before
    assert {each.name for each in Path().iterdir()} <= {"s.duckdb", "b.duckdb", "b.duckdb.wal"}


def test_a_store_that_is_there_needs_force(leakdown: Leakdown, store: Path) -> None:
    leakdown("backup", "b.duckdb", "--store", store)
    leakdown("uploads", "delete", "1", "--store", store)
    ran = leakdown("restore", "b.duckdb", "--store", store)
    assert (ran.code, ran.err) == (
        2,
        "leakdown: s.duckdb: there is a store already; --force puts the backup in its place\n",
    )
    assert leakdown("restore", "b.duckdb", "--store", store, "--force").code == 0
    assert len(leakdown("uploads", "list", "--json", "--store", store).json) == 2


def test_a_store_that_is_served_is_not_replaced(leakdown: Leakdown, store: Path) -> None:
    leakdown("backup", "b.duckdb", "--store", store)
    with served(store) as service:
        ran = leakdown("restore", "b.duckdb", "--store", store, "--force")
        assert (
            ran.err == f"leakdown: s.duckdb: served at {service.url}; stop that service, restore, and start it again\n"
        )
    assert ran.code == 2


def test_the_log_of_what_was_replaced_does_not_come_back(leakdown: Leakdown, made: Path, tmp_path: Path) -> None:
    """A crash left all that is in the store in its log, and a service's notice beside it."""
    first, second, third = inputs(tmp_path, 10)
    make(Path("other.duckdb"), first, second, crashed=Path("s.duckdb"))
    assert Path("s.duckdb.wal").stat().st_size > 10_000
    leakdown("backup", "b.duckdb", "--store", made)
    assert leakdown("restore", "b.duckdb", "--store", "s.duckdb", "--force").code == 0
    with Store.open(Path("s.duckdb")) as back, Store.open(Path(shutil.copy(made, "made.duckdb"))) as original:
        assert exported(back) == exported(original)
    assert third.exists()


def test_a_damaged_store_is_replaced(leakdown: Leakdown, store: Path) -> None:
    leakdown("backup", "b.duckdb", "--store", store)
    _flipped(store)
    Path(f"{store}.wal").write_bytes(b"rubbish")
    assert leakdown("restore", "b.duckdb", "--store", store, "--force").code == 0
    assert holds(store)["uploads"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        pytest.param(("s.duckdb",), "this is the store", id="the store itself"),
        pytest.param(("s.duckdb", "--store", "no.duckdb"), "is there already; --force", id="a file that is there"),
        pytest.param(
            ("none/b.duckdb",), "none/b.duckdb: cannot be written (no such file", id="a folder that is not there"
        ),
        pytest.param(("b.duckdb", "--store", "no.duckdb"), "no store here", id="no store"),
    ],
)
def test_a_backup_that_cannot_be_written(leakdown: Leakdown, store: Path, arguments: tuple[str, ...], why: str) -> None:
    before = store.read_bytes()
    ran = leakdown("backup", *arguments) if "--store" in arguments else leakdown("backup", *arguments, "--store", store)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert why in ran.err
    assert store.read_bytes() == before
    assert [each.name for each in Path().iterdir()] == ["s.duckdb"]


def test_a_backup_that_fails_leaves_the_earlier_one(leakdown: Leakdown, store: Path) -> None:
    leakdown("backup", "b.duckdb", "--store", store)
    before = Path("b.duckdb").read_bytes()
    _flipped(store)
    ran = leakdown("backup", "b.duckdb", "--force", "--store", store)
    assert (ran.code, "is damaged" in ran.err, ran.err.count("\n")) == (2, True, 1)
    assert Path("b.duckdb").read_bytes() == before
    assert sorted(each.name for each in Path().iterdir()) == ["b.duckdb", "s.duckdb"]
