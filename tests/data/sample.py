"""The sample files, read as their users read them."""

import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from data import generate
from ingest.records import Generation, Record, Run, validate

Json = dict[str, Any]

SAMPLE = Path(generate.__file__).parent / "sample"
CLOSERS = ("</tool_call>", "</function>", "</parameter>", "[ARGS]", "<|tool_call_end|>", "functions.")


@cache
def records() -> tuple[Record, ...]:
    lines = (SAMPLE / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(validate(json.loads(line)) for line in lines)


@cache
def generations() -> dict[str, Generation]:
    """The sample's generations by id, in their order."""
    return {one.generation_id: one for one in records() if isinstance(one, Generation) and one.generation_id}


@cache
def truth() -> Json:
    loaded: Json = json.loads((SAMPLE / "truth.json").read_text(encoding="utf-8"))
    return loaded


@cache
def pairs() -> tuple[Json, ...]:
    return tuple(json.loads(line) for line in (SAMPLE / "pairs.jsonl").read_text(encoding="utf-8").splitlines())


def eligible(one: Generation) -> bool:
    """DESIGN's words: attempt 0, native, tools known to be offered, not failed without output."""
    failed = one.status in ("error", "cancelled") and not (one.content or one.reasoning or one.tool_calls)
    offered = one.effective_call_mode == "native" and bool(one.tools)
    return one.attempt == 0 and offered and not failed


def rows(key: str) -> Iterator[tuple[tuple[str, str, bool], int]]:
    """A figure of truth.json by model, engine version and whether the tools are known."""
    for line in truth()["lines"]:
        for known, versions in ((True, line["versions"]), (False, line["tools_unknown"])):
            for version in versions:
                yield (line["model"], version["engine_version"], known), version[key]


@cache
def _versions() -> dict[str, str | None]:
    return {run.run_id: run.engine_version for run in records() if isinstance(run, Run)}


def place(one: Generation) -> tuple[str, str, bool]:
    """Model, engine version, and whether the tools are known."""
    version = _versions()[one.run_id]
    assert one.model is not None
    assert version is not None
    return one.model, version, one.tools is not None


@cache
def plain() -> tuple[Generation, ...]:
    """Generations of native calls, tools known or not: those that truth.json counts by version."""
    return tuple(
        one
        for one in generations().values()
        if one.effective_call_mode == "native" and ("tools" not in one.model_fields_set or one.tools)
    )


def rounds() -> dict[tuple[str, int | None], list[Generation]]:
    found: dict[tuple[str, int | None], list[Generation]] = defaultdict(list)
    for one in generations().values():
        found[one.run_id, one.round].append(one)
    return found


def leaking() -> set[str]:
    return {*truth()["leaks"], *truth()["leaks_not_counted"], *truth()["printed"]}
