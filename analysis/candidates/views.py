"""What isolated code sees of the file system: paths, chosen so that nothing hidden is among them.

A folder that holds something hidden is not shown itself; what else is in it is, one by one. So what is made there
later stays hidden too. Docs: docs/candidates.md, "Isolation".
"""

import importlib.machinery
import itertools
import os
import stat
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

MOST = 20_000
"""Files and folders looked at below one folder; a larger one is not shown."""
VENDORED = frozenset({"node_modules", "site-packages", "dist-packages", "__pycache__"})
"""Folders of installed code: shown as they are."""
_MODULES = tuple(importlib.machinery.all_suffixes())


class TooMany(Exception):
    """A folder holds more than anybody looks through."""


@dataclass(frozen=True, slots=True)
class Veil:
    """What is hidden wherever it stands: stores, and what stands beside a store under its name."""

    stores: tuple[Path, ...] = ()
    """Absolute, without links."""

    def hides(self, path: Path) -> bool:
        """Whether `path` is a store, its log, the notice of who serves it, or what arrives for it."""
        named = (store for store in self.stores if path.name.removeprefix(".").startswith(store.name))
        return any(path.parent.resolve() == store.parent for store in named)

    def touches(self, folder: Path) -> bool:
        """Whether a store stands somewhere below `folder`."""
        return any(store.is_relative_to(folder.resolve()) for store in self.stores)


def own_folder(folder: Path, veil: Veil) -> bool:
    """Whether a folder is the code's own: not one in which people work, live, or keep a store."""
    shared = (Path.cwd(), Path.home(), Path(tempfile.gettempdir()))
    real = folder.resolve()
    return not (veil.touches(real) or any(place.resolve().is_relative_to(real) for place in shared))


def folder_of_code(folder: Path, veil: Veil, named: Collection[str] = ()) -> list[Path]:
    """The modules and packages in a folder, and the folders that are `named`; nothing else that stands there."""
    return [path for each in _children(folder) if _is_code(each, named) for path in whole(each, veil)]


def whole(path: Path, veil: Veil) -> list[Path]:
    """A file, or a folder with all in it but what is hidden: a name that begins with a dot, a socket, a store."""
    try:
        return list(_shown(path, veil, itertools.count()))
    except TooMany:
        return []


def without_stores(path: Path, veil: Veil) -> list[Path]:
    """A path with all in it but a store: in order that none is shown, wherever somebody keeps it."""
    if veil.hides(path):
        return []
    if not veil.touches(path):
        return [path]
    return [shown for each in _children(path) for shown in without_stores(each, veil)]


def _is_code(path: Path, named: Collection[str]) -> bool:
    if path.name.startswith("."):
        return False
    if path.is_dir():
        return path.name in named or (path / "__init__.py").is_file()
    return path.name.endswith(_MODULES) and path.is_file()


def _shown(path: Path, veil: Veil, seen: Iterator[int]) -> Iterator[Path]:
    if next(seen) >= MOST:
        raise TooMany
    if veil.hides(path) or not _is_plain(path):
        return
    if path.is_symlink() or not path.is_dir() or path.name in VENDORED:
        yield path
        return
    children = _children(path)
    below = [[] if each.name.startswith(".") else list(_shown(each, veil, seen)) for each in children]
    if all(shown == [child] for child, shown in zip(children, below, strict=True)):
        yield path
        return
    for shown in below:
        yield from shown


def _is_plain(path: Path) -> bool:
    """No socket, pipe or device: what answers there would answer an isolated process too."""
    mode = path.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            return sorted(Path(each.path) for each in found)
    except OSError:
        return []  # what cannot be read cannot be shown
