"""Isolated code sees nothing but its own, reaches nothing, and takes no more than its limits; the replay goes on."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from analysis.candidates import resolve
from analysis.candidates.accounts import accounts
from analysis.candidates.bringing import bring
from analysis.candidates.isolation import Wanted, boxed
from analysis.candidates.limits import MEGABYTE, Limits
from analysis.detectors import Detector, Failure, Finding, judge_all
from analysis.detectors import detector as ours
from analysis.filters import Filters
from analysis.output import Output
from analysis.replay import Replay, replay
from analysis.replay_markdown import markdown
from ingest.store import Store
from tests.analysis.candidates import bubblewrap
from tests.analysis.stories import said, store_of

pytestmark = bubblewrap.needed
SHORT = Limits(seconds=1.0)
PATIENT = Limits(seconds=60.0)
SPEC = "attacker.py:find"
ABSTRACT = f"@leakdown-test-{os.getpid()}"

REFUSED = {
    "the store": "read {folder}/store.duckdb",
    "its log": "read {folder}/store.duckdb.wal",
    "the notice of a service": "read {folder}/store.duckdb.service.json",
    "what arrives for it": "read {folder}/package/.other.duckdb.arriving-1",
    "an .env beside it": "read {folder}/.env",
    "a log beside it": "read {folder}/log.jsonl",
    "an .env in its package": "read {folder}/package/.env",
    "a store in its package": "read {folder}/package/other.duckdb",
    "a key in the home": "read {home}/.ssh/id_test",
    "the home": "listed {home}",
    "accounts of the machine": "read /etc/passwd",
    "a key in the environment": "environment LEAKDOWN_KEY",
    "a listener": "connect {port}",
    "a socket in its folder": "unix {folder}/socket",
    "a socket in its package": "unix {folder}/package/socket",
    "an abstract socket": f"unix {ABSTRACT}",
    "a name": "name example.org",
    "a datagram": "datagram 192.0.2.1",
    "writing to the home": "write {home}/new",
    "changing itself": "write {folder}/attacker.py",
    "writing to the root": "write /x",
    "writing to the system": "write /usr/x",
    "writing to devices": "write /dev/x",
    "the kernel's settings": "open_to_write /proc/sys/kernel/core_pattern",
    "a signal to who asks": f"signal {os.getpid()}",
    "tracing who asks": f"trace {os.getpid()}",
    "killing its parent": "parent",
    "other processes": "processes {folder}/marker",
    "a namespace of its own": "namespace",
    "a large file": "big_file /tmp",
    "a large file in memory": "big_file /dev/shm",
    "many files": "many_files /tmp",
    "more memory": "memory",
    "a child that stays": "linger {folder}/linger",
}
"""What is tried, and with what."""
ABLE = (
    "the store", "the notice of a service", "an .env beside it", "an .env in its package", "a key in the home",
    "a key in the environment", "a listener", "a socket in its folder", "an abstract socket",
    "writing to the home", "a signal to who asks", "other processes",
)  # fmt: skip
"""What the same code does without isolation: else its refusal would say nothing."""
ENDED = {
    "fork": "crash: ended with more than 128 processes",
    "shared_memory": "crash: ended with more than 1,024 megabytes in all its processes",
    "processor": "timeout: no answer within 1 s",
}
"""What is not refused at once, and how it ends."""


@dataclass(frozen=True)
class Scene:
    """A folder in which people work, with code beside a store; somebody's home; a listener."""

    folder: Path
    home: Path
    port: int
    store: Store
    other: Path

    def tried(self, name: str) -> str:
        """The content of an output that tries it."""
        return REFUSED[name].format(folder=self.folder, home=self.home, port=self.port)

    def asked(self, names: tuple[str, ...], wanted: Wanted) -> dict[str, str | None]:
        """What becomes of each."""
        found = judge_all(
            resolve(SPEC, PATIENT, wanted), [Output(content=self.tried(name), tools=()) for name in names]
        )
        return {name: of.reason if isinstance(of, Finding) else None for name, of in zip(names, found, strict=True)}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """All of it, real; the command runs in the folder."""
    folder, home = tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("home")
    (home / ".ssh").mkdir()
    (folder / "package").mkdir()
    shutil.copy(Path(__file__).with_name("attacker.py"), folder)
    (folder / "package" / "__init__.py").touch()
    beside = ("package/other.duckdb", "package/.other.duckdb.arriving-1")
    secrets = (".env", "store.duckdb.service.json", "package/.env", *beside, home / ".ssh" / "id_test")
    for name in secrets:
        (folder / name).write_text("secret")
    with ExitStack() as opened:
        patched = opened.enter_context(pytest.MonkeyPatch.context())
        patched.chdir(folder)
        patched.setenv("LEAKDOWN_KEY", "secret")
        listening = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        for address in ("socket", "package/socket", ABSTRACT.replace("@", "\0")):
            made = opened.enter_context(socket.socket(socket.AF_UNIX))
            made.bind(address)
            made.listen()
        marked = [sys.executable, "-c", "input()", f"{folder}/marker"]
        other = opened.enter_context(subprocess.Popen(marked, stdin=subprocess.PIPE))
        opened.callback(other.kill)
        history = [said("nothing"), said("fork"), said("read store.duckdb"), said("nothing more")]
        store = opened.enter_context(store_of(folder, history))
        (folder / "store.duckdb.wal").touch()
        yield Scene(folder, home, listening.getsockname()[1], store, folder / "package" / "other.duckdb")


@pytest.fixture(scope="module")
def isolated(scene: Scene) -> dict[str, str | None]:
    """What becomes of each try in a sandbox."""
    return scene.asked(tuple(REFUSED), Wanted("bwrap", (), (scene.store.path, scene.other)))


@pytest.mark.parametrize("name", REFUSED)
def test_each_is_refused(name: str, isolated: dict[str, str | None]) -> None:
    assert (isolated[name] or "nothing").startswith("refused: "), isolated[name]


@pytest.fixture(scope="module")
def free(scene: Scene) -> dict[str, str | None]:
    """The same without one."""
    return scene.asked(ABLE, Wanted("none"))


@pytest.mark.parametrize("name", ABLE)
def test_the_same_code_is_able_to_without_isolation(name: str, free: dict[str, str | None]) -> None:
    assert (free[name] or "nothing").startswith("GOT "), free[name]


def replayed(store: Store, of: Detector) -> dict[str, Any]:
    compared = replay(store, ours("goat@1"), of)
    assert isinstance(compared, Replay)
    return {**compared.as_json(), **accounts(store, "goat@1", of.id, Filters())}


def test_the_replay_goes_on_and_counts_what_it_ended(scene: Scene) -> None:
    of = bring(scene.store, resolve(SPEC, PATIENT, Wanted("bwrap", (), (scene.store.path,))))
    report = replayed(scene.store, of)
    assert (report["candidate_only"], report["neither"], report["errors"]["candidate"]) == (1, 2, 1)
    assert report["disagreements"][0]["candidate"]["reason"].startswith("refused: ")
    assert report["isolation"] == {"baseline": None, "candidate": {"by": "bwrap", "why": None}}
    assert "isolation" not in markdown(report)


@pytest.mark.usefixtures("scene")
@pytest.mark.parametrize("attack", ENDED)
def test_what_takes_too_much_is_ended(attack: str) -> None:
    limits = SHORT if attack == "processor" else PATIENT
    [failure] = judge_all(resolve(SPEC, limits, Wanted("bwrap")), [Output(content=attack, tools=())])
    assert failure == Failure(ENDED[attack])


def test_a_store_among_what_is_installed_is_hidden_too(tmp_path: Path) -> None:
    for name in ("lib/code.so", "lib/kept/s.duckdb", "lib/kept/words"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    wanted = Wanted("bwrap", (), (tmp_path / "lib" / "kept" / "s.duckdb",))
    box = boxed(wanted, Limits(), lambda _: [tmp_path / "lib"])
    assert box.sandbox
    shown = {word for word in box.sandbox.words if word.startswith(str(tmp_path))}
    assert shown == {str(tmp_path / name) for name in ("lib/code.so", "lib/kept/words")}


@pytest.mark.usefixtures("scene")
def test_the_kernel_holds_what_each_process_may_take() -> None:
    limits = Limits(seconds=3.0, start=7.0, processes=11, disk=13 * MEGABYTE)
    asked = [Output(content="limits", tools=()), Output(content="nothing", tools=())]
    found, _ = judge_all(resolve(SPEC, limits, Wanted("bwrap")), asked)
    assert isinstance(found, Finding)
    assert found.reason == f"GOT {[(each, each) for each in (7 + 2 * 3, 11, 13 * MEGABYTE)]}"


def test_what_is_written_stays_in_the_sandbox(scene: Scene) -> None:
    """In /tmp it may write, where this folder seems to stand."""
    paths = (scene.folder / "new", scene.folder / "package" / "new", Path("/tmp/leakdown-new"))  # noqa: S108
    judge_all(resolve(SPEC, PATIENT, Wanted("bwrap")), [Output(content=f"write {path}", tools=()) for path in paths])
    assert not [path for path in paths if path.exists()]


def test_nothing_outlives_the_sandbox(scene: Scene) -> None:
    """A child in a session of its own, which spins."""
    [found] = judge_all(resolve(SPEC, PATIENT, Wanted("bwrap")), [Output(content="linger", tools=())])
    assert isinstance(found, Finding)
    left = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    assert not [each for each in left if str(scene.folder / "attacker.py").encode() in each]
