"""The command line to test with: in this process, where that is quick, and as a process of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.cli import run
from api.settings import PREFIX

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
SCRIPT = str(Path(sys.executable).with_name("leakdown"))


@dataclass(frozen=True, slots=True)
class Ran:
    """What a call left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The JSON values on stdout, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


Leakdown = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def leakdown(capfd: pytest.CaptureFixture[str]) -> Leakdown:
    """Run the command line in this process."""

    def call(*arguments: str | Path) -> Ran:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        return Ran(code, *capfd.readouterr())

    return call


def spawn(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> Ran:
    """Run the real script."""
    command, given = [SCRIPT, *arguments], {**os.environ, **environment}
    ran = subprocess.run(command, input=stdin, capture_output=True, env=given, check=False)
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


@pytest.fixture(scope="session")
def _sample_store_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sample") / "sample.duckdb"
    assert run(["ingest", str(SAMPLE / "runs.jsonl"), "--store", str(path)]) == 0
    return path


@pytest.fixture
def sample_store(_sample_store_once: Path, tmp_path: Path) -> Path:
    """A store with the sample runs, to do with as one likes."""
    return Path(shutil.copy(_sample_store_once, tmp_path / "sample.duckdb"))


def generation(run_id: str, number: int, content: str | None, **fields: Any) -> dict[str, Any]:
    """A native generation with one tool, as JSON."""
    return {
        "type": "generation",
        "run_id": run_id,
        "generation_id": f"{run_id}.{number}",
        "round": number,
        "attempt": 0,
        "model": "m-1",
        "engine": "vllm",
        "template": "t-1",
        "tools": [{"name": "ls"}],
        "content": content,
        **fields,
    }


def write(path: Path | str, *values: Any) -> Path:
    """A file of JSON lines."""
    target = Path(path)
    target.write_text("".join(f"{json.dumps(value)}\n" for value in values), "utf-8")
    return target


LEAK = '<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>'
CALL = [{"id": "c1", "name": "ls", "arguments": "{}"}]


def small_history() -> list[dict[str, Any]]:
    """Three runs: a leak that a retry mends, a leak passed off, an answer; a quotation labelled as no leak."""
    return [
        generation("a", 0, LEAK),
        generation("a", 0, None, generation_id="a.0b", attempt=1, tool_calls=CALL),
        generation("b", 0, f"I will look.\n{LEAK}"),
        generation("c", 0, "Write <function=name> first."),
        generation("c", 1, "All is well."),
        {"type": "leaked_tool_call", "run_id": "a", "round": 0, "markup": LEAK, "leak": 1, "retried": True},
        {"type": "label", "generation_id": "a.0", "leak": True, "by": "ana"},
        {"type": "label", "generation_id": "c.0", "leak": False, "by": "ana"},
    ]


@pytest.fixture
def small_store(leakdown: Leakdown) -> Path:
    """A store with the small history."""
    assert leakdown("ingest", write("history.jsonl", *small_history()), "--store", "s.duckdb").code == 0
    return Path("s.duckdb")
