"""What people write: gates, filters, cursors, files of rules."""

import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from analysis import alerts, browse, rules
from analysis.alerts import files as alert_files
from analysis.detectors import detector, judge
from analysis.filters import Filters
from analysis.gates import Gate
from analysis.judging import judge_for
from analysis.output import OfferedTool, Output
from analysis.registry import register
from ingest.errors import InputError, UsageError
from ingest.files.containers import Source
from ingest.formats import formats
from ingest.pipeline import ingest
from ingest.store import Store
from tests.fuzz.targets import Target, require, text_of

ROOT = Path(__file__).parents[3]
REPORT: dict[str, Any] = {"n": 3, "labelled": {"n": 0, "candidate": {"recall_low": None}}, "both": [1], "x": True}
_BY = detector("goat@1")


def targets() -> Iterator[Target]:
    """Readers of what people write."""
    examples = ROOT / "docs" / "examples"
    gates = (b"labelled.n > 0 or labelled.candidate.recall_low < 0.9", b"not (n >= 3) and n != -1.5e2")
    filters = (b"model=a*", b"role=agent\nsince=2026-01-01\nuntil=2026-01-02T03:04:05+01:00", b"run_id=[a-c]?\\*")
    yield Target(
        "gate", _gate, (UsageError,), gates, (b" and ", b" or ", b"not ", b"(", b")", b"<=", b".", b"1e9", b"n")
    )
    yield Target(
        "filter", _filter, (UsageError,), filters, (b"=", b"since=", b"until=", b"[", b"]", b"*", b"\\", b"\n")
    )
    yield Target(
        "cursor", _cursor, (UsageError,), (b"WyIyMDI2LTAxLTAxVDAwOjAwOjAwIiwiciJd", b"WzEsMSwwXQ"), (b"W", b"=", b"_")
    )
    native = next(each.example.encode() for each in formats() if each.name == "native")
    yield Target("store", _kept_in_store, (InputError,), (native, *_FULL), (b'"usage"', b'"round"'))
    yield Target("rule-file", _rules, (UsageError,), ((examples / "rules.toml").read_bytes(),), _RULE_WORDS)
    yield Target(
        "alert-file", _alerts, (UsageError,), ((examples / "alerts.toml").read_bytes(),), (b"[[rule]]", b"kind = ")
    )


_RULE_WORDS = (
    b"[[rule]]\n",
    b"pattern = ",
    b"{tool}",
    b"literals = [",
    b"needs = ",
    b"'''",
    b"(?i)",
    b"\\b",
    b"[[leak]]\n",
)


_FULL = (
    b'{"type":"generation","run_id":"r","round":1,"attempt":0,"turn":2,"usage":{"input_tokens":9,"output_tokens":4},'
    b'"started_at":"2026-01-01T00:00:00Z","tools":[{"name":"ls"}],"tool_calls":[{"id":"c","name":"ls","arguments":"{}"}]}\n',
    b'{"type":"leaked_tool_call","run_id":"r","markup":"x","leak":1,"retried":true,"at":"2026-01-01T00:00:00Z"}\n',
    b'{"type":"label","generation_id":"g","leak":true,"by":"ana","note":"x"}\n{"type":"run","run_id":"r","tags":{}}\n',
)


def _kept_in_store(data: bytes) -> None:
    store = _store()
    path = store.path.parent / "fuzz.jsonl"
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    found = ingest(store, Source(path, path.name), judge_for(_BY))
    told = found.mapped + found.skipped + found.duplicate + found.quarantined
    require(told == found.lines, "lines balance")


def _gate(data: bytes) -> None:
    ruling = Gate.parse(text_of(data)).judge(REPORT)
    require("\n" not in str(ruling) or b"\n" in data, "a ruling is one line")


def _filter(data: bytes) -> None:
    told = dict(line.partition("=")[::2] for line in text_of(data).split("\n"))
    since, until = told.pop("since", None), told.pop("until", None)
    filters = Filters.parse([f"{key}={glob}" for key, glob in told.items()], since, until)
    condition, parameters = filters.sql()
    with _store().cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM facts WHERE {condition}", parameters).fetchall()  # noqa: S608


def _cursor(data: bytes) -> None:
    after = text_of(data)
    for asked in (browse.runs, browse.generations):
        page: Any = asked(_store(), _BY, Filters(), after=after)
        require(len(page.items) <= 50, "a page has no more than a page")


def _rules(data: bytes) -> None:
    made = rules.parse(text_of(data), "fuzz.toml")
    judge(made, Output(content="Now <function=ls> or ```x```", tools=(OfferedTool("ls"),)))


def _alerts(data: bytes) -> None:
    require(alert_files.parse(text_of(data), "fuzz.toml") is not None, f"{alerts.__name__} reads it")


@cache
def _store() -> Store:
    folder = Path(_kept().name)
    (folder / "log.jsonl").write_text(
        '{"type":"generation","run_id":"r","generation_id":"g","content":"x","model":"a"}\n'
    )
    store = Store.open(folder / "s.duckdb", create=True).__enter__()
    register(store, _BY)
    ingest(store, Source(folder / "log.jsonl", "log.jsonl"), judge_for(_BY))
    return store


@cache
def _kept() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="leakdown-fuzz-")
