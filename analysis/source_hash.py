"""The hash of the source that decides what a function of ours answers."""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from hashlib import blake2b


def source_hash(module: str) -> str:
    """The hash of the source of `module` and of what it imports of ours."""
    return blake2b(repr(sorted(sources(module).items())).encode(), digest_size=16).hexdigest()


def sources(module: str) -> dict[str, str]:
    """The source of `module` and of what it imports of ours, by module.

    Read from the import statements: what happens to be loaded, other detectors among it, decides nothing.
    """
    found: dict[str, str] = {}
    _gather(module, found)
    return found


def _gather(module: str, found: dict[str, str]) -> None:
    found[module] = inspect.getsource(sys.modules[module])
    for name in _imports(found[module]):
        if name.startswith("analysis.") and name in sys.modules and name not in found:
            _gather(name, found)


_STATEMENT = re.compile(
    r"^[ \t]*(?:from analysis[^\n]* import (?:\([^)]*\)|[^\n]*)|import analysis[^\n]*)", re.MULTILINE
)


def _imports(source: str) -> Iterator[str]:
    """The names of our modules that `source` imports, and of what it imports from them, which may be modules."""
    for statement in _STATEMENT.findall(source):
        match ast.parse(statement.strip()).body:
            case [ast.Import(names)]:
                yield from (alias.name for alias in names)
            case [ast.ImportFrom(module=str(module), names=names)]:
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)
