"""The long form: `python -m tests.fuzz --seconds N [TARGET …]`, N seconds for each target, one after the other.

With atheris (`pip install 'atheris>=3,<4'`, on Linux) inputs are guided by coverage; without it they
are drawn at random from the seeds. What breaks a promise is kept under `--out`, to become a named test.
"""

import argparse
import importlib.util
import os
import random
import re
import sys
import tempfile
import time
import traceback
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NoReturn

from tests.fuzz.mutation import LARGEST, mutated
from tests.fuzz.targets import Target, targets

STUCK = 25
"""Seconds of one input that count as a fault."""
MEGABYTES = 2048
_RUNS = re.compile(r"(?:stat::number_of_executed_units:|^executions:)\s*(\d+)", re.MULTILINE)


def main() -> int:
    """Run the targets; 1 if one of them broke."""
    asked = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    asked.add_argument("--seconds", type=int, default=20, help="for each target")
    asked.add_argument("--out", type=Path, default=Path(tempfile.gettempdir(), "leakdown-fuzz"))
    asked.add_argument("targets", nargs="*", metavar="TARGET", help="all by default")
    given = asked.parse_args()
    atheris = _atheris()
    print("guided by coverage (atheris)" if atheris else "drawn at random: atheris is not installed", flush=True)
    # what is imported here tells which of its branches are taken
    with atheris.instrument_imports(include=["ingest", "analysis"]) if atheris else nullcontext():
        known = targets()
    if unknown := set(given.targets) - known.keys():
        asked.error(f"no target {sorted(unknown)[0]}; there are {', '.join(known)}")
    named = given.targets or list(known)
    broken = [each for each in named if not _ran(known[each], given.seconds, given.out / each, atheris)]
    print(f"broken: {', '.join(broken) or 'none'}")
    return 1 if broken else 0


def _atheris() -> Any:
    return importlib.import_module("atheris") if importlib.util.find_spec("atheris") else None


def _ran(target: Target, seconds: int, out: Path, atheris: Any) -> bool:
    """Run one target in a process of its own, which atheris ends in its own way, and print a line of it."""
    out.mkdir(parents=True, exist_ok=True)
    said, started = out / "said.txt", time.monotonic()
    child = os.fork()
    if child == 0:
        _run(target, seconds, out, atheris)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    told = _RUNS.search(said.read_text(errors="replace"))
    runs, took = int(told[1]) if told else 0, time.monotonic() - started
    print(
        f"{target.name:<32}{runs:>12,} executions in {took:3.0f} s{f'  BROKEN: {said}' if status else ''}", flush=True
    )
    return status == 0


def _run(target: Target, seconds: int, out: Path, atheris: Any) -> NoReturn:
    with (out / "said.txt").open("wb") as said:
        for stream in (1, 2):
            os.dup2(said.fileno(), stream)
    try:
        status = _guided(target, seconds, out, atheris) if atheris else _drawn(target, seconds, out)
    except SystemExit:
        raise  # atheris keeps the input on its way out
    except BaseException:  # noqa: BLE001 - what follows the fork is the parent's
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    os._exit(status)


def _guided(target: Target, seconds: int, out: Path, atheris: Any) -> int:
    """By coverage: what reaches new code is kept in `out`/corpus, and gone on from the next time."""
    inputs, corpus = list(target.inputs()), out / "corpus"
    corpus.mkdir(exist_ok=True)
    for at, data in enumerate(inputs):
        (corpus / f"seed-{at}").write_bytes(data)

    def change(data: bytes, most: int, seed: int) -> bytes:
        dice = random.Random(seed)
        if dice.random() < 0.3:
            return bytes(atheris.Mutate(data, most))
        return mutated(data, dice, inputs, target.words)[:most]

    limits = [f"-max_total_time={seconds}", f"-timeout={STUCK}", f"-rss_limit_mb={MEGABYTES}", f"-max_len={LARGEST}"]
    arguments = [sys.argv[0], *limits, f"-artifact_prefix={out}/", "-print_final_stats=1", str(corpus)]
    atheris.Setup(arguments, target.answer, custom_mutator=change)
    atheris.Fuzz()
    return 0


def _drawn(target: Target, seconds: int, out: Path) -> int:
    """At random from the seeds."""
    inputs, dice, runs, status = list(target.inputs()), random.Random(0), 0, 0
    deadline = time.monotonic() + seconds
    while not status and time.monotonic() < deadline:
        data = mutated(dice.choice(inputs), dice, inputs, target.words)
        runs += 1
        try:
            target.answer(data)
        except Exception:  # noqa: BLE001 - it is what is looked for
            (out / f"crash-{runs}").write_bytes(data)
            traceback.print_exc()
            status = 1
    print(f"executions: {runs}")
    return status


if __name__ == "__main__":
    sys.exit(main())
