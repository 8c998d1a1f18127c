"""Records come out of every framing and every container, numbered, and what is broken is told."""

import gzip
import io
import json
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.batch import Batch
from ingest.batches import read
from ingest.errors import InputError, LeakdownError, UnknownFormat
from ingest.files import archives
from ingest.files.containers import Source
from ingest.files.contents import content
from ingest.files.framing import records
from ingest.files.segments import number_of
from ingest.formats import Line, Quarantined
from tests.ingest.loading import generation

A, B = {"a": 1}, {"b": [2, {"c": "x\ny"}]}
PRETTY = json.dumps(B, indent=2)


def framed(data: bytes, limit: int = 1 << 20) -> list[Any]:
    """The values of the records in `data`, and the faults among them as texts."""
    found = list(records(content("it", io.BytesIO(data)), limit))
    assert len({number_of(each) for each in found}) == len(found)
    return [each.value if isinstance(each, Line) else each.why for each in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"a":1}\n{"a":1}\n', [A, A], id="lines"),
        pytest.param('{"a":1}', [A], id="one line"),
        pytest.param(PRETTY, [B], id="a document"),
        pytest.param(f"{PRETTY}\n{PRETTY}", [B, B], id="documents back to back"),
        pytest.param(f"{PRETTY}{PRETTY} 1 2", [B, B, 1, 2], id="back to back without a line between"),
        pytest.param(json.dumps([A, B]), [A, B], id="an array in one line"),
        pytest.param(json.dumps([A, B], indent=1), [A, B], id="an array over lines"),
        pytest.param("[\n]", [], id="an empty array"),
        pytest.param(f"[1,\n2]\n{PRETTY}", [1, 2, B], id="an array, then a document"),
        pytest.param('data: {"a":1}\n\n: comment\nevent: x\ndata: {"a":1}\n\ndata: [DONE]\n\n', [A, A], id="events"),
        pytest.param('event: e\ndata: {"a":\ndata: 1}', [A], id="an event over two lines, without an end"),
        pytest.param('[2026-01-01 00:00:00] {"a":1}\n[2026-01-01 00:00:01] {"a":1}\n', [A, A], id="a time before"),
        pytest.param('2026-01-01T00:00:00Z stdout F {"a":1}\n', [A], id="as Kubernetes logs"),
        pytest.param('INFO srv: {"a":1}\n', [A], id="a level before"),
        pytest.param('{"log":"{\\"a\\":1}\\n","stream":"stdout","time":"t"}\n', [A], id="as Docker logs"),
        pytest.param('oops\n{"a":1}\n', ["not JSON: expected value at byte 1", A], id="a broken first line"),
        pytest.param(
            '{"a":\n{"a":1}\n', ["ends in the middle of a JSON value (a cut copy?)", A], id="a cut first line"
        ),
        pytest.param('{\n "a": 1,\n "b"', [A, "ends in the middle of a JSON value (a cut copy?)"], id="a cut document"),
        pytest.param('[{"a":1},\n{"a"', [A, "ends in the middle of a JSON value (a cut copy?)"], id="a cut array"),
        pytest.param('{\n "a" 1\n}\n{"a":1}', None, id="a broken document, and one after it"),
    ],
)
@pytest.mark.parametrize("pack", [pytest.param(bytes, id="plain"), pytest.param(gzip.compress, id="gzip")])
def test_a_framing_gives_its_records(text: str, expected: list[Any] | None, pack: Any) -> None:
    found = framed(pack(text.encode()))
    if expected is None:
        assert found[-1] == A
        assert isinstance(found[0], str)
    else:
        assert found == expected


def test_the_bytes_of_a_cut_document_are_those_of_what_was_read() -> None:
    """A format that keeps bytes instead of values must get the same record from them."""
    first, _ = records(content("it", io.BytesIO(b'{\n "a": 1,\n "b"')))
    assert isinstance(first, Line)
    assert json.loads(first.raw) == first.value == A


def test_a_value_beyond_the_limit_is_told_and_the_next_one_read() -> None:
    found = framed(b'{\n"a": "' + b"x" * (3 << 20) + b'"\n}\n{\n"a": 1\n}', limit=1 << 20)
    assert found == ["longer than 1 MiB", A]


def test_deep_nesting_is_told_in_any_framing() -> None:
    deep = b'{"a":' * 10_000
    assert framed(b"[\n" + deep + b"]")[0].startswith(("nested deeper", "ends in the middle"))
    assert framed(deep + b"}" * 10_000) == ["nested deeper than 200 levels"]


@given(st.lists(st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=6), min_size=1), st.booleans())
@settings(deadline=None)
def test_arrays_and_documents_come_back_whole(values: list[Any], pretty: bool) -> None:
    text = json.dumps(values, indent=2 if pretty else None)
    assert framed(text.encode()) == values
    objects = [{"v": value} for value in values]
    assert framed("\n".join(json.dumps(each, indent=2) for each in objects).encode()) == objects


@given(st.binary(max_size=400) | st.text(alphabet='{}[]":,\n ab1\\', max_size=200).map(str.encode))
@settings(deadline=None, max_examples=400)
def test_any_bytes_are_answered(data: bytes) -> None:
    try:
        framed(data, limit=64)
    except InputError as refusal:
        assert "\n" not in str(refusal)  # noqa: PT017 - a refusal may come


GENERATION = json.dumps(generation(generation_id="g1")).encode()
OTHER = json.dumps(generation(generation_id="g2", content="y")).encode()


def zipped(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tarred(path: Path, members: dict[str, bytes], mode: Any) -> Path:
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def zstd_zip(path: Path, data: bytes) -> Path:
    """A zip whose member is packed by method 93, which zipfile writes only from 3.14 on: made of a stored one."""
    packed = zstandard.ZstdCompressor().compress(data)
    zipped(path, {"a.jsonl": packed}, zipfile.ZIP_STORED)
    raw = bytearray(path.read_bytes())
    for at, crc in ((0, 14), (raw.index(b"PK\x01\x02"), 16)):
        method = at + crc - 6
        raw[method : method + 2] = (93).to_bytes(2, "little")
        raw[at + crc : at + crc + 4] = zlib.crc32(data).to_bytes(4, "little")
    path.write_bytes(raw)
    return path


def batches(path: Path) -> list[Batch]:
    return list(read(Source(path, path.name)).batches)


def ids(path: Path) -> list[str | None]:
    return [each.entry.generation_id for batch in batches(path) for each in batch.generations]


TWO = {"b/two.jsonl": OTHER, "one.jsonl": GENERATION + b"\n", "b/": b"", ".hidden": b"{", "__MACOSX/x": b"{"}


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda path: zipped(path, TWO), id="zip"),
        pytest.param(lambda path: zipped(path, TWO, zipfile.ZIP_STORED), id="zip, stored"),
        pytest.param(lambda path: tarred(path, TWO, "w"), id="tar"),
        pytest.param(lambda path: tarred(path, TWO, "w:gz"), id="tar.gz"),
    ],
)
def test_the_files_of_an_archive_are_one_upload(make: Any, tmp_path: Path) -> None:
    path = make(tmp_path / "it")
    assert ids(path) == ["g1", "g2"]
    assert [each.entry.line for batch in batches(path) for each in batch.generations] == [1, 2]


def test_a_member_packed_with_zstd_is_read(tmp_path: Path) -> None:
    assert ids(zstd_zip(tmp_path / "it.zip", GENERATION)) == ["g1"]


def test_compressed_members_are_decompressed_once(tmp_path: Path) -> None:
    assert ids(zipped(tmp_path / "it.zip", {"a.jsonl.gz": gzip.compress(GENERATION)})) == ["g1"]


def test_what_is_not_understood_in_an_archive_is_listed_and_the_rest_read(tmp_path: Path) -> None:
    path = zipped(tmp_path / "it.zip", {"a.jsonl": GENERATION, "notes.txt": b"hello", "x.png": b"\x89PNG"})
    (batch,) = batches(path)
    assert [each.entry.generation_id for each in batch.generations] == ["g1"]
    assert [item.why for item in batch.quarantined][1] == "it.zip/x.png: a picture; leakdown reads logs"
    assert batch.quarantined[0].why.startswith("it.zip/notes.txt:1: not JSON")
    assert batch.lines == 3


@pytest.mark.parametrize(
    ("members", "why"),
    [
        pytest.param({"../../etc/passwd": GENERATION}, "points outside of it", id="a name that climbs"),
        pytest.param({"/etc/passwd": GENERATION}, "points outside of it", id="an absolute name"),
        pytest.param({"a\\..\\b": GENERATION}, "points outside of it", id="a name that climbs on Windows"),
        pytest.param({"archive/data.pkl": b"\x80\x02}q"}, "PyTorch checkpoint", id="a checkpoint"),
        pytest.param({".a": b"{}"}, "an archive without files to read", id="only hidden files"),
        pytest.param({"a": b"hello", "b": b"hello"}, "none of its 2 files was understood", id="nothing understood"),
        pytest.param({"a.zip": b"PK\x03\x04"}, "an archive within another", id="an archive in it"),
    ],
)
def test_an_archive_that_cannot_be_taken_is_refused_in_one_line(
    members: dict[str, bytes], why: str, tmp_path: Path
) -> None:
    with pytest.raises(LeakdownError, match=why) as refusal:
        batches(zipped(tmp_path / "it.zip", members))
    assert str(refusal.value).startswith("it.zip")
    assert "\n" not in str(refusal.value)


def test_a_member_without_a_name_is_refused(tmp_path: Path) -> None:
    """A zip whose directory names it so: its name there begins with a NUL."""
    path = zipped(tmp_path / "it.zip", {"ab": GENERATION})
    before, directory, after = path.read_bytes().rpartition(b"PK\x01\x02")
    path.write_bytes(before + directory + after.replace(b"ab", b"\0b", 1))
    with pytest.raises(LeakdownError, match=r"it\.zip: holds a member without a name"):
        batches(path)


def test_a_zip_of_too_many_names_is_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "DIRECTORY_LIMIT", 50)
    with pytest.raises(InputError, match="a directory of more than 32 MiB; pack fewer files"):
        batches(zipped(tmp_path / "it.zip", {"a": GENERATION, "b": GENERATION}))


def test_a_bomb_in_an_archive_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "it.zip", {"a": b"\0" * (80 << 20)})
    with pytest.raises(InputError, match="1000-fold, like a bomb"):
        batches(path)


def test_damage_in_a_member_is_told(tmp_path: Path) -> None:
    path = zipped(tmp_path / "it.zip", {"a.jsonl": GENERATION + b"\n"}, zipfile.ZIP_STORED)
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b'"content": "x"', b'"content": "z"'))
    (batch,) = batches(path)
    assert len(batch.generations) == 1
    assert "checksum" in batch.quarantined[0].why


@pytest.mark.parametrize("kept", [0.2, 0.6, 0.95])
def test_a_cut_archive_is_refused_or_read_in_part(kept: float, tmp_path: Path) -> None:
    path = zipped(tmp_path / "it.zip", {f"{n}.jsonl": GENERATION * 20 for n in range(9)})
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(InputError, match=r"it.zip: a .*zip archive"):
        batches(path)


def test_the_list_in_an_object_is_unfolded(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    path.write_text(json.dumps({"count": 2, "rows": [json.loads(GENERATION), json.loads(OTHER)]}))
    assert ids(path) == ["g1", "g2"]


def test_what_holds_no_text_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "it.jsonl"
    path.write_text('{"resourceMetrics": []}\n')
    with pytest.raises(UnknownFormat, match=r"it\.jsonl: OTLP metrics: they hold no text"):
        batches(path)
    path.write_bytes(b"\x80\x04\x95abc")
    with pytest.raises(InputError, match="a pickle: reading it would run what is in it"):
        batches(path)


def test_the_place_in_a_file_is_told_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "it.jsonl"
    path.write_bytes((GENERATION + b"\n") * 3)
    reading = read(Source(path, "it"))
    assert reading.size == path.stat().st_size
    list(reading.batches)
    assert reading.position() == reading.size


def test_faults_stand_in_quarantine_with_their_record(tmp_path: Path) -> None:
    path = tmp_path / "it.jsonl"
    path.write_bytes(GENERATION + b"\n{\n")
    (batch,) = batches(path)
    assert batch.quarantined == [Quarantined(2, "ends in the middle of a JSON value (a cut copy?)", "{")]
