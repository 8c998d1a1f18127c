"""How code is isolated, on the command line and in every form of a report; and what is said where it is not."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.analysis.candidates import bubblewrap
from tests.api.conftest import SCRIPT, Leakdown, generation, write
from tests.api.service import PATIENCE, Service, served, until

WOLF = 'def find(output): return {"start": 0, "end": 1, "tier": "certain"} if output.content else None\n'
BASE = ("replay", "--baseline", "goat@1", "--candidate", "wolf.py:find")
NOT_ISOLATED = "the candidate ran without isolation: its crashes and its time are contained, nothing else is"
TOLD = f"{NOT_ISOLATED} (--isolation none)"
needs_store = pytest.mark.usefixtures("history")


@pytest.fixture
def history(leakdown: Leakdown) -> None:
    """A store with two outputs, and a candidate beside it."""
    Path("wolf.py").write_text(WOLF)
    leakdown("ingest", write("x.jsonl", generation("a", 0, "one"), generation("b", 0, "two")))


def alone(
    *arguments: str | Path, path: str | None = None, before: tuple[str, ...] = (), **settings: str
) -> tuple[int, str, str]:
    """The command as a process of its own: exit code, stdout, stderr."""
    environment = {**os.environ, **settings, "PATH": path or os.environ["PATH"]}
    ran = subprocess.run([*before, SCRIPT, *arguments], env=environment, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, ran.stderr


@needs_store
def test_a_report_says_first_that_code_ran_without_isolation(leakdown: Leakdown) -> None:
    files = ("--json", "r.json", "--markdown", "r.md", "--html", "r.html")
    ran = leakdown(*BASE, "--isolation", "none", *files)
    assert ran.code == 0
    assert ran.out.splitlines()[1] == f"  {TOLD}"
    assert ran.err == (
        "leakdown: warning: wolf.py:find runs without isolation (--isolation none); its crashes and its time are "
        "contained, nothing else is\n"
    )
    assert (
        '"isolation":{"baseline":null,"candidate":{"by":"none","why":"--isolation none"}}' in Path("r.json").read_text()
    )
    assert Path("r.md").read_text().splitlines()[2] == f"**Warning:** ` {TOLD} `"
    page = re.sub(r"<style>.*?</style>", "", Path("r.html").read_text(), flags=re.DOTALL)
    assert page.index(f"Warning: {TOLD}.") < page.index("What both say")


@bubblewrap.needed
@needs_store
def test_a_report_on_isolated_code_has_nothing_to_warn_of(leakdown: Leakdown) -> None:
    ran = leakdown(*BASE, "--isolation", "bwrap", "--json", "r.json")
    assert (ran.code, ran.err) == (0, "")
    assert "isolation" not in ran.out
    assert '"candidate":{"by":"bwrap","why":null}' in Path("r.json").read_text()


@bubblewrap.needed
@needs_store
def test_verdicts_given_without_isolation_are_told_until_they_are_given_anew(leakdown: Leakdown) -> None:
    leakdown(*BASE, "--isolation", "none")
    write("more.jsonl", generation("c", 0, "three"))
    leakdown("ingest", "more.jsonl")
    assert TOLD in leakdown(*BASE).out
    assert "without isolation" not in leakdown(*BASE, "--recompute").out


@needs_store
def test_without_bwrap_code_runs_unless_it_must_be_isolated(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    code, out, err = alone(*BASE, path=str(tools))
    assert (code, out.splitlines()[1]) == (0, f"  {NOT_ISOLATED} (bwrap is not installed)")
    assert err.startswith("leakdown: warning: wolf.py:find runs without isolation (bwrap is not installed); ")
    assert alone(*BASE, "--isolation", "bwrap", path=str(tools)) == (
        2, "", "leakdown: --isolation bwrap: bwrap is not installed\n",
    )  # fmt: skip


@bubblewrap.needed
@needs_store
def test_where_namespaces_are_forbidden_a_probe_finds_out() -> None:
    """In a sandbox whose processes may make no namespaces, as many containers are."""
    outer = ("bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--proc", "/proc")
    code, out, err = alone(*BASE, before=outer)
    assert code == 0, err
    assert out.splitlines()[1].startswith(f"  {NOT_ISOLATED} (bwrap cannot make a sandbox here (bwrap: ")
    code, out, err = alone(*BASE, "--isolation", "bwrap", before=outer)
    assert (code, out) == (2, "")
    assert err.startswith("leakdown: --isolation bwrap: bwrap cannot make a sandbox here (bwrap: ")
    assert err.count("\n") == 1


@needs_store
def test_a_bwrap_that_does_not_start_is_none(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "bwrap").write_text("no program")
    (tmp_path / "tools" / "bwrap").chmod(0o755)
    code, out, _ = alone(*BASE, path=str(tmp_path / "tools"))
    assert (code, out.splitlines()[1]) == (0, f"  {NOT_ISOLATED} (bwrap does not start (OSError))")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        pytest.param(("--isolation", "jail"), "--isolation jail: one of auto, bwrap, none", id="another way"),
        pytest.param(("--readable", "nowhere"), "--readable nowhere: there is nothing of that name", id="nothing"),
        pytest.param(
            ("--readable", "leakdown.duckdb"), "--readable leakdown.duckdb: that is the store", id="the store"
        ),
    ],
)  # fmt: skip
@needs_store
def test_what_cannot_be_is_refused(leakdown: Leakdown, options: tuple[str, ...], told: str) -> None:
    ran = leakdown(*BASE, *options)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err


READS = """
from pathlib import Path
WORDS = Path({path!r}).read_text()
def find(output): return {{"markup": WORDS}} if WORDS in output.content else None
"""


@bubblewrap.needed
def test_what_code_needs_besides_is_shown_to_it(leakdown: Leakdown, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "words.txt").write_text("one")
    Path("reads.py").write_text(READS.format(path=str(tmp_path / "data" / "words.txt")))
    path = write("x.jsonl", generation("a", 0, "one"))
    ran = leakdown("scan", path, "--detector", "reads.py:find")
    assert (ran.code, ran.out) == (2, "")
    assert "FileNotFoundError" in ran.err
    assert ran.err.endswith("isolated code sees its own files alone, --readable PATH shows it more\n")
    shown = leakdown("scan", path, "--detector", "reads.py:find", "--readable", tmp_path / "data")
    assert [each["leak"] for each in shown.lines] == [True]


@pytest.mark.parametrize("isolation", ["none", pytest.param("bwrap", marks=bubblewrap.needed)])
def test_packages_that_are_installed_elsewhere_are_found(isolation: str, tmp_path: Path) -> None:
    """On the path, and in a package that an import hook maps, as an editable installation does."""
    for name in ("lib/helper", "place/mapped"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text("WORD = 'one'")
    (tmp_path / "lib" / "__editable___mapped_finder.py").write_text(
        f"import sys\nfrom pathlib import Path\nMAPPING = {{'mapped': {str(tmp_path / 'place' / 'mapped')!r}}}\n"
        f"sys.path.append(str(Path(MAPPING['mapped']).parent))\n"
    )
    (tmp_path / "lib" / "sitecustomize.py").write_text("import __editable___mapped_finder\n")
    Path("uses.py").write_text(
        "from helper import WORD\nimport mapped\n"
        "def find(output): return {'markup': WORD} if mapped.WORD in output.content else None\n"
    )
    path = write("x.jsonl", generation("a", 0, "one"))
    options = ("--detector", "uses.py:find", "--isolation", isolation)
    code, out, err = alone("scan", path, *options, PYTHONPATH=str(tmp_path / "lib"))
    assert code == 0, err
    assert '"leak":true' in out


SLOW = "import time\ndef find(output): time.sleep(600)\n"


def processes() -> str:
    return subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True).stdout


@bubblewrap.needed
@needs_store
def test_a_command_that_is_killed_leaves_no_sandbox(tmp_path: Path) -> None:
    Path("wolf.py").write_text(SLOW)
    command = [SCRIPT, *BASE, "--time-limit", "600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until(processes, lambda seen: f"{tmp_path}/wolf.py:find" in seen)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
    until(processes, lambda seen: f"{tmp_path}/wolf.py:find" not in seen)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with an output."""
    with served(tmp_path_factory.mktemp("isolation") / "s.duckdb") as running:
        running.upload(generation("a", 0, "one"))
        yield running


@pytest.mark.parametrize(
    ("isolation", "told"),
    [
        pytest.param({"by": "none", "why": "<b>bwrap</b> is not installed"}, "&lt;b&gt;bwrap&lt;/b&gt;", id="none"),
        pytest.param(None, "nobody said how it ran", id="not said"),
        pytest.param({"by": "bwrap", "why": None}, None, id="isolated"),
    ],
)
def test_the_page_of_a_replay_tells_it_too(service: Service, isolation: object, told: str | None) -> None:
    name = f"far-{told is None}-{isolation is None}"
    candidate = {"name": name, "content": "e" * 32, "triggers": [], "isolation": isolation}
    part = service.http.post("/v1/candidates/outputs", json={"candidate": candidate}).json()
    while part["state"] == "judging":
        said = {"session": part["session"], "part": part["part"], "verdicts": [None] * len(part["outputs"])}
        service.http.post("/v1/candidates/verdicts", json=said)
        part = service.http.post("/v1/candidates/outputs", json={"session": part["session"]}).json()
    wanted = {"baseline": "goat@1", "candidate": part["detector"]}
    location = service.http.post("/v1/replays", json=wanted).headers["location"]
    job = until(lambda: service.http.get(location).json(), lambda each: each["state"] == "done")
    page = service.http.get(location.removeprefix("/v1")).text
    assert (job["report"]["isolation"]["candidate"]["by"] == "bwrap") == (told is None)
    assert (NOT_ISOLATED in page) == (told is not None)
    if told:
        assert page.index(told) < page.index("What both say")


def test_the_shell_that_is_found_for_a_script_is_shown(leakdown: Leakdown) -> None:
    """A program of two lines, by its own path."""
    shell = shutil.which("sh")
    assert shell
    Path("says").write_text(f"#!{shell}\nwhile read -r line; do echo null; done\n")
    Path("says").chmod(0o755)
    path = write("x.jsonl", generation("a", 0, "one"))
    ran = leakdown("scan", path, "--detector", "exec:./says")
    assert [each["leak"] for each in ran.lines] == [False]
