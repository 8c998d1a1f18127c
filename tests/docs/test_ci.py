"""docs/ci.md: its workflow is run, step by step, as a runner of GitHub Actions runs it."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.api.conftest import SAMPLE
from tests.test_docs import ROOT, blocks, shell

DOCUMENT = ROOT / "docs" / "ci.md"
[WORKFLOW] = blocks(DOCUMENT, "yaml")
OURS = ("leakdown", "__editable__", "_editable")


@dataclass(frozen=True, slots=True)
class Step:
    """What a step left: its exit code, what it said, and its part of the job's summary."""

    code: int
    log: str
    summary: str


class Runner:
    """Runs the `run:` steps of a job in a workspace. A step gets what earlier ones put into GITHUB_PATH, and a summary
    of its own. https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands"""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self._files = {name: folder / name for name in ("GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        (folder / "temp").mkdir()
        files = {name: str(path) for name, path in self._files.items()}
        self._environment = {**environment, **files, "RUNNER_TEMP": str(folder / "temp"), "CI": "true"}

    def run(self, script: str) -> Step:
        for path in self._files.values():
            path.write_text("", "utf-8")
        ran = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=self.workspace,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        added = self._files["GITHUB_PATH"].read_text("utf-8").split()
        self._environment["PATH"] = os.pathsep.join([*reversed(added), self._environment["PATH"]])
        return Step(ran.returncode, ran.stdout, self._files["GITHUB_STEP_SUMMARY"].read_text("utf-8"))


def steps() -> dict[str, str]:
    """The scripts of the workflow's one job, by name."""
    [job] = yaml.safe_load(WORKFLOW)["jobs"].values()
    return {step["name"]: step["run"] for step in job["steps"] if "run" in step}


def without_a_network(folder: Path) -> dict[str, str]:
    """An environment in which pip finds the packages of these tests, leakdown itself left out, and asks no index."""
    (folder / "packages").mkdir()
    for entry in {path for name in ("hatchling", "duckdb") for path in beside(name)}:
        if not entry.name.startswith(OURS):
            (folder / "packages" / entry.name).symlink_to(entry)
    pip = {"NO_INDEX": "1", "NO_DEPS": "1", "NO_BUILD_ISOLATION": "0", "DISABLE_PIP_VERSION_CHECK": "1"}
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    # this Python comes first: the packages are built for it
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {
        **kept,
        "PATH": path,
        "PYTHONPATH": str(folder / "packages"),
        **{f"PIP_{name}": value for name, value in pip.items()},
    }


def beside(package: str) -> Iterator[Path]:
    """What is installed where `package` is."""
    found = importlib.util.find_spec(package)
    assert found
    assert found.origin
    return Path(found.origin).parents[1].iterdir()


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A runner whose workspace holds the checkouts and the pack, and where leakdown has been installed."""
    folder = tmp_path_factory.mktemp("ci")
    made = Runner(folder, **without_a_network(folder))
    (made.workspace / ".leakdown").symlink_to(ROOT)
    (folder / "store").mkdir()
    shell(f"leakdown ingest {SAMPLE}/runs.jsonl && leakdown label export --pack leaks.jsonl", folder / "store")
    (folder / "store" / "leaks.jsonl").rename(made.workspace / "leaks.jsonl")
    installed = made.run(steps()["Install leakdown"])
    assert installed.code == 0, installed.log
    return made


def test_the_installed_command_is_that_of_the_wheel(runner: Runner) -> None:
    found = runner.run('command -v leakdown; "$RUNNER_TEMP/leakdown/bin/python" -c "import api; print(api.__file__)"')
    script, module = found.log.split()
    temp = runner.workspace.parent / "temp" / "leakdown"
    assert script == str(temp / "bin" / "leakdown")
    assert Path(module).is_relative_to(temp / "lib")


def test_the_replay_passes_and_its_report_is_the_summary(runner: Runner) -> None:
    ran = runner.run(steps()["Replay"])
    assert ran.code == 0, ran.log
    assert "leakdown: the gate passed: labelled.new_fp > 0 or labelled.candidate.recall_low < 0.5" in ran.log
    assert ran.summary.startswith("## Replay: `openrouter-net@1` (baseline) × `openrouter-net-tight@1` (candidate)")
    assert "**The gate passed**" in ran.summary
    report: dict[str, Any] = json.loads((runner.workspace / "replay.json").read_text("utf-8"))
    assert {key: report["labelled"][key] for key in ("lost_tp", "lost_fp")} == {"lost_tp": 4, "lost_fp": 13}
    assert not list(runner.workspace.glob("*.duckdb"))


@pytest.mark.parametrize(
    ("gate", "code", "summary"),
    [
        pytest.param("labelled.lost_tp > 0", 1, "**The gate failed**: `labelled.lost_tp > 0`", id="a gate that fails"),
        pytest.param("labelled.lost_tp > 0 &", 2, "", id="a gate that is none"),
    ],
)
def test_a_step_fails_with_its_gate(runner: Runner, gate: str, code: int, summary: str) -> None:
    script = steps()["Replay"]
    [line] = [line for line in script.splitlines() if "--fail-on" in line]
    ran = runner.run(script.replace(line, f'  --fail-on "{gate}" \\'))
    assert ran.code == code, ran.log
    assert summary in ran.summary
    assert bool(ran.summary) == bool(summary)
