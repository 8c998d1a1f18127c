"""What comes of bad, odd and hostile files: one clear line each, no traceback, and the good lines go in."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from ingest.formats import formats
from tests.api.conftest import SAMPLE, Leakdown, Ran, generation, spawn, write

GOOD = json.dumps(generation("a", 0, "<tool_call>x")).encode() + b"\n"
NET = ("--detector", "openrouter-net@1")
"""A detector to which a bare opening is a leak."""
OTHER = json.dumps(generation("b", 0, "fine")).encode() + b"\n"


def bad(content: bytes) -> Path:
    path = Path("bad.jsonl")
    path.write_bytes(content)
    return path


def one_clear_line(ran: Ran) -> str:
    """The one line that stderr holds; nothing on stdout."""
    [line] = ran.err.splitlines()
    assert (ran.code, ran.out) == (2, "")
    assert line.startswith("leakdown: ")
    assert "Traceback" not in line
    return line


@pytest.mark.parametrize("command", ["ingest", "scan"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"", "bad.jsonl: empty; nothing was read", id="an empty file"),
        pytest.param(b"\n \n\n", "bad.jsonl", id="blank lines alone"),
        pytest.param(b"Dear diary,\nno JSON here\n", "bad.jsonl:1: not JSON", id="not JSON"),
        pytest.param(b'"text"\n42\n', "in no format that leakdown reads", id="JSON without an object"),
        pytest.param(b'{"level":"info"}\n', "in no format that leakdown reads", id="an unknown format"),
        pytest.param(b"\xff\xfe{\x00}\x00", "UTF-16", id="UTF-16"),
        pytest.param(b"PK\x03\x04rest", "a zip archive", id="a zip archive"),
        pytest.param(b"\x1f\x8b\x08\x00cut", "bad.jsonl", id="a gzip stream cut in its header"),
        pytest.param(b'{"type":"generation","run_id":"a"}\n', "one of content, reasoning", id="a record of nothing"),
    ],
)
def test_a_file_without_a_record_is_refused(leakdown: Leakdown, command: str, content: bytes, said: str) -> None:
    line = leakdown(command, bad(content))
    assert line.code == 2
    assert line.out == ""
    assert "Traceback" not in line.err
    assert said in line.err
    assert "no leaks" not in line.err
    assert line.err.splitlines()[-1].startswith("leakdown: bad.jsonl")


@pytest.mark.parametrize("command", ["ingest", "scan"])
def test_an_unknown_format_names_all_that_were_tried(leakdown: Leakdown, command: str) -> None:
    line = one_clear_line(leakdown(command, bad(b'{"level":"info"}\n')))
    assert all(each.name in line for each in formats())
    assert "--format" in line


def test_nothing_is_kept_of_a_refused_file(leakdown: Leakdown) -> None:
    leakdown("ingest", bad(b'{"level":"info"}\n'))
    assert leakdown("uploads", "list", "--json").json == []


LINES = [
    pytest.param(b"{oops\n", "not JSON", id="not JSON"),
    pytest.param(b'{"type":"generation","run_id":"x","content":"\xff"}\n', "invalid UTF-8", id="invalid UTF-8"),
    pytest.param(b'{"type":"generation","run_id":"x","content":"x","tags":{"a":NaN}}\n', "NaN is not JSON", id="NaN"),
    pytest.param(b'{"type":"generation","run_id":7,"content":"x"}\n', "run_id", id="a field of the wrong type"),
    pytest.param(b'{"type":"generation","run_id":"x","content":"x","status":"maybe"}\n', "status", id="no such status"),
    pytest.param(b"[" * 300 + b"]" * 300 + b"\n", "nested deeper than 200 levels", id="nested too deep"),
    pytest.param(b"null\n", "not a record", id="null"),
]


@pytest.mark.parametrize(("line", "why"), LINES)
def test_one_bad_line_among_good_ones_is_quarantined(leakdown: Leakdown, line: bytes, why: str) -> None:
    path = bad(GOOD + line + OTHER)
    ingested = leakdown("ingest", path, "--json")
    [upload] = ingested.json["uploads"]
    assert (ingested.code, upload["new_generations"], upload["quarantined"]) == (0, 2, 1)
    assert f"leakdown: bad.jsonl:2: quarantined: {why}" in ingested.err
    assert "leakdown: bad.jsonl: warning: 1 of 3 lines were not understood" in ingested.err
    scanned = leakdown("scan", path, *NET)
    assert (scanned.code, [found["leak"] for found in scanned.lines]) == (0, [True, False])
    assert f"leakdown: bad.jsonl:2: quarantined: {why}" in scanned.err
    assert "leakdown: bad.jsonl: warning: 1 of 3 lines were not understood" in scanned.err


def test_a_cut_last_line_is_quarantined_and_what_stood_before_it_goes_in(leakdown: Leakdown) -> None:
    ran = leakdown("ingest", bad(GOOD + OTHER[:-9]), "--json")
    assert (ran.code, ran.json["uploads"][0]["new_generations"]) == (0, 1)
    assert "bad.jsonl:2: quarantined: ends in the middle of a JSON value" in ran.err


@pytest.mark.parametrize("command", ["ingest", "scan"])
def test_many_bad_lines_are_told_in_short(leakdown: Leakdown, command: str) -> None:
    ran = leakdown(command, bad(b"{oops\n" * 1000 + GOOD))
    told = [line for line in ran.err.splitlines() if "quarantined: " in line]
    assert [line.split(":")[2] for line in told] == ["1", "2", "3", "4", "5"]
    assert "leakdown: bad.jsonl: 995 more quarantined\n" in ran.err


def test_a_line_of_a_hundred_megabytes_is_quarantined(leakdown: Leakdown) -> None:
    with Path("bad.jsonl").open("wb") as out:
        out.write(GOOD + b'{"type":"generation","run_id":"x","content":"')
        for _ in range(100):
            out.write(b"a" * 1_000_000)
        out.write(b'"}\n' + OTHER)
    ran = leakdown("ingest", "bad.jsonl", "--json")
    [upload] = ran.json["uploads"]
    assert (upload["new_generations"], upload["quarantined"]) == (2, 1)
    assert "leakdown: bad.jsonl:2: quarantined: longer than 64 MiB\n" in ran.err


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param(b"\xef\xbb\xbf" + GOOD, "<tool_call>x", id="a byte order mark"),
        pytest.param(GOOD.replace(b"\n", b"\r\n"), "<tool_call>x", id="CRLF"),
        pytest.param(GOOD.rstrip(), "<tool_call>x", id="no newline at the end"),
        pytest.param(
            GOOD.replace(b"call>x", "call>\u2028\u2029\x85x".encode()),
            "<tool_call>\u2028\u2029\x85x",
            id="line separators inside a string",
        ),
        pytest.param(GOOD.replace(b"call>x", rb"call>\ud800x"), "<tool_call>\ufffdx", id="a lone surrogate"),
        pytest.param(GOOD.replace(b"call>x", rb"call>\u0000x"), "<tool_call>\0x", id="a NUL character"),
        pytest.param(b"\n\n" + GOOD, "<tool_call>x", id="blank lines first"),
    ],
)
def test_odd_but_valid_lines_go_in_as_they_are(leakdown: Leakdown, content: bytes, text: str) -> None:
    path = bad(content)
    assert leakdown("ingest", path).code == 0
    leakdown("export", "--jsonl", "out.jsonl")
    [record] = [json.loads(line) for line in Path("out.jsonl").read_bytes().splitlines()]
    assert record["content"] == text
    assert leakdown("scan", path, *NET).lines[0]["markup"] == text


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize(
    ("pack", "name"),
    [
        pytest.param(gzip.compress, "runs.jsonl.gz", id="gzip"),
        pytest.param(zstd, "runs.jsonl.zst", id="zstd"),
        pytest.param(gzip.compress, "runs.jsonl", id="gzip under a plain name"),
    ],
)
def test_compressed_files_are_read(leakdown: Leakdown, pack: Callable[[bytes], bytes], name: str) -> None:
    Path(name).write_bytes(pack(GOOD + OTHER))
    assert leakdown("ingest", name, "--json").json["uploads"][0]["new_generations"] == 2
    assert [line["leak"] for line in leakdown("scan", name, *NET).lines] == [True, False]


def test_a_cut_gzip_stream_gives_what_could_be_read_and_says_so(leakdown: Leakdown) -> None:
    path = bad(gzip.compress((SAMPLE / "runs.jsonl").read_bytes())[:-20_000])
    ran = leakdown("ingest", path, "--json")
    [upload] = ran.json["uploads"]
    assert (ran.code, upload["quarantined"]) == (0, 1)
    assert 0 < upload["new_generations"] < 1369
    assert "quarantined" in ran.err


@pytest.fixture
def logs() -> None:
    """A folder with a file, a file deeper down, and a hidden one."""
    Path("logs/deep").mkdir(parents=True)
    write("logs/one.jsonl", generation("a", 0, "x"))
    write("logs/deep/two.jsonl", generation("b", 0, "y"))
    write("logs/.hidden.jsonl", generation("c", 0, "z"))


@pytest.mark.parametrize(
    ("given", "runs"),
    [
        pytest.param("logs", ["b", "a"], id="a folder, at any depth"),
        pytest.param("logs/*.jsonl", ["a"], id="a pattern"),
        pytest.param("logs/**/*.jsonl", ["b", "a"], id="a pattern, at any depth"),
    ],
)
@pytest.mark.usefixtures("logs")
def test_folders_and_globs_are_read(leakdown: Leakdown, given: str, runs: list[str]) -> None:
    uploads = leakdown("ingest", given, "--json").json["uploads"]
    assert [upload["new_generations"] for upload in uploads] == [1] * len(runs)
    assert sorted(line["run_id"] for line in leakdown("scan", given).lines) == sorted(runs)


@pytest.mark.parametrize("pack", [pytest.param(bytes, id="plain"), pytest.param(zstd, id="zstd")])
def test_stdin_is_read(pack: Callable[[bytes], bytes]) -> None:
    assert spawn("scan", "-", *NET, stdin=pack(GOOD)).lines[0]["leak"] is True
    [upload] = spawn("ingest", "-", "--json", stdin=pack(GOOD)).json["uploads"]
    assert (upload["path"], upload["new_generations"]) == ("standard input", 1)


def test_an_input_named_twice_is_read_once(leakdown: Leakdown) -> None:
    path = bad(GOOD)
    assert len(leakdown("scan", path, path, "./bad.jsonl").lines) == 1


@pytest.mark.parametrize("command", ["ingest", "scan"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("missing.jsonl", "no such file or folder", id="a missing path"),
        pytest.param("hollow", "a folder without files to read", id="a folder without files"),
        pytest.param("dangling", "no such file or folder", id="a dangling symlink"),
        pytest.param("*.nothing", "the pattern matches nothing", id="a pattern without a match"),
        pytest.param("/dev/null", "a device or socket", id="a device"),
    ],
)
def test_a_path_that_gives_nothing_to_read_is_one_line(leakdown: Leakdown, command: str, name: str, said: str) -> None:
    Path("hollow/inner").mkdir(parents=True)
    Path("dangling").symlink_to("nowhere")
    assert f"leakdown: {name}: {said}" in one_clear_line(leakdown(command, name))
    assert not Path("leakdown.duckdb").exists()


@pytest.mark.parametrize("refused", ["bad.jsonl", "missing.jsonl"])
def test_of_several_files_the_good_ones_go_in(leakdown: Leakdown, refused: str) -> None:
    bad(b"no JSON\n")
    first, last = write("1.jsonl", generation("a", 0, "x")), write("2.jsonl", generation("b", 0, "y"))
    ran = leakdown("ingest", first, refused, last, "--json")
    assert ran.code == 2
    assert [upload["path"] for upload in ran.json["uploads"]] == ["1.jsonl", "2.jsonl"]
    assert [line for line in ran.err.splitlines() if refused in line] == ran.err.splitlines()
    scanned = leakdown("scan", first, refused, last)
    assert (scanned.code, [line["run_id"] for line in scanned.lines]) == (2, ["a", "b"])


def test_a_closed_stdin_is_one_line(leakdown: Leakdown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert "standard input is closed" in one_clear_line(leakdown("scan", "-"))


def test_a_file_name_that_is_no_utf8_is_kept_with_escapes(leakdown: Leakdown) -> None:
    Path("log\udcff.jsonl").write_bytes(GOOD)
    ran = leakdown("ingest", "log\udcff.jsonl", "--json")
    assert (ran.code, ran.json["uploads"][0]["path"]) == (0, "log\\xff.jsonl")


def test_an_event_alone_is_accepted_and_scanned_for_nothing(leakdown: Leakdown) -> None:
    path = write("x.jsonl", {"Markup": "<tool_call>", "Leak": 1, "Retried": True})
    assert leakdown("ingest", path, "--json").json["uploads"][0]["events"] == 1
    ran = leakdown("scan", path)
    assert (ran.code, ran.out) == (0, "")
    assert "1 events of a client" in ran.err
