"""A bubblewrap sandbox as the beginning of a command line: no network, a few paths to read, nothing to write but a
small folder in memory. Options: `man bwrap`; version 0.8 or later, whose `--disable-userns` and `--size` it takes."""

import os
import site
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from analysis.candidates.limits import Limits

TEMPORARY = "/tmp"  # noqa: S108 - the sandbox's own
_USER = "1000"
"""Who code is inside, whoever runs it."""
_NAMESPACES = ("--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-net", "--unshare-ipc",
               "--unshare-uts", "--unshare-cgroup-try", "--uid", _USER, "--gid", _USER, "--hostname", "isolated",
               "--cap-drop", "ALL", "--die-with-parent", "--new-session")  # fmt: skip
_KEPT = frozenset({"PATH", "LANG", "LANGUAGE", "TZ", "PYTHONPATH", "PYTHONHASHSEED", "PYTHONUTF8", "NODE_PATH",
                   "JAVA_HOME", "DOTNET_ROOT", "LD_LIBRARY_PATH", "PERL5LIB", "RUBYLIB",
                   "PYENV_ROOT", "PYENV_VERSION"})  # fmt: skip
"""Variables that say how to run and where libraries stand. No other passes: they hold keys."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What to start a command with: words before it, and the environment of both."""

    words: tuple[str, ...]
    environment: dict[str, str]


def sandbox(bwrap: str, paths: Iterable[Path], limits: Limits) -> Sandbox:
    """The sandbox in which `paths` can be read."""
    variables = _environment()
    words = [
        bwrap,
        *_NAMESPACES,
        *("--size", str(limits.disk), "--perms", "1777", "--tmpfs", TEMPORARY),
        *("--dev", "/dev", "--size", str(limits.disk), "--perms", "1777", "--tmpfs", "/dev/shm"),  # noqa: S108
        # whoever is root outside owns the kernel's settings here too, and no option takes that away
        *("--remount-ro", "/dev", "--proc", "/proc", "--remount-ro", "/proc"),
        *_bound(paths),
        *("--dir", str(Path.cwd()), "--remount-ro", "/", "--chdir", str(Path.cwd())),
    ]
    return Sandbox((*words, "--"), variables)


def _bound(paths: Iterable[Path]) -> Iterator[str]:
    """Options that show the paths, outer ones first: those inside them are shown already."""
    shown: set[Path] = set()
    for path in sorted(dict.fromkeys(each.absolute() for each in paths)):
        if any(parent in shown for parent in path.parents):
            continue
        shown.add(path)
        # a link stays a link: what it leads to is shown if it is among the paths, and only then
        yield from ("--symlink", str(path.readlink()), str(path)) if path.is_symlink() else (
            "--ro-bind", str(path), str(path),
        )  # fmt: skip


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("LC_")}
    return {
        **kept,
        "HOME": TEMPORARY,
        "TMPDIR": TEMPORARY,
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUSERBASE": site.getuserbase(),
    }
