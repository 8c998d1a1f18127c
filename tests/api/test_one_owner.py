"""One owner of a store: a command says the same on a store and through the service that owns it."""

import gzip
import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from ingest.export import TABLES
from tests.api.conftest import SCRIPT, Leakdown, generation, spawn
from tests.api.owners import STORE, Pair, laid_out, owned, paired
from tests.api.service import PATIENCE, until

PAIR = ("--baseline", "openrouter-net@1", "--candidate", "goat@1")
Call = tuple[str, ...]
PASSED_OFF = "3fec960f2cb001ee"
"""The finding of the small history whose leak is passed off."""


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the small history."""
    folder = laid_out(tmp_path_factory.mktemp("history") / "made", None)
    made = subprocess.run([SCRIPT, "ingest", "history.jsonl", "--store", STORE], cwd=folder, capture_output=True)
    assert made.returncode == 0, made.stderr
    return folder / STORE


@pytest.fixture(scope="module")
def read_only(history: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """For calls that change nothing."""
    with paired(tmp_path_factory.mktemp("pair"), history) as pair:
        yield pair


@pytest.fixture
def pair(history: Path, tmp_path: Path) -> Iterator[Pair]:
    """For calls that change the store."""
    with paired(tmp_path, history) as made:
        yield made


READING = [
    pytest.param(("uploads", "list"), 0, id="uploads"),
    pytest.param(("uploads", "list", "--json"), 0, id="uploads as JSON"),
    pytest.param(("rates",), 0, id="rates"),
    pytest.param(("rates", "--json"), 0, id="rates as JSON, its keys in the same order"),
    pytest.param(("rates", "--by", "engine, model", "--json"), 0, id="rates by keys in an order of one's own"),
    pytest.param(("rates", "--where", "run_id=[ab]", "--where", "model=m*"), 0, id="rates of a part"),
    pytest.param(("rates", "--since", "2026-11-01"), 0, id="no rate, and why"),
    pytest.param(("rates", "--since", ""), 0, id="since nothing"),
    pytest.param(("rates", "--where", "model=none", "--json"), 0, id="no rate as JSON, and why"),
    pytest.param(("rates", "--by", "modle"), 2, id="by an unknown key"),
    pytest.param(("rates", "--by", ""), 2, id="by no key"),
    pytest.param(("rates", "--by", "a&b=c"), 2, id="by a key that is no good in an address"),
    pytest.param(("rates", "--where", "modle=x"), 2, id="an unknown filter"),
    pytest.param(("rates", "--where", "model"), 2, id="a filter without a glob"),
    pytest.param(("rates", "--since", "yesterday"), 2, id="since no time"),
    pytest.param(("drift",), 0, id="drift"),
    pytest.param(("drift", "--json"), 0, id="drift as JSON, its keys in the same order"),
    pytest.param(("drift", "--where", "run_id=a", "--since", "2020-01-01", "--json"), 0, id="drift of a part"),
    pytest.param(("drift", "--fail-on", "counts.worse > 0"), 0, id="drift within its gate"),
    pytest.param(("drift", "--where", "x=y"), 2, id="drift with an unknown filter"),
    pytest.param(("rates", "--pairing"), 0, id="pairings"),
    pytest.param(("faults",), 0, id="faults"),
    pytest.param(("faults", "--by", "engine, model", "--json"), 0, id="faults as JSON, by keys in one's own order"),
    pytest.param(("faults", "--where", "run_id=[ab]", "--since", "2020-01-01", "--json"), 0, id="faults of a part"),
    pytest.param(("faults", "--where", "model=none"), 0, id="faults of nothing"),
    pytest.param(("faults", "--by", "modle"), 2, id="faults by an unknown key"),
    pytest.param(("faults", "--where", "x=y"), 2, id="faults with an unknown filter"),
    pytest.param(("alerts", "list"), 0, id="alerts"),
    pytest.param(("alerts", "list", "--since", "2020-01-01", "--json"), 0, id="alerts as JSON"),
    pytest.param(("alerts", "acknowledge", "x", "--reason", "y", "--by", "ana"), 2, id="acknowledge no alert"),
    pytest.param(("recovery",), 0, id="recovery"),
    pytest.param(("recovery", "--json"), 0, id="recovery as JSON, its keys in the same order"),
    pytest.param(("recovery", "--policy", "goat", "--policy", "retry-n:max_retries=3"), 0, id="two policies"),
    pytest.param(("recovery", "--policy", "foundry:engines=a&b=c*", "--json"), 0, id="a value of one's own"),
    pytest.param(("recovery", "--where", "run_id=a", "--since", "2020-01-01", "--json"), 0, id="recovery of a part"),
    pytest.param(("recovery", "--where", "model=none"), 0, id="recovery of nothing"),
    pytest.param(("recovery", "--policy", "x"), 2, id="an unknown policy"),
    pytest.param(("recovery", "--policy", "goat:x=1"), 2, id="an unknown parameter"),
    pytest.param(("recovery", "--where", "x=y"), 2, id="recovery with an unknown filter"),
    pytest.param(("audit",), 0, id="audit"),
    pytest.param(("audit", "--json"), 0, id="audit as JSON, its keys in the same order"),
    pytest.param(("audit", "--policy", "report-only", "--all", "--json"), 0, id="audit under a policy"),
    pytest.param(("audit", "--rule", "leak_completed_turn", "--where", "run_id=[ab]"), 0, id="audit by one rule"),
    pytest.param(("audit", "--where", "model=none", "--since", "2026-01-01"), 0, id="audit of nothing"),
    pytest.param(("audit", "--rule", "x"), 2, id="audit by an unknown rule"),
    pytest.param(("audit", "--policy", "x"), 2, id="audit under an unknown policy"),
    pytest.param(("audit", "--where", "x=y"), 2, id="audit with an unknown filter"),
    pytest.param(("audit", "acknowledge", "a/b?c", "--by", "ana", "--reason", "x"), 2, id="acknowledge nothing"),
    pytest.param(("audit", "acknowledge", "0123456789abcdef", "--by", "b", "--reason", "x"), 2, id="what none has"),
    pytest.param(("audit", "acknowledge", "x", "--by", " ", "--reason", "x"), 2, id="acknowledge by nobody"),
    pytest.param(("audit", "acknowledge", "x", "--by", "ana", "--reason", ""), 2, id="acknowledge without a reason"),
    pytest.param(("replay", *PAIR), 0, id="replay"),
    pytest.param(("replay", *PAIR, "--json", "-"), 0, id="replay as JSON"),
    pytest.param(("replay", *PAIR, "--markdown", "-"), 0, id="replay as Markdown"),
    pytest.param(("replay", *PAIR, "--recompute", "--json", "-"), 0, id="replay judged anew"),
    pytest.param(("replay", *PAIR, "--where", "run_id=a", "--json", "-"), 0, id="replay of a part"),
    pytest.param(("replay", *PAIR, "--html", "-"), 0, id="replay as an HTML file"),
    pytest.param(
        ("replay", *PAIR, "--since", "2026-01-01", "--until", "2026-12-31"),
        2,
        id="replay of no time",
    ),
    pytest.param(("replay", *PAIR, "--until", "2026-13-01"), 2, id="replay until no time"),
    pytest.param(("replay", *PAIR, "--where", "model=none"), 2, id="replay of nothing"),
    pytest.param(("replay", *PAIR, "--where", "x=y"), 2, id="replay with an unknown filter"),
    pytest.param(("replay", "--baseline", "x@1", "--candidate", "goat@1"), 2, id="replay of an unknown detector"),
    pytest.param(("replay", *PAIR, "--json", "no folder/x"), 2, id="replay to a folder that is not there"),
    pytest.param(("replay", *PAIR, "--json", STORE), 2, id="replay over the store"),
    pytest.param(("label", "sample", *PAIR, "--budget", "99"), 2, id="a sample of more than there is"),
    pytest.param(("label", "sample", *PAIR, "--budget", "0"), 2, id="a sample of nothing"),
    pytest.param(("label", "sample", *PAIR, "--budget", "1", "--where", "model=none"), 2, id="a sample of none"),
    pytest.param(("label", "sample", *PAIR, "--budget", "1", "--seed", "-1"), 2, id="a sample by no seed"),
    pytest.param(("detectors", "list"), 0, id="detectors"),
    pytest.param(("detectors", "list", "--json"), 0, id="detectors as JSON"),
    pytest.param(("detectors", "promote", "x@1"), 2, id="promote an unknown detector"),
    pytest.param(("uploads", "set", "9", "engine=x"), 2, id="correct an upload that is not there"),
    pytest.param(("uploads", "set", "0", "engine=x"), 2, id="correct upload 0"),
    pytest.param(("uploads", "set", "1", "engin=x"), 2, id="set an unknown field"),
    pytest.param(("uploads", "delete", "9"), 2, id="delete an upload that is not there"),
    pytest.param(("uploads", "delete", "99999999999"), 2, id="delete an upload of a number beyond all"),
    pytest.param(("prune", "--older-than", "soon"), 2, id="prune by no age"),
    pytest.param(("forget", "--run", "../none"), 2, id="forget no run"),
    pytest.param(("export", "--jsonl", "-"), 0, id="export to stdout"),
    pytest.param(("export", "--jsonl", "out.jsonl"), 0, id="export to a file"),
    pytest.param(("export", "--jsonl", STORE), 2, id="export over the store"),
    pytest.param(("export", "--jsonl", "no folder/x"), 2, id="export to a folder that is not there"),
    pytest.param(("export", "--parquet", "bad.jsonl"), 2, id="export to a folder that is a file"),
    pytest.param(("export",), 2, id="export to nowhere"),
    pytest.param(("backup", STORE), 2, id="backup over the store"),
    pytest.param(("backup", "no folder/x"), 2, id="backup to a folder that is not there"),
    pytest.param(("label", "export"), 0, id="labels"),
    pytest.param(("label", "export", "--csv", "-"), 0, id="labels as CSV"),
    pytest.param(("label", "export", "--csv", "labels.csv"), 0, id="labels to a file"),
    pytest.param(("label", "export", "--csv", "a", "--jsonl", "b"), 2, id="labels to two files"),
    pytest.param(("label", "export", "--jsonl", STORE), 2, id="labels over the store"),
    pytest.param(("label", "export", "--jsonl", "no folder/x"), 2, id="labels to a folder that is not there"),
    pytest.param(("label", "import", "no log.txt"), 2, id="import what is no file of labels"),
    pytest.param(("label", "import", "none.csv"), 2, id="import a file that is not there"),
    pytest.param(("label", "import", "more.jsonl"), 2, id="import a log without labels"),
    pytest.param(("label", "import", "history.jsonl", "--json"), 0, id="import labels that are there already"),
    pytest.param(("label", "conflicts"), 0, id="conflicts"),
    pytest.param(("label", "conflicts", "--json"), 0, id="conflicts as JSON"),
    pytest.param(("label", "resolve", "a.0", "leak", "--by", "bo", "--note", "x"), 2, id="resolve no conflict"),
    pytest.param(("label", "resolve", "none", "leak", "--by", "bo", "--note", "x"), 2, id="resolve nothing"),
    pytest.param(("label", "resolve", "a.0", "leak", "--by", "bo", "--note", " "), 2, id="resolve without a reason"),
    pytest.param(("label", "resolve", "a.0", "leak", "--by", "", "--note", "x"), 2, id="resolve by nobody"),
    pytest.param(("label", "resolve", "a.0", "maybe", "--by", "bo", "--note", "x"), 2, id="resolve as no verdict"),
    pytest.param(("label", "agreement"), 0, id="agreement"),
    pytest.param(("label", "agreement", "--json"), 0, id="agreement as JSON"),
    pytest.param(("label", "history"), 0, id="history"),
    pytest.param(("label", "history", "c.0", "--run", "c", "--by", "ana", "--limit", "1"), 0, id="history of one"),
    pytest.param(("keys", "list"), 0, id="keys"),
    pytest.param(("keys", "log", "--json"), 0, id="the audit log"),
    pytest.param(("keys", "revoke", "none"), 2, id="revoke no key"),
    pytest.param(("keys", "create", "a/b", "--scope", "read"), 2, id="a key by a name that is none"),
    pytest.param(("keys", "create", "a", "--scope", "write"), 2, id="a key with a scope that is none"),
    pytest.param(("ingest", "no log.txt"), 2, id="ingest what no reader understands"),
    pytest.param(("ingest", "empty.jsonl"), 2, id="ingest nothing"),
    pytest.param(("ingest", "none.jsonl"), 2, id="ingest a file that is not there"),
    pytest.param(("ingest", STORE), 2, id="ingest the store"),
    pytest.param(("ingest", "talk.jsonl", "--format", "native"), 2, id="ingest as a format that it is not"),
    pytest.param(("ingest", "talk.jsonl", "--format", "x"), 2, id="ingest as an unknown format"),
    pytest.param(("ingest", "talk.jsonl", "--set", "engin=x"), 2, id="ingest with an unknown field"),
    pytest.param(("ingest", "history.jsonl"), 0, id="ingest what is there already"),
    pytest.param(("ingest", "history.jsonl", "--json"), 0, id="ingest what is there already, as JSON"),
]
"""Calls that leave the store as it is, each with its exit code."""


@pytest.mark.parametrize(("call", "code"), READING)
def test_a_command_says_the_same_with_and_without_a_service(
    leakdown: Leakdown, read_only: Pair, call: Call, code: int
) -> None:
    read_only.assert_same(lambda: leakdown(*call, "--store", STORE), code)


STORIES = [
    pytest.param([("ingest", "more.jsonl"), ("ingest", "more.jsonl.gz")], id="a file, and then the same compressed"),
    pytest.param([("ingest", "more.jsonl.gz", "--json")], id="a compressed file"),
    pytest.param([("ingest", "cut.gz")], id="half a compressed file"),
    pytest.param([("ingest", "bad.jsonl"), ("ingest", "bad.jsonl")], id="one bad line, twice"),
    pytest.param([("ingest", "bare.jsonl", "--set", "engine=a&b=c ü", "--set", "template=")], id="fields set"),
    pytest.param([("ingest", "talk.jsonl", "--format", "messages", "--json")], id="the format named"),
    pytest.param([("ingest", "logs", "no log.txt", "*.gz")], id="a folder, a refused file and a glob"),
    pytest.param([("ingest", "events.jsonl", "only labels.jsonl", "only runs.jsonl")], id="events, labels, runs alone"),
    pytest.param(
        [("uploads", "set", "1", "engine=sglang", "template=x"), ("uploads", "set", "1", "engine=")], id="a correction"
    ),
    pytest.param([("uploads", "delete", "1"), ("uploads", "delete", "1"), ("ingest", "more.jsonl")], id="a deletion"),
    pytest.param(
        [
            ("label", "import", "more labels.csv", "--by", "bo"),
            ("label", "import", "more labels.csv", "--by", "bo"),
            ("label", "conflicts"),
            ("label", "resolve", "a.0", "clean", "--by", "cy", "--note", "a manual"),
            ("label", "conflicts"),
            ("label", "agreement"),
            ("label", "history"),
        ],
        id="labels, a conflict and its resolution",
    ),
    pytest.param(
        [
            ("label", "sample", *PAIR, "--budget", "3"),
            ("label", "sample", *PAIR, "--budget", "4", "--json"),
            ("replay", *PAIR, "--json", "-"),
            ("replay", *PAIR),
            ("replay", *PAIR, "--markdown", "-"),
        ],
        id="a sample drawn twice, and what its labels say",
    ),
    pytest.param([("detectors", "promote", "goat@1"), ("detectors", "promote", "goat@1")], id="a promotion"),
    pytest.param(
        [
            ("audit", "acknowledge", PASSED_OFF, "--by", "ana", "--reason", "a known fault"),
            ("audit", "acknowledge", PASSED_OFF, "--by", "bo", "--reason", "me too"),
            ("audit",),
            ("audit", "--all", "--json"),
        ],
        id="a finding acknowledged, and once more",
    ),
]
LOOKS: list[Call] = [
    ("uploads", "list", "--json"),
    ("rates", "--by", "engine,template,client", "--json"),
    ("detectors", "list"),
    ("keys", "log"),
    ("export", "--jsonl", "-"),
]


@pytest.mark.parametrize("story", STORIES)
def test_a_change_is_the_same_with_and_without_a_service(leakdown: Leakdown, pair: Pair, story: list[Call]) -> None:
    for call in (*story, *LOOKS):
        pair.assert_same(lambda call=call: leakdown(*call, "--store", STORE))  # type: ignore[misc]


def test_the_first_records_of_a_store_are_greeted_alike(leakdown: Leakdown, tmp_path: Path) -> None:
    with paired(tmp_path, None) as empty:
        (empty.direct / STORE).unlink(missing_ok=True)
        ran = empty.assert_same(lambda: leakdown("ingest", "more.jsonl", "--store", STORE), 0)
    assert ran.err.startswith(f"These are the first records in {STORE}. What now:\n  leakdown rates --store {STORE}")


def test_standard_input_is_read_alike(pair: Pair) -> None:
    lines = Path(pair.direct, "bad.jsonl").read_bytes()
    ran = pair.assert_same(lambda: spawn("ingest", "-", "--json", "--store", STORE, stdin=lines), 0)
    assert ran.json["uploads"][0]["new_generations"] == 1
    pair.assert_same(lambda: spawn("ingest", "-", "--store", STORE, stdin=gzip.compress(lines)), 0)
    pair.assert_same(lambda: spawn("ingest", "-", "--store", STORE), 2)
    pair.assert_same(lambda: spawn("uploads", "list", "--json", "--store", STORE), 0)


def test_parquet_files_hold_the_same(leakdown: Leakdown, read_only: Pair) -> None:
    read_only.assert_same(lambda: leakdown("export", "--parquet", "out", "--store", STORE), 0)
    for table in TABLES:
        direct, served = (pl.read_parquet(at / f"out/{table}.parquet") for at in (read_only.direct, read_only.served))
        assert served.equals(direct), table


def test_leakdown_url_leads_there_from_any_folder(
    leakdown: Leakdown, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = laid_out(pair.direct.parent / "elsewhere", None)
    there = pair.assert_same(lambda: leakdown("rates", "--json", "--store", STORE))
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("LEAKDOWN_URL", f"{pair.owner.url}/")
    assert leakdown("rates", "--json") == there
    assert leakdown("ingest", "more.jsonl").code == 0
    assert len(leakdown("uploads", "list", "--json").json) == 2
    assert leakdown("uploads", "delete", "1").code == leakdown("uploads", "delete", "2").code == 0
    greeted = leakdown("ingest", "more.jsonl")
    assert greeted.err.startswith(f"These are the first records in {pair.owner.url}/. What now:\n  leakdown rates  #")
    assert not Path("leakdown.duckdb").exists()


def test_a_store_that_is_named_counts_before_leakdown_url(
    leakdown: Leakdown, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEAKDOWN_URL", pair.owner.url)
    assert leakdown("ingest", pair.direct / "more.jsonl", "--store", "other.duckdb").code == 0
    assert len(leakdown("uploads", "list", "--json").json) == 1
    assert Path("other.duckdb").exists()


def test_leakdown_url_without_a_service_is_one_clear_line(
    leakdown: Leakdown, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair.owner.end(signal.SIGTERM)
    monkeypatch.setenv("LEAKDOWN_URL", pair.owner.url)
    ran = leakdown("rates")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"leakdown: LEAKDOWN_URL={pair.owner.url}: no leakdown service answers there; start one with `leakdown serve`\n"
    )


def test_the_notice_of_a_service_that_died_is_passed_over(leakdown: Leakdown, pair: Pair) -> None:
    assert pair.owner.end(signal.SIGKILL) == (-signal.SIGKILL, "")
    assert (pair.served / f"{STORE}.service.json").exists()
    pair.assert_same(lambda: leakdown("ingest", "more.jsonl", "--store", STORE), 0)
    with owned(pair.served / STORE):
        pair.assert_same(lambda: leakdown("rates", "--json", "--store", STORE), 0)


@contextmanager
def half_sent(pair: Pair) -> Iterator[subprocess.Popen[bytes]]:
    """A command in the middle of an upload: two megabytes of it lie with the service, the end does not come."""
    command = [SCRIPT, "ingest", "-", "--store", str(pair.served / STORE)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdin
        line = json.dumps(generation("half", 0, "x" * (1 << 20))).encode() + b"\n"
        process.stdin.write(line * 4)
        process.stdin.flush()
        until(pair.owner.arriving, lambda size: size >= 2 << 20)
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_service_killed_in_the_middle_of_an_upload_is_one_clear_line(leakdown: Leakdown, pair: Pair) -> None:
    with half_sent(pair) as command:
        pair.owner.end(signal.SIGKILL)
        out, err = command.communicate(timeout=PATIENCE)
    assert (command.returncode, out) == (2, b"")
    said = rf"leakdown: the service at {pair.owner.url} broke off \(.+\); is it still running\?\n"
    assert re.fullmatch(said, err.decode()), err
    assert len(leakdown("uploads", "list", "--json", "--store", pair.served / STORE).json) == 1


def test_ctrl_c_in_the_middle_of_an_upload_leaves_nothing_of_it(leakdown: Leakdown, pair: Pair) -> None:
    with half_sent(pair) as command:
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=PATIENCE)
    assert (command.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    until(pair.owner.arriving, lambda size: size == 0)
    assert len(leakdown("uploads", "list", "--json", "--store", pair.served / STORE).json) == 1


def test_a_service_that_stops_in_the_middle_of_an_upload_is_one_clear_line(leakdown: Leakdown, pair: Pair) -> None:
    """The service says that it stops, unless its end reaches the command before its answer does."""
    with half_sent(pair) as command:
        pair.owner.process.send_signal(signal.SIGTERM)
        out, err = command.communicate(b"x" * (1 << 20), timeout=PATIENCE)
    assert (command.returncode, out) == (2, b"")
    stopping = "the service is stopping; nothing of this was kept, send it again"
    said = rf"leakdown: ({stopping}|the service at {pair.owner.url} broke off \(.+\); is it still running\?)\n"
    assert re.fullmatch(said, err.decode()), err
    assert pair.owner.process.wait(PATIENCE) == 0
    assert len(leakdown("uploads", "list", "--json", "--store", pair.served / STORE).json) == 1


def test_a_file_over_the_limit_of_the_service_is_one_clear_line(leakdown: Leakdown, tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "limited", None)
    (folder / "large.jsonl").write_text(f"{json.dumps(generation('a', 0, 'x' * 5_000_000))}\n")
    with owned(folder / STORE, LEAKDOWN_BODY_LIMIT="1000000"):
        ran = leakdown("ingest", folder / "large.jsonl", folder / "more.jsonl", "--json", "--store", folder / STORE)
    assert (ran.code, ran.err) == (2, f"leakdown: {folder / 'large.jsonl'}: the body is over 1,000,000 bytes\n")
    assert [upload["new_generations"] for upload in ran.json["uploads"]] == [2]


def test_a_second_service_on_the_store_is_refused_with_the_address_of_the_first(pair: Pair) -> None:
    ran = spawn("serve", "--port", "0", "--store", pair.served / STORE)
    assert (ran.code, ran.out) == (2, "")
    assert f"already served at {pair.owner.url}; stop that service, or name another store with --store\n" in ran.err
