"""Rule files and code on the command line, over HTTP and on the pages: the same with and without a service."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.candidates.codes import SCRIPT as SCRIPT_CODE
from tests.analysis.candidates.codes import python, script
from tests.analysis.rules.files import file
from tests.api.conftest import SCRIPT, Leakdown, generation, small_history, write
from tests.api.owners import STORE, Pair, laid_out, paired
from tests.api.service import PATIENCE, Service, served, until

RULES = file(
    "pattern = '<function={tool}>'\nneeds = ['<function=']\ntier = 'certain'",
    leak="<function=ls>",
    more='tool = "ls"',
).replace("For tests.", "<script>alert(1)</script>\u202e rules.")
WOLF = 'def find(output): return {"start": 0, "end": 1, "tier": "certain"} if output.content else None\n'
SLOPPY = """
count = 0
def find(output):
    global count
    count += 1
    return {"markup": output.content[:1]} if count % 2 else None
find.triggers = ["<"]
"""


def put_code(folder: Path) -> None:
    """Candidates of every sort in a folder."""
    (folder / "mine.toml").write_text(RULES)
    (folder / "bad.toml").write_text(RULES.replace("content = 'nothing'", "content = '<function=ls>'"))
    (folder / "wolf.py").write_text(WOLF)
    (folder / "sloppy.py").write_text(SLOPPY)
    python(folder)
    script(folder, SCRIPT_CODE.replace('"LEAK"', '"<function="'))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two folders alike with candidates in them, one of whose stores a service owns."""
    history = laid_out(tmp_path_factory.mktemp("history") / "made", None)
    ran = subprocess.run([SCRIPT, "ingest", "history.jsonl", "--store", STORE], cwd=history, capture_output=True)
    assert ran.returncode == 0, ran.stderr
    with paired(tmp_path_factory.mktemp("pair"), history / STORE) as made:
        put_code(made.direct)
        put_code(made.served)
        yield made


BASE = ("replay", "--baseline", "openrouter-net@1", "--candidate")


@pytest.mark.parametrize(
    ("call", "code"),
    [
        pytest.param((*BASE, "mine.toml", "--json", "-"), 0, id="a rule file"),
        pytest.param((*BASE, "mine.toml", "--recompute", "--markdown", "-"), 0, id="a rule file, judged anew"),
        pytest.param((*BASE, "wolf.py:find", "--json", "-"), 0, id="a file of code"),
        pytest.param((*BASE, "wolf.py:find", "--recompute"), 0, id="a file of code, judged anew"),
        pytest.param((*BASE, "sloppy.py:find", "--json", "-"), 0, id="code that changes its answer"),
        pytest.param((*BASE, "exec:python3 script", "--where", "run_id=[ab]"), 0, id="a command"),
        pytest.param(("replay", "--baseline", "mine.toml", "--candidate", "wolf.py:find"), 0, id="both from outside"),
        pytest.param(("replay", "--baseline", "mine.toml", "--candidate", "mine.toml"), 0, id="one with itself"),
        pytest.param((*BASE, "bad.toml"), 2, id="a rule file that contradicts itself"),
        pytest.param((*BASE, "none.toml"), 2, id="no rule file"),
        pytest.param((*BASE, "wolf.py:none"), 2, id="no such code"),
        pytest.param((*BASE, "exec:no-such-program"), 2, id="no such command"),
        pytest.param((*BASE, "mine.toml", "--time-limit", "0"), 2, id="no time"),
        pytest.param((*BASE, "x@sha-0123456789ab"), 2, id="an id that nobody knows"),
        pytest.param(("detectors", "promote", "wolf.py:find"), 2, id="code made current"),
        pytest.param(("detectors", "list"), 0, id="the list with them"),
        pytest.param(("detectors", "promote", "mine.toml"), 0, id="a rule file made current"),
        pytest.param(("rates", "--by", "model"), 0, id="rates by it"),
        pytest.param(("ingest", "more.jsonl"), 0, id="an upload judged by it"),
        pytest.param((*BASE, "mine.toml"), 0, id="a replay after that"),
        pytest.param(("detectors", "list", "--json"), 0, id="the list as JSON"),
    ],
)
def test_a_command_says_the_same_with_and_without_a_service(
    leakdown: Leakdown, pair: Pair, call: tuple[str, ...], code: int
) -> None:
    """In their order: the later ones see what the earlier ones left."""
    pair.assert_same(lambda: leakdown(*call, *(() if call[0] == "show" else ("--store", STORE))), code)


def test_code_that_changes_its_answer_is_told_on_stderr(leakdown: Leakdown, small_store: Path) -> None:
    Path("sloppy.py").write_text(SLOPPY)
    ran = leakdown(*BASE, "sloppy.py:find", "--store", small_store)
    assert ran.code == 0
    assert "sloppy.find@sha-" in ran.err
    assert " changed its answer on " in ran.err
    assert "no figure of it can be relied on" in ran.err


def test_failures_stand_in_the_tables_and_in_the_json(leakdown: Leakdown) -> None:
    leakdown("ingest", write("x.jsonl", generation("a", 0, "BOOM"), generation("b", 0, "LEAK")))
    spec = python(Path())
    out = leakdown(*BASE, spec).out
    assert "the candidate failed on 1, which stand in none of the cells\n" in out
    assert "    1: raised: ValueError: cannot read BOOM (a.0)\n" in out
    report = leakdown(*BASE, spec, "--json", "-").json
    assert (report["errors"]["candidate"], report["candidate_only"]) == (1, 1)


def test_a_scan_takes_a_rule_file_or_code(leakdown: Leakdown) -> None:
    texts = {"a": "a LEAK", "b": "BOOM", "c": "<function=ls>"}
    path = write("x.jsonl", *(generation(run, 0, text) for run, text in texts.items()))
    put_code(Path())
    by_code = leakdown("scan", path, "--detector", "code.py:find")
    assert [(each["leak"], each.get("error")) for each in by_code.lines] == [
        (True, None), (None, "raised: ValueError: cannot read BOOM"), (False, None),
    ]  # fmt: skip
    assert "1 leaks by code.find@sha-" in by_code.err
    assert by_code.err.endswith("; it failed on 1\n")
    rules = leakdown("scan", path, "--detector", "mine.toml", "--tier", "certain")
    assert [(each["leak"], each["tool"]) for each in rules.lines] == [(False, None), (False, None), (True, "ls")]


def test_a_rule_file_is_shown_with_its_examples(leakdown: Leakdown) -> None:
    put_code(Path())
    ran = leakdown("detectors", "show", "mine.toml")
    assert ran.out.startswith("test-rules@sha-")
    assert "source    rule file mine.toml\ntriggers  <function=\n" in ran.out
    assert "A leak: it leaks\n" in ran.out
    assert "\u202e" not in ran.out
    code = leakdown("detectors", "show", "wolf.py:find")
    assert "triggers  none: it looks at every output\n" in code.out


SLOW = """
import time
def find(output):
    open("asked", "a").write("x")
    time.sleep(600)
"""


def test_a_command_that_is_killed_leaves_no_worker_and_can_be_run_again(pair: Pair) -> None:
    (pair.served / "slow.py").write_text(SLOW)
    command = [SCRIPT, *BASE, "slow.py:find", "--time-limit", "600", "--isolation", "none", "--store", STORE]
    with subprocess.Popen(command, cwd=pair.served, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until((pair.served / "asked").exists, bool)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert "slow.py:find" not in subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True).stdout
    (pair.served / "slow.py").write_text(WOLF)
    again = subprocess.run([SCRIPT, *BASE, "slow.py:find", "--store", STORE], cwd=pair.served, capture_output=True)
    assert again.returncode == 0, again.stderr


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the small history."""
    with served(tmp_path_factory.mktemp("rules") / "s.duckdb") as running:
        running.upload(*small_history())
        yield running


def ended(service: Service, address: str) -> Any:
    """A replay that has ended."""
    return until(lambda: service.http.get(address).json(), lambda job: job["state"] not in ("queued", "running"))


def test_a_rule_file_goes_along_with_the_request_for_a_replay(service: Service) -> None:
    wanted = {"baseline": "openrouter-net@1", "candidate": "test-rules", "rules": [RULES]}
    answer = service.http.post("/v1/replays", json=wanted)
    assert answer.status_code == 202, answer.text
    job = ended(service, answer.headers["location"])
    assert (job["state"], job["candidate"][:15]) == ("done", "test-rules@sha-")
    assert "rules" not in job
    known = service.http.get(f"/v1/detectors/{job['candidate']}").json()
    assert (known["kind"], known["triggers"]) == ("rules", ["<function=", "OWN LEAK"][:1])
    again = service.http.post("/v1/replays", json={"baseline": "goat@1", "candidate": job["candidate"]})
    assert ended(service, again.headers["location"])["state"] == "done"


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        pytest.param(["x"], "rules 1: no TOML", id="no TOML"),
        pytest.param([RULES, RULES.replace("'nothing'", "'<function=ls>'")], "rules 2: clean 1", id="a contradiction"),
        pytest.param([RULES] * 3, "rules", id="too many"),
        pytest.param(["x" * (2**18 + 1)], "rules", id="too large"),
        pytest.param([RULES.replace('"test-rules"', '"goat"')], "built-in", id="a built-in's name"),
    ],
)
def test_a_bad_rule_file_is_refused_and_no_replay_begins(service: Service, rules: list[str], told: str) -> None:
    before = len(service.http.get("/v1/replays").json())
    wanted = {"baseline": "openrouter-net@1", "candidate": "test-rules", "rules": rules}
    assert told in service.refused(400, "POST", "/v1/replays", json=wanted)
    assert len(service.http.get("/v1/replays").json()) == before


@pytest.mark.parametrize("spec", ["code.py:find", "exec:./x", "mine.toml", "os:system"])
def test_nobody_makes_the_service_run_code(service: Service, spec: str) -> None:
    wanted = {"baseline": "openrouter-net@1", "candidate": spec}
    assert "unknown detector" in service.refused(400, "POST", "/v1/replays", json=wanted)


def test_the_page_takes_a_rule_file_and_shows_it_harmless(service: Service) -> None:
    form = {"baseline": "openrouter-net@1", "candidate": "goat@1", "rules": RULES.replace("\n", "\r\n")}
    answer = service.http.post("/replays", data=form)
    assert answer.status_code == 303, answer.text
    job = ended(service, f"/v1{answer.headers['location']}")
    assert job["candidate"].startswith("test-rules@sha-")
    for page in (answer.headers["location"], "/replays", "/detectors", f"/detectors/{job['candidate']}"):
        shown = service.http.get(page)
        assert shown.status_code == 200
        assert job["candidate"] in shown.text
        assert "<script>alert" not in shown.text
        assert "\u202e" not in shown.text


def test_the_page_refuses_a_bad_rule_file_in_words(service: Service) -> None:
    form = {"baseline": "openrouter-net@1", "candidate": "goat@1", "rules": "name = 1"}
    answer = service.http.post("/replays", data=form, headers={"Accept": "text/html"})
    assert answer.status_code == 400
    assert "rules 1: name: Input should be a valid string" in answer.text


FAILING = {"name": "far.find", "content": "f" * 32, "triggers": []}


def test_the_page_of_a_replay_tells_failures_and_what_was_noticed(service: Service) -> None:
    part = service.http.post("/v1/candidates/outputs", json={"candidate": FAILING}).json()
    seen = set[str]()
    while part["state"] == "judging":
        outputs = [json.dumps(each, sort_keys=True) for each in part["outputs"]]
        answers = [None if each in seen else {"failure": "crash: <b>ended</b>"} for each in outputs]
        seen.update(outputs)
        said = {"session": part["session"], "part": part["part"], "verdicts": answers}
        service.http.post("/v1/candidates/verdicts", json=said)
        part = service.http.post("/v1/candidates/outputs", json={"session": part["session"]}).json()
    wanted = {"baseline": "goat@1", "candidate": part["detector"]}
    location = service.http.post("/v1/replays", json=wanted).headers["location"]
    report = ended(service, location)["report"]
    assert report["errors"]["candidate"] == report["population"]["generations"] == 5
    assert report["checks"]["candidate"]["changed"] == 5
    page = service.http.get(location.removeprefix("/v1")).text
    assert "Where the candidate failed" in page
    assert "crash: &lt;b&gt;ended&lt;/b&gt;" in page
    assert "changed its answer on 5 of 5 outputs" in page


def test_a_report_from_before_there_were_candidates_is_still_shown(service: Service) -> None:
    answer = service.http.post("/v1/replays", json={"baseline": "openrouter-net@1", "candidate": "goat@1"})
    job = ended(service, answer.headers["location"])
    old = {name: value for name, value in job["report"].items() if name not in ("failures", "checks")}
    store = service.app.state.backend.store
    with store.transaction() as cursor:
        cursor.execute("UPDATE jobs SET result = $1 WHERE job_id = $2", [json.dumps(old), job["id"]])
    assert service.http.get(f"/v1/replays/{job['id']}").status_code == 200
    assert service.http.get(f"/replays/{job['id']}").status_code == 200
