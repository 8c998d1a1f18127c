"""What runs in a worker for code in Python: it loads what was named and answers a line with a line.

Never imported by the program itself: it loads what its user named.
"""

import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any

from analysis.candidates.wire import as_output, line
from analysis.detectors import Detector, Finding
from analysis.output import Output


def main() -> None:
    """Answer the lines on stdin until they end. What the code prints goes to stderr."""
    spec, *_ = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    about, find = _load(spec)
    for question in sys.stdin.buffer:
        value = json.loads(question)
        answers.write(line(about if "hello" in value else _answer(find, as_output(value))))


def _load(spec: str) -> tuple[dict[str, Any], Callable[[Output], Any]]:
    """What the code says of itself, and its function; `error` where it cannot be loaded."""
    where, _, attribute = spec.rpartition(":")
    try:
        module = _from_file(Path(where)) if where.endswith(".py") else _by_name(where)
        found = module
        for name in attribute.split("."):
            found = getattr(found, name)
        find = getattr(found, "find", None) if isinstance(found, Detector) or not callable(found) else found
        if not callable(find):
            raise TypeError(f"{attribute} is no detector and no function")
        return {**_declared(found, find), "content": _content(module)}, find
    except BaseException as fault:  # noqa: BLE001 - whatever the import of foreign code raises, sys.exit too
        return {"error": f"{type(fault).__name__}: {fault}"}, lambda _: None


def _from_file(path: Path) -> ModuleType:
    sys.path.append(str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _by_name(name: str) -> ModuleType:
    sys.path.append(str(Path.cwd()))
    return importlib.import_module(name)


def _declared(found: Any, find: Any) -> dict[str, Any]:
    """The triggers that it declares: those of a Detector, or the attributes of that name of an object or function."""

    def told(name: str) -> Any:
        return getattr(found, name, getattr(find, name, None))

    triggers, summary = told("triggers"), told("summary")
    return {
        "triggers": None if triggers is None else list(triggers),
        "endings": list(told("endings") or ()),
        "by_name": bool(told("by_name")),
        "summary": summary if isinstance(summary, str) else None,
    }


def _content(module: ModuleType) -> str:
    """The hash of the module's source, and of all that it imported from its own folder or package."""
    file = Path(module.__file__ or ".").resolve()
    depth = len(module.__package__.split(".")) if module.__package__ else 1
    home = file.parents[depth - 1] if depth <= len(file.parents) else file.parent
    digest = blake2b(digest_size=16)
    for path in sorted({file, *_loaded_from(home)}):
        digest.update(f"{path.relative_to(home)}\n".encode())
        digest.update(blake2b(path.read_bytes(), digest_size=16).digest())
    return digest.hexdigest()


def _loaded_from(home: Path) -> Iterator[Path]:
    """The sources under `home` that are loaded now, those of an environment that stands there left out."""
    for each in list(sys.modules.values()):
        path = Path(getattr(each, "__file__", None) or "/").resolve()
        if path.is_relative_to(home) and path.suffix == ".py" and "site-packages" not in path.relative_to(home).parts:
            yield path


def _answer(find: Callable[[Output], Any], output: Output) -> Any:
    try:
        found = find(output)
    except BaseException as fault:  # noqa: BLE001 - counted by who asked; sys.exit ends no worker
        return {"error": f"{type(fault).__name__}: {fault}"}
    if isinstance(found, Finding):
        return {**asdict(found), "leak": found.leak}
    return found if found is None or isinstance(found, dict) else {"error": f"it answered {type(found).__name__}"}


if __name__ == "__main__":
    main()
