"""docs/http.md: each of its curl lines does what it says, in its order, on a service over an empty store.

They run in a shell with the real curl where there is one, and on every machine as the requests that they stand for.
"""

import os
import re
import shlex
import shutil
import subprocess
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from string import Template
from typing import Any

import httpx
import pytest
from pydantic_core import from_json

from api.app import create_app
from api.settings import Settings
from ingest.store import Store
from tests.api.service import served, until
from tests.test_docs import ROOT, blocks

DOCUMENT = ROOT / "docs" / "http.md"
ADDRESS = "http://127.0.0.1:8321"
TOLD = ("id", "label_id", "session", "key")
"""Fields of answers that later lines use as variables of the shell."""
DONE = '"state":"done"'
Known = dict[str, str]


@dataclass(frozen=True, slots=True)
class Said:
    """A curl line, and what the document says comes back: pieces, in their order."""

    line: str
    pieces: tuple[str, ...]

    def holds(self, answer: str) -> bool:
        """Whether the answer begins, goes on and ends as the document says."""
        pattern = ".*".join(re.escape(piece.strip()) for piece in self.pieces)
        return re.fullmatch(pattern, answer.strip(), re.DOTALL) is not None


def said() -> Iterator[Said]:
    """All lines of the document."""
    for block in blocks(DOCUMENT, "sh"):
        lines = block.splitlines()
        for line, answer in zip(lines[::2], lines[1::2], strict=True):
            assert line.startswith("curl "), line
            assert answer.startswith("# "), line
            yield Said(line, tuple(answer[2:].split("…")))


def options() -> ArgumentParser:
    """As much of curl's options as the document uses."""
    parser = ArgumentParser(allow_abbrev=False, exit_on_error=False)
    for flag in "fsS":
        parser.add_argument(f"-{flag}", action="store_true")
    for name in ("X", "T", "d", "F", "o", "w"):
        parser.add_argument(f"-{name}")
    parser.add_argument("-H", action="append", default=[])
    parser.add_argument("url")
    return parser


def parsed(line: str, known: Known) -> Namespace:
    """A curl line with its variables filled in."""
    return options().parse_args(shlex.split(Template(line).safe_substitute(known))[1:])


def method(given: Namespace) -> str:
    return str(given.X or ("PUT" if given.T else "POST" if given.d or given.F else "GET"))


def with_curl(line: str, known: Known, folder: Path) -> str:
    """What the line prints in a shell; fails unless its exit code is 0."""
    command = ["bash", "-c", line]
    ran = subprocess.run(command, cwd=folder, env={**os.environ, **known}, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, ""), line
    return ran.stdout


def with_httpx(line: str, known: Known, folder: Path) -> str:
    """What the line would print, from the request that it stands for; fails where curl's -f would."""
    given = parsed(line, known)
    more: dict[str, Any] = {"headers": dict(each.split(": ", 1) for each in given.H)}
    if given.T:
        more["content"] = (folder / given.T).read_bytes()
    if given.d:
        more["content"] = given.d
    if given.F:
        field, path = given.F.split("=@")
        more["files"] = {field: (Path(path).name, (folder / path).read_bytes())}
    answer = httpx.request(method(given), given.url, trust_env=False, timeout=60, **more)
    assert answer.is_success or not given.f, answer.text
    if given.o:
        (folder / given.o).write_bytes(answer.content)
    return ("" if given.o else answer.text) + (str(answer.status_code) if given.w == "%{http_code}" else "")


def learnt(answer: str) -> Known:
    """The variables that an answer gives a value."""
    try:
        value = from_json(answer)
    except ValueError:
        return {}
    return {name: value[name] for name in TOLD if isinstance(value, dict) and name in value}


RUNNERS = [with_httpx, *([with_curl] if shutil.which("curl") else [])]


@pytest.mark.parametrize("run", [pytest.param(each, id=each.__name__) for each in RUNNERS])
def test_every_line_answers_as_the_document_says(run: Callable[[str, Known, Path], str], tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(ROOT / "data")
    known: Known = {}
    with served(tmp_path / "s.duckdb") as service:
        for each in said():
            ask = partial(run, each.line.replace(ADDRESS, service.url), known, tmp_path)
            # a job takes a moment
            answer = until(ask, each.holds) if DONE in "".join(each.pieces) else ask()
            assert each.holds(answer), f"{each.line}\n{answer[:2000]}"
            known |= learnt(answer)
        assert (tmp_path / "generations.parquet").read_bytes().startswith(b"PAR1")


def documented() -> dict[str, Any]:
    """The OpenAPI document."""
    with Store.open(Path("s.duckdb"), create=True) as store:
        return create_app(store, Settings()).openapi()


def test_every_endpoint_has_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = {(method(given), httpx.URL(given.url).path) for given in (parsed(each.line, {}) for each in said())}
    missing = [
        f"{verb.upper()} {path}"
        for path, operations in documented()["paths"].items()
        for verb in operations
        if not any(verb.upper() == used and re.fullmatch(re.sub(r"\{.*?\}", "[^/]+", path), at) for used, at in shown)
    ]
    assert missing == []
