"""A call that is wrong ends with exit code 2 and one clear line that says what would be right."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.detectors import detectors
from analysis.filters import KEYS
from ingest.formats import formats
from ingest.records import SERIES
from ingest.store import Store
from tests.api.conftest import Leakdown, Ran, generation, write

PAIR = ("--baseline", "goat@1", "--candidate", "goat-envelope@1")


def one_clear_line(ran: Ran) -> str:
    [line] = ran.err.splitlines()
    assert (ran.code, ran.out) == (2, "")
    assert line.startswith("leakdown: ")
    return line


@pytest.fixture
def store(leakdown: Leakdown) -> Path:
    leakdown("ingest", write("x.jsonl", generation("a", 0, "x")), "--store", "s.duckdb")
    return Path("s.duckdb")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        pytest.param("ingest", "Missing argument 'PATH'", id="no path"),
        pytest.param("rates --nope", "No such option: --nope", id="an unknown option"),
        pytest.param("nope", "No such command 'nope'", id="an unknown command"),
        pytest.param("replay --baseline goat@1", "Missing option '--candidate'", id="no candidate"),
        pytest.param("uploads delete one", "UPLOAD", id="an upload that is no number"),
        pytest.param("uploads delete 7", "no upload 7", id="an upload that there is not"),
        pytest.param("uploads set 7 engine=x", "no upload 7", id="correcting an upload that there is not"),
        pytest.param("uploads set 1 engine", "engine: write KEY=VALUE", id="a field without a value"),
        pytest.param("ingest x.jsonl --set engine", "engine: write KEY=VALUE", id="a setting without a value"),
        pytest.param("scan x.jsonl --tier sure", "one of certain, likely, possible", id="an unknown tier"),
        pytest.param("rates --since yesterday", "--since yesterday: write a date", id="a since that is no time"),
        pytest.param("export", "name one of --parquet DIR and --jsonl F", id="an export to nowhere"),
        pytest.param("export --jsonl a --parquet b", "name one of", id="an export to two places"),
        pytest.param("export --jsonl no/such/folder", "cannot be written", id="an export that cannot be written"),
        pytest.param("replay {pair} --json no/such/f", "cannot be written", id="a report that cannot be written"),
        pytest.param("replay {pair} --json - --markdown -", "only one of", id="two reports on stdout"),
        pytest.param("replay {pair} --html - --markdown -", "only one of", id="two others on stdout"),
        pytest.param("replay {pair} --html no/such/f", "cannot be written", id="an HTML file that cannot be written"),
        pytest.param("replay {pair} --until tomorrow", "--until tomorrow: write a date", id="until no time"),
        pytest.param("replay {pair} --since 2026-11-02 --until 2026-11-01", "swap them", id="a period that is none"),
    ],
)
def test_a_wrong_call_is_one_line(leakdown: Leakdown, store: Path, call: str, said: str) -> None:
    arguments = call.format(pair=" ".join(PAIR)).split()
    takes_store = arguments[0] != "scan"
    assert said in one_clear_line(leakdown(*arguments, *(("--store", store) if takes_store else ())))


@pytest.mark.parametrize(
    ("call", "known"),
    [
        pytest.param("scan x.jsonl --detector x@1", [each.id for each in detectors()], id="detector of scan"),
        pytest.param("detectors show x@1", [each.id for each in detectors()], id="detector to show"),
        pytest.param("detectors promote goat", [each.id for each in detectors()], id="a detector without a version"),
        pytest.param("replay --baseline goat@1 --candidate goat@2", [each.id for each in detectors()], id="version"),
        pytest.param("scan x.jsonl --format x", [each.name for each in formats()], id="format of scan"),
        pytest.param("ingest x.jsonl --format x", [each.name for each in formats()], id="format of ingest"),
        pytest.param("rates --by colour", SERIES, id="key of --by"),
        pytest.param("rates --by ,", SERIES, id="no key in --by"),
        pytest.param("rates --where colour=red", KEYS, id="key of --where"),
        pytest.param("rates --where model", KEYS, id="a --where without a glob"),
        pytest.param("replay {pair} --where colour=red", KEYS, id="key of a replay's --where"),
        pytest.param("ingest x.jsonl --set colour=red", SERIES, id="key of --set"),
        pytest.param("uploads set 1 colour=red", SERIES, id="key of uploads set"),
    ],
)
def test_an_unknown_name_lists_the_known_ones(
    leakdown: Leakdown, store: Path, call: str, known: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEAKDOWN_STORE", str(store))
    line = one_clear_line(leakdown(*call.format(pair=" ".join(PAIR)).split()))
    assert [name for name in known if name not in line] == []


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(("rates", "--where", "model=\udcff"), id="a filter"),
        pytest.param(("replay", *PAIR, "--where", "model=\udcff"), id="a replay's filter"),
        pytest.param(("ingest", "x.jsonl", "--set", "engine=\udcff"), id="a setting"),
        pytest.param(("uploads", "set", "1", "engine=\udcff"), id="a correction"),
    ],
)
def test_an_argument_that_is_no_utf8_is_one_line(leakdown: Leakdown, store: Path, call: tuple[str, ...]) -> None:
    assert "not UTF-8" in one_clear_line(leakdown(*call, "--store", store))


def test_an_unknown_variable_names_the_known_ones(leakdown: Leakdown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAKDOWN_STOER", "x")
    line = one_clear_line(leakdown("rates"))
    assert "unknown setting LEAKDOWN_STOER" in line
    assert "LEAKDOWN_STORE" in line


@pytest.mark.parametrize(
    "call",
    ["rates", "uploads list", "detectors promote goat@1", "replay {pair}", "export --jsonl -", "uploads delete 1"],
)
def test_without_a_store_the_line_says_how_to_make_one(leakdown: Leakdown, call: str) -> None:
    line = one_clear_line(leakdown(*call.format(pair=" ".join(PAIR)).split(), "--store", "none.duckdb"))
    assert "none.duckdb: no store here; `leakdown ingest" in line
    assert not Path("none.duckdb").exists()


@pytest.mark.parametrize("call", ["rates", "ingest x.jsonl", "detectors list"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"Dear diary", "another kind of file", id="a text file"),
        pytest.param(None, "Is a directory", id="a folder"),
    ],
)
def test_what_is_no_store_is_told_and_left_alone(
    leakdown: Leakdown, call: str, content: bytes | None, said: str
) -> None:
    write("x.jsonl", generation("a", 0, "x"))
    path = Path("other")
    path.mkdir() if content is None else path.write_bytes(content)
    assert said in one_clear_line(leakdown(*call.split(), "--store", path))
    assert content is None or path.read_bytes() == content


def test_a_store_of_a_newer_version_is_refused(leakdown: Leakdown, store: Path) -> None:
    with Store.open(store) as opened, opened.transaction() as cursor:
        cursor.execute("INSERT INTO migrations VALUES (999, '0999_later.sql', now()::TIMESTAMP)")
    line = one_clear_line(leakdown("rates", "--store", store))
    assert "s.duckdb: written by a newer leakdown (0999_later.sql)" in line


@pytest.fixture
def holder(store: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the store open."""
    holding = "import sys; from pathlib import Path; from ingest.store import Store\n"
    holding += "with Store.open(Path(sys.argv[1])): print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holding, store], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield process
        process.communicate("")


def test_a_store_that_another_process_holds_names_it(
    leakdown: Leakdown, store: Path, holder: "subprocess.Popen[str]"
) -> None:
    for call in ("rates", "ingest x.jsonl", "uploads list"):
        line = one_clear_line(leakdown(*call.split(), "--store", store))
        assert f"s.duckdb: in use by process {holder.pid}" in line


@pytest.mark.parametrize(
    "call", ["export --jsonl {store}", "replay {pair} --json {store}", "replay {pair} --markdown {store}"]
)
def test_no_result_is_written_over_the_store(leakdown: Leakdown, store: Path, call: str) -> None:
    link = Path("link.duckdb")
    link.symlink_to(store)
    before = store.read_bytes()
    for name in (store, link):
        line = one_clear_line(leakdown(*call.format(store=name, pair=" ".join(PAIR)).split(), "--store", store))
        assert "this is the store" in line
    assert store.read_bytes() == before
