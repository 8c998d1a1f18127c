"""A store that is damaged, cannot be written, or whose clock jumps: one clear line and exit 2 (HTTP 503), never a
traceback, never a wrong number."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ingest.errors import StoreDamaged
from tests.api.conftest import LEAK, Leakdown, generation, write
from tests.api.service import served
from tests.durability.history import CURRENT, OTHER, inputs, make
from tests.durability.small_disk import Disk, small_disk

COMMANDS = (
    ("rates", "--json"),
    ("replay", "--baseline", OTHER, "--candidate", CURRENT, "--recompute", "--json", "-"),
    ("export", "--jsonl", "-"),
    ("recovery", "--json"),
)
EVERY = 16_384
"""Bytes between the places that are tried."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    first, second, _ = inputs(folder, 30)
    return make(folder / "s.duckdb", first, second)


def answers(leakdown: Leakdown, store: Path) -> list[str]:
    """What the commands say of a store that is whole; without the seconds that they took."""
    return [_figures(leakdown(*command, "--store", store).out) for command in COMMANDS]


def _figures(said: str) -> str:
    return said.partition('"seconds"')[0]


def cut(share: float) -> Callable[[bytes], bytes]:
    """What is left of a file that was cut."""
    return lambda content: content[: int(len(content) * share)]


def flipped(at: int) -> Callable[[bytes], bytes]:
    """A file with one byte turned over."""
    return lambda content: content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        pytest.param(lambda _: b"", "another kind of file", id="nothing in it"),
        pytest.param(lambda _: b"a text\n" * 999, "another kind of file", id="a text"),
        pytest.param(lambda content: bytes(len(content)), "another kind of file", id="zeros"),
        pytest.param(cut(0.001), "is damaged", id="a thousandth"),
        pytest.param(cut(0.5), "is damaged", id="half of it"),
        pytest.param(flipped(3), "is damaged", id="the checksum of the first header"),
        pytest.param(flipped(8), "another kind of file", id="the sign of the format"),
        pytest.param(flipped(4096 + 9), "is damaged", id="the second header"),
        pytest.param(flipped(2 * 4096 + 9), "is damaged", id="the third header"),
    ],
)
def test_a_damaged_store_is_refused_and_left_alone(
    leakdown: Leakdown, made: Path, spoil: Callable[[bytes], bytes], why: str
) -> None:
    store = Path("s.duckdb")
    store.write_bytes(spoil(made.read_bytes()))
    before = store.read_bytes()
    write("more.jsonl", generation("more", 0, LEAK))
    for command in (*COMMANDS, ("ingest", "more.jsonl"), ("backup", "b.duckdb")):
        ran = leakdown(*command, "--store", store)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), (command, ran.err)
        assert why in ran.err, command
        assert ran.err.startswith("leakdown: s.duckdb: "), command
    assert store.read_bytes() == before


@pytest.mark.slow
def test_a_flipped_byte_anywhere_is_noticed_or_was_not_needed(leakdown: Leakdown, made: Path) -> None:
    content, store = made.read_bytes(), Path("s.duckdb")
    right, noticed = answers(leakdown, Path(shutil.copy(made, "whole.duckdb"))), 0
    places = range(3 * 4096 + 11, len(content), EVERY)
    for at in places:
        for command, expected in zip(COMMANDS, right, strict=True):
            Path("s.duckdb.wal").unlink(missing_ok=True)
            store.write_bytes(flipped(at)(content))
            ran = leakdown(*command, "--store", store)
            if ran.code:
                assert (ran.code, ran.err.count("\n"), "is damaged" in ran.err) == (2, 1, True), (at, ran.err)
                noticed += 1
            else:
                assert _figures(ran.out) == expected, at
    print(f"{len(places)} places, {noticed} of {len(places) * len(COMMANDS)} calls noticed it")
    assert noticed > len(places) // 4


def test_a_flipped_byte_in_the_middle_is_noticed_or_was_not_needed(leakdown: Leakdown, made: Path) -> None:
    content, store = made.read_bytes(), Path("s.duckdb")
    right, noticed = answers(leakdown, Path(shutil.copy(made, "whole.duckdb"))), 0
    for part in range(1, 12):
        store.write_bytes(flipped(len(content) * part // 12)(content))
        ran = leakdown(*COMMANDS[0], "--store", store)
        noticed += ran.code
        assert (ran.code == 2 and "is damaged" in ran.err) or _figures(ran.out) == right[0]
    assert noticed


def test_a_service_says_503_of_a_damaged_block(made: Path, tmp_path: Path) -> None:
    content = made.read_bytes()
    said = list[int]()
    for part in range(1, 8):
        store = tmp_path / f"{part}.duckdb"
        store.write_bytes(flipped(len(content) * part // 8)(content))
        with suppress(StoreDamaged), served(store) as service:  # the very opening may find it
            answer = service.http.get("/v1/export.jsonl")
            said.append(answer.status_code)
            assert answer.status_code == 200 or "is damaged" in answer.json()["detail"]
    assert 503 in said
    assert {*said} <= {200, 503}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk") as small:
        yield small


@pytest.mark.parametrize(
    "command", [*COMMANDS, ("ingest", "more.jsonl"), ("uploads", "delete", "1"), ("serve", "--port", "0")]
)
def test_a_read_only_disk_is_one_clear_line(
    leakdown: Leakdown, made: Path, disk: Disk, command: tuple[str, ...]
) -> None:
    store = Path(shutil.copy(made, disk.path / "s.duckdb"))
    write("more.jsonl", generation("more", 0, LEAK))
    subprocess.run(["mount", "-o", "remount,ro", disk.path], check=True)
    for path in (store, *([disk.path / "new.duckdb"] if command[0] == "ingest" else [])):
        ran = leakdown(*command, "--store", path)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert ran.err.startswith(f"leakdown: {path}: cannot be written (")
        assert "Read-only file system" in ran.err
