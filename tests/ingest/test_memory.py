"""Peak memory of an ingest stays below a gigabyte, whatever the file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import corpus

ROOT = Path(__file__).parents[2]
GIGABYTE = 10**9
MEASURED = """
import resource, sys
from api.cli import run

code = run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
sys.exit(code)
"""


def peak(tmp_path: Path, log: Path) -> int:
    """Peak resident bytes of `leakdown ingest`."""
    command = [sys.executable, "-c", MEASURED, "ingest", str(log), "--store", str(tmp_path / "s.duckdb")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True)
    return int(done.stdout.split()[-1])


@pytest.mark.slow
def test_a_large_file(tmp_path: Path) -> None:
    assert peak(tmp_path, corpus.write(tmp_path, rows=100_000).native) < GIGABYTE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "times", "lines"),
    [
        pytest.param("x", 20_000_000, 1, id="20 MB"),
        pytest.param("`<tool_call>`", 4_000_000, 1, id="52 MB of markup in code spans"),
        pytest.param("x", 60_000_000, 8, id="several of 60 MB"),
        pytest.param("x", 200_000, 2_500, id="thousands of 200 kB"),
    ],
)
def test_long_lines(tmp_path: Path, text: str, times: int, lines: int) -> None:
    log = tmp_path / "long.jsonl"
    with log.open("w") as out:
        for at in range(lines):
            row = {"type": "generation", "run_id": "r", "content": f"{text * times}{at}", "tools": [{"name": "ls"}]}
            out.write(json.dumps(row) + "\n")
    assert peak(tmp_path, log) < GIGABYTE
