"""A `kill -9` at any moment of any command: what was acknowledged is there, the rest is there or not, whole; the store
opens at once, and the same command again gives what a store has that was never killed.

The moment is drawn over the measured length of the command, from a seed that a failure names.
"""

import io
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from api.cli import run
from ingest.store import Store
from tests.durability.history import NEVER, OTHER, inputs, make
from tests.durability.old_stores import make_old
from tests.durability.soundness import State, sound, state

ROOT = Path(__file__).parents[2]
STORE = "leakdown.duckdb"
SHORT, LONG = 40, 300
"""Runs of the history: the longer one makes commands that take longer."""
KILLS = 17
"""Of each command in the long form: with those of the service some 200."""
PATIENCE = 30.0
"""Seconds; a store that does not open has failed by then. What it takes is printed."""
GIVEN = {STORE, "third.jsonl", "earlier.duckdb", "backup.duckdb"}
_REPLAY = ("replay", "--baseline", OTHER, "--candidate", NEVER, "--json", "-")


@dataclass(frozen=True, slots=True)
class Operation:
    """A command, and what is done to its folder before it."""

    arguments: tuple[str, ...]
    prepare: Callable[[Path, Path], object] = lambda _, __: None


def _no_store(folder: Path, _: Path) -> None:
    (folder / STORE).unlink()


def _first_schema(folder: Path, made: Path) -> None:
    (folder / STORE).unlink()
    make_old(folder / STORE, 1, made / STORE)


def _with_a_log(folder: Path, made: Path) -> None:
    """As a crash leaves it: all in the log, nothing in the file yet."""
    for name in (STORE, f"{STORE}.wal"):
        shutil.copy(made / f"crashed.{name}", folder / name)


OPERATIONS = {
    "ingest": Operation(("ingest", "third.jsonl")),
    "the first ingest": Operation(("ingest", "third.jsonl"), _no_store),
    "deletion": Operation(("uploads", "delete", "1")),
    "correction": Operation(("uploads", "set", "1", "engine=e9")),
    "promotion": Operation(("detectors", "promote", OTHER)),
    "replay": Operation(_REPLAY),
    "replay anew": Operation((*_REPLAY, "--recompute")),
    "migration": Operation(("rates",), _first_schema),
    "reading a log and writing it into the file": Operation(("uploads", "list"), _with_a_log),
    "backup": Operation(("backup", "backup.duckdb")),
    "restoring": Operation(("restore", "earlier.duckdb", "--force")),
}


@dataclass(frozen=True, slots=True)
class Told:
    """How a command went in a store that was never killed: its length in seconds, the states before and after it."""

    seconds: float
    after: State
    before: State | None

    def allows(self, found: State, *, acknowledged: bool) -> bool:
        """Whether a killed command may leave this: all of it, or none of it unless it was acknowledged."""
        if found == self.after:
            return True
        return not acknowledged and (found == self.before if self.before else not found.uploads)


class Kills:
    """A history of so many runs, in copies of which commands are killed."""

    def __init__(self, folder: Path, runs: int, *, again: bool) -> None:
        """`again`: a killed command is given once more, and what that leaves is looked at too."""
        self._folder, self._made, self._again = folder, folder / "made", again
        self._made.mkdir()
        first, second, _ = inputs(self._made, runs)
        make(self._made / STORE, first, second, crashed=self._made / f"crashed.{STORE}")
        make(self._made / "earlier.duckdb", first)
        self._told: dict[str, Told] = {}

    def told(self, name: str) -> Told:
        """How the command goes that nobody kills."""
        if name not in self._told:
            self._told[name] = Told(*self._unkilled(name), self._before(name))
        return self._told[name]

    def _before(self, name: str) -> State | None:
        with self.copy(name) as folder:
            return _state(folder) if (folder / STORE).exists() else None

    def _unkilled(self, name: str) -> tuple[float, State]:
        with self.copy(name) as folder:
            began = time.monotonic()
            assert _run(OPERATIONS[name], folder) == 0
            return time.monotonic() - began, _state(folder)

    def kill(self, name: str, seed: int) -> float:
        """Kill a command at a moment of its length, look at what is left, and give it again; the seconds that opening
        took."""
        told, throw = self.told(name), random.Random(f"{name} {seed}")  # noqa: S311 - no cryptography
        moment = throw.uniform(0, told.seconds)
        with self.copy(name) as folder:
            with _begun(OPERATIONS[name], folder) as command:
                time.sleep(moment)
                command.send_signal(signal.SIGKILL)
                acknowledged = _acknowledged(command)
            print(f"seed {seed}: killed after {moment:.3f} of {told.seconds:.3f} s, acknowledged: {acknowledged}")
            opening = _opening(folder / STORE)
            if (folder / STORE).exists():
                assert told.allows(_state(folder, check=True), acknowledged=acknowledged)
            if self._again:
                assert _run(OPERATIONS[name], folder) in (0, 2 if name == "deletion" else 0)
                assert _state(folder, check=True) == told.after
                assert {each.name for each in folder.iterdir()} - GIVEN == set()
        return opening

    @contextmanager
    def copy(self, name: str) -> Iterator[Path]:
        """A folder with a store to kill."""
        folder = self._folder / name.replace(" ", "-")
        folder.mkdir()
        for given in (STORE, "third.jsonl", "earlier.duckdb"):
            shutil.copy(self._made / given, folder / given)
        OPERATIONS[name].prepare(folder, self._made)
        yield folder
        shutil.rmtree(folder)


@contextmanager
def _begun(operation: Operation, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """The command, at its very beginning."""
    driver = [sys.executable, "-m", "tests.durability.driver", str(folder), *operation.arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(driver, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as command:
        assert command.stdin
        assert command.stdout
        assert command.stdout.readline() == "ready\n"
        command.stdin.write("\n")
        command.stdin.flush()
        yield command


def _acknowledged(command: "subprocess.Popen[str]") -> bool:
    """Whether a command that has ended said so before: its last line."""
    out, _ = command.communicate()
    return out.endswith("acknowledged 0\n")


def _opening(store: Path) -> float:
    """The seconds that it takes to open what is left."""
    began = time.monotonic()
    if store.exists():
        Store.open(store).close()
    return time.monotonic() - began


def _state(folder: Path, *, check: bool = False) -> State:
    with Store.open(folder / STORE) as store:
        if check:
            sound(store)
        return state(store)


def _run(operation: Operation, folder: Path) -> int:
    """The exit code of the command, in this process."""
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        return run([*operation.arguments])


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Kills:
    return Kills(tmp_path_factory.mktemp("short"), SHORT, again=False)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_killed_command_leaves_all_or_nothing(short: Kills, name: str) -> None:
    assert short.kill(name, seed=1) < PATIENCE


LOADED = """
import os, signal, sys
from pathlib import Path
from api.backend import LocalBackend
from api.uploads import Given
from ingest.files.containers import Source
from ingest.store import Store

store, file, stage = *map(Path, sys.argv[1:3]), sys.argv[3]
opened = Store.open(store)
LocalBackend(opened).uploads.ingest(Source(file, file.name), Given())
try:
    with opened.writing() as cursor:
        cursor.execute(f"SET debug_checkpoint_abort = '{stage}'")
        if stage != "none":
            cursor.execute("CHECKPOINT")
finally:
    os.kill(os.getpid(), signal.SIGKILL)
"""
"""An upload, then as much of a checkpoint as `stage` lets happen, then the end: DuckDB's own setting for such tests."""


@pytest.mark.parametrize(
    "stage",
    [
        pytest.param("none", id="between commit and acknowledgement"),
        pytest.param("before_header", id="in a checkpoint, before its header is written"),
        pytest.param("before_wal_finish", id="in a checkpoint, before the log is cleared"),
    ],
)
def test_a_kill_after_the_commit_keeps_all(short: Kills, stage: str) -> None:
    after = short.told("ingest").after
    with short.copy("ingest") as folder:
        arguments = [str(folder / STORE), str(folder / "third.jsonl"), stage]
        assert subprocess.run([sys.executable, "-c", LOADED, *arguments], cwd=ROOT).returncode == -signal.SIGKILL
        assert (folder / f"{STORE}.wal").exists()
        assert _state(folder, check=True) == after


@pytest.mark.slow
def test_two_hundred_kills(tmp_path: Path) -> None:
    kills = Kills(tmp_path, LONG, again=True)
    opened = [kills.kill(name, seed) for name in OPERATIONS for seed in range(KILLS)]
    print(f"{len(opened)} kills; opening took {median(opened):.2f} s in the middle, {max(opened):.2f} s at most")
    assert max(opened) < PATIENCE
