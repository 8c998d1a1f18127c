"""A store with some of everything in it, made by a seed: two uploads that share records, labels, events, two detectors
that have judged it, rollups, what is known of triggers."""

import random
import shutil
from pathlib import Path
from typing import Any

from analysis.registry import default_detector
from api.backend import LocalBackend
from api.uploads import Given
from ingest.files.containers import Source
from ingest.store import Store
from tests.api.conftest import CALL, LEAK, generation, write

Json = dict[str, Any]
CURRENT, OTHER, NEVER = default_detector().id, "goat@1", "openrouter-net@1"
"""The current detector, one that has judged too, and one that has not."""
_TEXTS = (
    LEAK, f"I will look.\n{LEAK}", "All is well.", "Write `<function=ls>` first.", '<function=ls>{"a":', "[TOOL_CALLS]",
)  # fmt: skip
SERIES = (("m-1", "vllm"), ("m-2", "sglang"), ("m-3", "vllm"))


def records(seed: int, runs: int, name: str) -> list[Json]:
    """Runs with a round that may leak and be retried, some with a client's report and a person's label."""
    throw = random.Random(seed)  # noqa: S311 - no cryptography
    found: list[Json] = []
    for at in range(runs):
        run_id, (model, engine) = f"{name}{at}", throw.choice(SERIES)
        given = {"model": model, "engine": engine, "started_at": f"2026-11-{at % 20 + 1:02}T12:00:00Z"}
        text = f"{throw.choice(_TEXTS)} {at if throw.random() < 0.7 else ''}"
        found.append(generation(run_id, 0, text, **given))
        if LEAK in text:
            found.append(generation(run_id, 0, None, generation_id=f"{run_id}.r", attempt=1, tool_calls=CALL, **given))
            told = {"run_id": run_id, "round": 0, "markup": LEAK, "leak": 1, "retried": True}
            found.append({"type": "leaked_tool_call", **told})
        if at % 3 == 0:
            found.append({"type": "label", "generation_id": f"{run_id}.0", "leak": LEAK in text, "by": "ana"})
    return found


def inputs(folder: Path, runs: int) -> tuple[Path, Path, Path]:
    """Three files: the second repeats a part of the first, the third is new."""
    first, second = records(1, runs, "a"), records(2, runs, "b")
    return (
        write(folder / "first.jsonl", *first),
        write(folder / "second.jsonl", *first[: runs // 2], *second),
        write(folder / "third.jsonl", *records(3, runs, "c")),
    )


def make(path: Path, *files: Path, crashed: Path | None = None) -> Path:
    """A store of `files`, judged by two detectors; `crashed` is it as a crash before its closing leaves it: most of it
    in its log."""
    with Store.open(path, create=True) as store:
        backend = LocalBackend(store)
        for file in files:
            backend.uploads.ingest(Source(file, file.name), Given())
        backend.replays.replay(CURRENT, OTHER, (), recompute=False)
        backend.figures.rates(("model",), (), None)
        if crashed:
            for end in ("", ".wal"):
                shutil.copy(f"{path}{end}", f"{crashed}{end}")
    return path
