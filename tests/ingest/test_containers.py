"""Files, folders, globs and standard input come in as numbered, bounded byte lines."""

import bz2
import gzip
import io
import lzma
import os
import sqlite3
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from ingest.errors import InputError, UnreadableInput
from ingest.files import compression
from ingest.files.containers import MEBIBYTE, STDIN, RawLine, Source, expand, read_lines

Pack = Callable[[bytes], bytes]
as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def lines_of(data: bytes, *, limit: int = 64 * MEBIBYTE) -> list[RawLine]:
    return list(read_lines(STDIN, stdin=io.BytesIO(data), limit=limit))


def lines_in(path: Path, data: bytes) -> list[RawLine]:
    path.write_bytes(data)
    return list(read_lines(Source(path, path.name)))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", [], id="an empty file has no lines"),
        pytest.param(b"\xef\xbb\xbf", [], id="a byte order mark alone is an empty file"),
        pytest.param(b"a\nb\n", [b"a", b"b"], id="a trailing newline makes no line"),
        pytest.param(b"a\nb", [b"a", b"b"], id="the last line needs no newline"),
        pytest.param(b"a\n\nb\n", [b"a", b"", b"b"], id="a blank line is a line"),
        pytest.param(b"a\r\nb\r\n", [b"a", b"b"], id="CRLF ends a line"),
        pytest.param(b"a\rb\n", [b"a\rb"], id="CR alone ends none"),
        pytest.param(b"\xef\xbb\xbfa\nb\n", [b"a", b"b"], id="a byte order mark at the start is dropped"),
        pytest.param(b"a\n\xef\xbb\xbfb\n", [b"a", b"\xef\xbb\xbfb"], id="a later one stays"),
        pytest.param('"\u2028"\n"\x85\x0b\x0c"'.encode(), ['"\u2028"'.encode(), '"\x85\x0b\x0c"'.encode()],
                     id="U+2028, U+0085, VT and FF end no line"),
        pytest.param(b"x" * 600 + b"\ny", [b"x" * 600, b"y"], id="longer than the bytes that tell what it is"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(bytes, id="plain"),
        pytest.param(gzip.compress, id="gzip"),
        pytest.param(zstd, id="zstd"),
    ],
)
def test_lines_end_at_newlines_alone(data: bytes, expected: list[bytes], pack: Pack, tmp_path: Path) -> None:
    numbered = [RawLine(number, line) for number, line in enumerate(expected, 1)]
    assert lines_of(pack(data)) == numbered
    assert lines_in(tmp_path / "log", pack(data)) == numbered


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(gzip.compress(b"a\nb") + gzip.compress(b"c\n"), id="gzip members"),
        pytest.param(gzip.compress(b"a\nb") + gzip.compress(b"") + gzip.compress(b"c\n"), id="an empty member"),
        pytest.param(gzip.compress(b"a\nbc\n") + b"\0" * 9000, id="gzip padded with zeros, as on a tape"),
        pytest.param(zstd(b"a\nb") + zstd(b"c\n"), id="zstd frames"),
        pytest.param(b"\x50\x2a\x4d\x18\x02\0\0\0ab" + zstd(b"a\nbc\n"), id="a skippable zstd frame first"),
    ],
)
def test_all_members_and_frames_are_read(packed: bytes) -> None:
    assert lines_of(packed) == [RawLine(1, b"a"), RawLine(2, b"bc")]


def test_compression_is_known_by_content_not_by_name(tmp_path: Path) -> None:
    assert lines_in(tmp_path / "log.jsonl", gzip.compress(b"{}\n")) == [RawLine(1, b"{}")]
    assert lines_in(tmp_path / "log.gz", b"{}\n") == [RawLine(1, b"{}")]


NUMBERS = b"".join(b'{"n":%d,"x":"%d"}\n' % (n, n * n * 7919 % 100_003) for n in range(5000))


@pytest.mark.parametrize("pack", [pytest.param(gzip.compress, id="gzip"), pytest.param(zstd, id="zstd")])
@pytest.mark.parametrize("kept", [0.99, 0.5, 0.01])
def test_a_cut_stream_gives_the_lines_before_the_cut_and_one_fault(pack: Pack, kept: float) -> None:
    packed = pack(NUMBERS)
    lines = lines_of(packed[: int(len(packed) * kept)])
    good, broken = lines[:-1], lines[-1]
    assert [line.data for line in good] == NUMBERS.split(b"\n")[: len(good)]
    assert all(line.fault is None for line in good)
    assert broken.fault is not None
    assert "ends early" in broken.fault
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))


@pytest.mark.parametrize(
    ("packed", "good"),
    [
        pytest.param(gzip.compress(b"a\nb\n") + b"garbage", [b"a", b"b"], id="garbage after gzip"),
        pytest.param(zstd(b"a\nb\n") + b"garbage", [b"a", b"b"], id="garbage after zstd"),
        pytest.param(gzip.compress(b"a\nb\n")[:-8] + b"\1\2\3\4\4\0\0\0", [b"a", b"b"], id="a wrong checksum"),
        pytest.param(b"\x1f\x8bnonsense", [], id="gzip by its magic only"),
        pytest.param(b"\x28\xb5\x2f\xfdnonsense", [], id="zstd by its magic only"),
    ],
)
def test_a_corrupt_stream_gives_the_lines_before_the_damage_and_one_fault(packed: bytes, good: list[bytes]) -> None:
    *before, broken = lines_of(packed)
    assert [line.data for line in before] == good
    assert broken.fault is not None
    assert "corrupt" in broken.fault
    assert "\n" not in broken.fault


def test_the_lines_of_a_small_file_survive_damage_at_its_end() -> None:
    packed = bytearray(gzip.compress(NUMBERS))
    packed[-200] ^= 0xFF
    lines = lines_of(bytes(packed))
    assert len(lines) > 4500
    assert [line.data for line in lines[:4500]] == NUMBERS.split(b"\n")[:4500]
    assert lines[-1].fault is not None


def test_a_line_at_the_limit_is_read_and_one_beyond_it_is_passed_over() -> None:
    data = b"x" * 1000 + b"\n" + b"y" * 1001 + b"\n" + b"z\n"
    assert lines_of(data, limit=1000) == [
        RawLine(1, b"x" * 1000),
        RawLine(2, b"y" * 800, "longer than 1,000 bytes"),
        RawLine(3, b"z"),
    ]


def test_a_last_line_beyond_the_limit_has_its_fault_too() -> None:
    assert lines_of(b"a\n" + b"y" * 5000, limit=1000)[1] == RawLine(2, b"y" * 800, "longer than 1,000 bytes")


@pytest.mark.parametrize("pack", [pytest.param(bytes, id="plain"), pytest.param(gzip.compress, id="gzip")])
def test_memory_stays_bounded_on_an_overlong_line(pack: Pack, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(pack(b"{}\n" + os.urandom(16).hex().encode() * MEBIBYTE + b"\n{}\n"))
    tracemalloc.start()
    try:
        lines = list(read_lines(Source(path, "log"), limit=8 * MEBIBYTE))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [line.fault for line in lines] == [None, "longer than 8 MiB", None]
    assert peak < 24 * MEBIBYTE


def test_a_line_of_twenty_megabytes_is_read_and_one_of_a_hundred_is_not(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as log:
        log.write(b"x" * (20 * 10**6) + b"\n")
        for _ in range(100):
            log.write(b"y" * 10**6)
        log.write(b"\n{}\n")
    lines = list(read_lines(Source(path, "log")))
    assert [(line.number, len(line.data), line.fault) for line in lines] == [
        (1, 20 * 10**6, None),
        (2, 800, "longer than 64 MiB"),
        (3, 2, None),
    ]


@pytest.mark.parametrize("pack", [pytest.param(gzip.compress, id="gzip"), pytest.param(zstd, id="zstd")])
def test_a_decompression_bomb_is_refused(pack: Pack) -> None:
    bomb = pack(b"\0" * (compression.RATIO_FREE + MEBIBYTE))
    with pytest.raises(InputError, match="1000-fold, like a bomb"):
        lines_of(bomb)


def test_a_short_run_of_one_letter_is_no_bomb() -> None:
    assert lines_of(zstd(b"x" * (8 * MEBIBYTE)))[0].fault is None


def test_a_stream_beyond_the_total_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "TOTAL_LIMIT", 10_000)
    with pytest.raises(InputError, match="standard input: unfolds to more than"):
        lines_of(gzip.compress(NUMBERS))


def an_archive(folder: Path, kind: str) -> Path:
    path, member = folder / "it", folder / "member"
    member.write_bytes(b"{}\n")
    match kind:
        case "zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.write(member)
        case "tar" | "tar.gz":
            with tarfile.open(path, "w:gz" if kind == "tar.gz" else "w") as tar:
                tar.add(member, "member")
        case "Parquet":
            parquet.write_table(pa.table({"a": [1]}), path)
        case "SQLite":
            with sqlite3.connect(path) as database:
                database.execute("CREATE TABLE t (a)")
            database.close()
        case "xz":
            path.write_bytes(lzma.compress(b"{}"))
        case "bzip2":
            path.write_bytes(bz2.compress(b"{}"))
    return path


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        pytest.param("zip", "an archive within another", id="zip"),
        pytest.param("tar", "an archive within another", id="tar"),
        pytest.param("Parquet", "a Parquet file, which is not read yet", id="Parquet"),
        pytest.param("SQLite", "an SQLite database, which is not read; export", id="SQLite"),
        pytest.param("xz", "decompress it .unxz", id="xz"),
        pytest.param("bzip2", "decompress it .bunzip2", id="bzip2"),
    ],
)
def test_what_is_no_text_is_named_and_refused(kind: str, why: str, tmp_path: Path) -> None:
    path = an_archive(tmp_path, kind)
    with pytest.raises(InputError, match=f"it: .*{why}"):
        list(read_lines(Source(path, "it")))


def test_what_is_compressed_twice_is_refused() -> None:
    with pytest.raises(InputError, match="compressed twice"):
        lines_of(zstd(gzip.compress(b"{}")))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_with_what_to_do(encoding: str) -> None:
    with pytest.raises(UnreadableInput, match="UTF-16 text; convert it to UTF-8"):
        lines_of("\ufeff{}\n".encode(encoding))


def test_a_file_that_vanished_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="gone: no such file or folder; check the path"):
        list(read_lines(Source(tmp_path / "gone", "gone")))


def test_a_pipe_is_read_from_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"read before\nrest\n")
    with (tmp_path / "log").open("rb") as stream:
        stream.readline()
        assert list(read_lines(STDIN, stdin=stream)) == [RawLine(1, b"rest")]
    reader, writer = os.pipe()
    os.write(writer, b"a\nb")
    os.close(writer)
    with open(reader, "rb") as stream:  # noqa: PTH123 - a descriptor, not a path
        assert list(read_lines(STDIN, stdin=stream)) == [RawLine(1, b"a"), RawLine(2, b"b")]


@given(st.binary(max_size=3000), st.integers(1, 50))
@settings(deadline=None)
def test_any_bytes_come_in_whole_and_numbered(data: bytes, limit: int) -> None:
    try:
        lines = lines_of(data)
    except InputError:
        return
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    if all(line.fault is None for line in lines):
        joined = b"\n".join(line.data for line in lines)
        expected = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").removesuffix(b"\n")
        assert joined == expected
    assert len(lines_of(data, limit=limit)) == len(lines)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("b.jsonl", "a.jsonl", "deep/er/c.jsonl", ".hidden", ".git/config", "deep/.d"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd[1].jsonl").write_bytes(b"{}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        pytest.param(["b.jsonl", "a.jsonl"], ["b.jsonl", "a.jsonl"], id="files in their order"),
        pytest.param(["."], ["a.jsonl", "b.jsonl", "deep/er/c.jsonl", "odd[1].jsonl"], id="a folder, at any depth"),
        pytest.param(["deep"], ["deep/er/c.jsonl"], id="no dot files"),
        pytest.param([".git"], [".git/config"], id="a dot folder that is named"),
        pytest.param(["?.jsonl"], ["a.jsonl", "b.jsonl"], id="a pattern"),
        pytest.param(["**/c.jsonl"], ["deep/er/c.jsonl"], id="a pattern at any depth"),
        pytest.param(["odd[1].jsonl"], ["odd[1].jsonl"], id="a name that looks like a pattern"),
        pytest.param(["-", "a.jsonl"], ["standard input", "a.jsonl"], id="standard input"),
        pytest.param(["a.jsonl", "?.jsonl", "-", "-"], ["a.jsonl", "b.jsonl", "standard input"], id="each once"),
        pytest.param([], [], id="nothing"),
    ],
)
@pytest.mark.usefixtures("tree")
def test_arguments_name_inputs(arguments: list[str], names: list[str]) -> None:
    assert [source.name for source in expand(arguments)] == names


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        pytest.param("gone.jsonl", "gone.jsonl: no such file or folder; check the path", id="a missing file"),
        pytest.param("*.csv", "*.csv: the pattern matches nothing", id="a pattern that matches nothing"),
        pytest.param("empty", "empty: a folder without files", id="an empty folder"),
        pytest.param("/dev/zero", "/dev/zero: a device or socket", id="a device"),
        pytest.param("a.jsonl/b", "a.jsonl/b: cannot be read", id="a file that is taken for a folder"),
        pytest.param("x" * 5000, "x: cannot be read", id="a name that no system takes"),
    ],
)
@pytest.mark.usefixtures("tree")
def test_an_argument_that_gives_nothing_is_refused_in_one_line(argument: str, message: str) -> None:
    with pytest.raises(UnreadableInput) as refusal:
        expand([argument])
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


@as_root
@pytest.mark.parametrize("name", ["a.jsonl", "deep"])
def test_what_may_not_be_read_is_refused(name: str, tree: Path) -> None:
    (tree / name).chmod(0)
    try:
        with pytest.raises(UnreadableInput, match=f"{name}: no permission"):
            expand([name])
    finally:
        (tree / name).chmod(0o700)
