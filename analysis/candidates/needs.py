"""What code needs in order to run: the system's libraries, the interpreter with its packages, and its own files."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.candidates.views import VENDORED, Veil, folder_of_code, own_folder, whole

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/alternatives",
          "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/gnu/store")  # fmt: skip
"""What programs of the system are made of; nothing of a user stands there."""
_OF_PREFIX = ("bin", "lib", "lib32", "lib64", "libexec", "pyvenv.cfg")
"""What programs load of the folder that they are installed in."""
_CHOICES = (".python-version", ".node-version", ".ruby-version", ".tool-versions")
_SHEBANG = 256


def system() -> list[Path]:
    """The system's own folders, those that are here."""
    return [path for each in SYSTEM if (path := Path(each)).exists()]


def interpreter(veil: Veil) -> list[Path]:
    """This Python, its packages, and the modules and packages of each other folder on its path."""
    named = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    prefixes = dict.fromkeys(path for each in named for path in spellings(Path(each)))
    paths = [path for each in prefixes for path in _installed(each)]
    for each in _search_path():
        if each.is_file() or not VENDORED.isdisjoint(each.parts) or any(map(each.is_relative_to, paths)):
            paths.append(each)
        else:
            paths += folder_of_code(each, veil)
    return [*paths, *(path for each in _mapped() for path in whole(each, veil))]


def module(name: str, veil: Veil) -> list[Path]:
    """The code in the folder where the command runs."""
    return folder_of_code(Path.cwd(), veil, {name.partition(".")[0]})


def file(path: Path, veil: Veil) -> list[Path]:
    """A file of code: with its folder if that is its own, else with the modules and packages beside it."""
    if own_folder(path.parent, veil):
        return [path, *whole(path.parent, veil)]
    return [path, *folder_of_code(path.parent, veil)]


def program(command: Sequence[str], veil: Veil) -> list[Path]:
    """A program, what it is installed with, and the files that its arguments name."""
    paths = [path for each in _chain(Path(command[0])) for path in _executable(each, veil)]
    files = [each for word in command[1:] if Path(word).is_file() for each in spellings(Path(word))]
    return paths + [path for each in files for path in file(each, veil)]


def spellings(path: Path) -> list[Path]:
    """A path as it is named, and where it leads: a program may go by either."""
    return list(dict.fromkeys((path.absolute(), path.resolve())))


def _executable(path: Path, veil: Veil) -> list[Path]:
    if not own_folder(path.parent, veil):
        return [path]
    prefix = path.parent.parent
    if path.parent.name == "shims":
        # a chooser of versions, such as pyenv's: it runs one of those that stand beside it
        choices = (path for name in _CHOICES if (path := Path.cwd() / name).is_file())
        return [prefix, *choices]
    beside = _installed(prefix) if path.parent.name == "bin" and own_folder(prefix, veil) else []
    return [path, *beside, *whole(path.parent, veil)]


def _chain(path: Path) -> Iterator[Path]:
    """A program as it is named, the file that it is, and what runs that if it is a script."""
    yield from spellings(path)
    with path.open("rb") as opened:
        first = opened.read(_SHEBANG).partition(b"\n")[0].decode("utf-8", "replace")
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    runs = shutil.which(words[1] if Path(words[0]).name == "env" and len(words) > 1 else words[0]) if words else None
    if runs:
        yield from spellings(Path(runs))


def _installed(prefix: Path) -> list[Path]:
    return [path for each in _OF_PREFIX if (path := prefix / each).exists()]


def _search_path() -> list[Path]:
    """Where this Python finds modules, but for the folder of the script or of the caller, which stands first."""
    given = sys.path if sys.flags.safe_path else sys.path[1:]
    return [path for each in dict.fromkeys(given) if each and (path := Path(each).absolute()).exists()]


def _mapped() -> Iterator[Path]:
    """Packages installed in place that an import hook of setuptools finds, and not the path."""
    for name, loaded in list(sys.modules.items()):
        if name.startswith("__editable__"):
            for where in getattr(loaded, "MAPPING", {}).values():
                yield from (path for each in (where, f"{where}.py") if (path := Path(os.fspath(each))).exists())
