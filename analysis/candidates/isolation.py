"""How code is kept from what is not its own: in a sandbox of bubblewrap where one can be had, else not at all."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from analysis.candidates import needs
from analysis.candidates.limits import Limits, launched
from analysis.candidates.sandbox import Sandbox, sandbox
from analysis.candidates.views import Veil, without_stores
from analysis.detectors import Isolation
from ingest.errors import UsageError

Mode = Literal["auto", "bwrap", "none"]
NOT_WANTED = "--isolation none"
PATIENCE = 30.0
"""Seconds that a sandbox may take to start."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user says of isolation: how, what to show besides, and the stores to hide."""

    mode: Mode = "auto"
    readable: tuple[Path, ...] = ()
    stores: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        for path in self.readable:
            if not path.exists():
                raise UsageError(f"--readable {path}: there is nothing of that name")
            if self.veil.hides(path.absolute()):
                raise UsageError(f"--readable {path}: that is the store, which no code is shown")

    @property
    def veil(self) -> Veil:
        """What is hidden."""
        return Veil(tuple(store.resolve() for store in self.stores))


def wanted(mode: str, readable: tuple[Path, ...], stores: tuple[Path, ...]) -> Wanted:
    """What a user said. UsageError."""
    found = next((each for each in get_args(Mode) if each == mode), None)
    if found is None:
        raise UsageError(f"--isolation {mode}: one of {', '.join(get_args(Mode))}")
    return Wanted(found, readable, stores)


@dataclass(frozen=True, slots=True)
class Box:
    """How the processes of one detector are isolated, and in which sandbox."""

    isolation: Isolation
    sandbox: Sandbox | None = None


def boxed(wanted: Wanted, limits: Limits, own: Callable[[Veil], list[Path]]) -> Box:
    """The box for code that needs the paths `own`. UsageError if it must be isolated and cannot be."""
    if wanted.mode == "none":
        return Box(Isolation("none", NOT_WANTED))
    if why := unavailable():
        if wanted.mode == "bwrap":
            raise UsageError(f"--isolation bwrap: {why}")
        return Box(Isolation("none", why))
    veil = wanted.veil
    readable = (path for each in wanted.readable for path in needs.spellings(each))
    paths = [*needs.system(), *needs.interpreter(veil), *own(veil), *readable]
    shown = [path for each in paths for path in without_stores(each, veil)]
    return Box(Isolation("bwrap", None), sandbox(_bwrap() or "bwrap", shown, limits))


@cache
def unavailable() -> str | None:
    """Why no sandbox can be had here; None if one can. Found by starting one, once in a process."""
    bwrap = _bwrap()
    if bwrap is None:
        return "bwrap is not installed"
    made = sandbox(bwrap, [*needs.system(), *needs.interpreter(Veil())], Limits())
    inside = launched([sys.executable, "-I", "-S", "-c", ""], Limits(), PATIENCE)
    return _fault_of([*made.words, *inside], made.environment)


def _bwrap() -> str | None:
    return shutil.which("bwrap") if sys.platform == "linux" else None


def _fault_of(command: Sequence[str], environment: dict[str, str]) -> str | None:
    try:
        ran = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as fault:
        return f"bwrap does not start ({type(fault).__name__})"
    if ran.returncode == 0:
        return None
    said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"bwrap cannot make a sandbox here ({said[-1][:200] if said else f'exit code {ran.returncode}'})"
