"""Candidates: what a user may name as a detector. Docs: docs/candidates.md.

    name@version          one of ours, or one that the store knows
    rules.toml            a rule file: declarative, read by `analysis.rules`
    path.py:attribute     code in Python, in a file or in a module
    module:attribute
    exec:command          any executable

Code runs in worker processes of whoever resolves it, isolated and under limits, and never in a service.
"""

import json
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from analysis import rules
from analysis.candidates import needs
from analysis.candidates.code import Code
from analysis.candidates.isolation import Box, Wanted, boxed
from analysis.candidates.limits import Limits
from analysis.candidates.workers import Failed, Worker
from analysis.detectors import EVERY, Brought, Detector, detector
from ingest.errors import UsageError

EXEC = "exec:"
HOST = (sys.executable, "-P", "-m", "analysis.candidates.host")
"""What runs code in Python, without the user's folder before our own modules."""
TRIGGERS = 10_000
_IN_FILE = re.compile(r".+\.py:[^\W\d]\w*(\.[^\W\d]\w*)*", re.DOTALL)
_IN_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def is_brought(spec: str) -> bool:
    """Whether `spec` names a file or code, not the id of a detector."""
    return spec.endswith(rules.SUFFIX) or spec.startswith(EXEC) or bool(_IN_FILE.fullmatch(spec) or _by_module(spec))


def resolve(spec: str, limits: Limits | None = None, wanted: Wanted | None = None) -> Detector:
    """The detector that `spec` names; code is started once, to say what it is, isolated as `wanted`. UsageError."""
    if spec.startswith(EXEC):
        return _of_command(spec, limits or Limits(), wanted or Wanted())
    if spec.endswith(rules.SUFFIX):
        return rules.load(Path(spec))
    if _IN_FILE.fullmatch(spec) or _by_module(spec):
        return _of_python(spec, limits or Limits(), wanted or Wanted())
    try:
        return detector(spec)
    except UsageError as fault:
        raise UsageError(
            f"{fault}; or a rule file (rules.toml), code (path.py:attribute, module:attribute) or exec:COMMAND"
        ) from None


def _by_module(spec: str) -> bool:
    return "@" not in spec and bool(_IN_MODULE.fullmatch(spec))


def _of_python(spec: str, limits: Limits, wanted: Wanted) -> Detector:
    where, _, attribute = spec.rpartition(":")
    path = Path(where).resolve() if where.endswith(".py") else None
    if path and not path.is_file():
        raise UsageError(f"{spec}: there is no file {where}")
    command = (*HOST, f"{path or where}:{attribute}")
    box = boxed(wanted, limits, partial(needs.file, path) if path else partial(needs.module, where))
    about = _about(spec, command, limits, box)
    if about.content is None:
        raise UsageError(f"{spec}: it did not say what it is")
    name = f"{Path(where).stem if path else where}.{attribute}"
    return _detector(spec, name, about, about.content, Code(command, limits, box.sandbox), box)


def _of_command(spec: str, limits: Limits, wanted: Wanted) -> Detector:
    try:
        words = shlex.split(spec.removeprefix(EXEC))
    except ValueError as fault:
        raise UsageError(f"{spec}: {str(fault).lower()}; quote it as in a shell") from None
    program = shutil.which(words[0]) if words else None
    if program is None:
        raise UsageError(f"{spec}: {words[0] if words else 'nothing'} is no program that can be run")
    command = (program if Path(program).is_absolute() else str(Path(program).absolute()), *words[1:])
    files = [path for word in words[1:] if (path := Path(word)).is_file()]
    # an interpreter that is found by its name is not what is compared; a program that is named by its path is
    own = [] if files and os.sep not in words[0] else [Path(program)]
    content = _hash_of(words, own + files)
    box = boxed(wanted, limits, partial(needs.program, command))
    about = _about(spec, command, limits, box)
    return _detector(spec, (own + files)[-1].name, about, content, Code(command, limits, box.sandbox), box)


def _hash_of(words: list[str], files: list[Path]) -> str:
    """The hash of a command's words and of the files that they name."""
    digest = blake2b(repr(words).encode("utf-8", "replace"), digest_size=16)
    try:
        for path in files:
            with path.open("rb") as file:
                while piece := file.read(2**20):
                    digest.update(piece)
            digest.update(b"\0")
    except OSError as fault:
        raise UsageError(f"{path}: cannot be read ({(fault.strerror or str(fault)).lower()})") from None
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class _About:
    """What code says of itself in answer to the first line."""

    triggers: tuple[str, ...] = (EVERY,)
    endings: tuple[str, ...] = ()
    by_name: bool = False
    summary: str | None = None
    content: str | None = None


def _about(spec: str, command: tuple[str, ...], limits: Limits, box: Box) -> _About:
    worker = Worker(command, limits, box.sandbox)
    hint = "; isolated code sees its own files alone, --readable PATH shows it more" if box.sandbox else ""
    try:
        answer = json.loads(worker.hello())
    except Failed as fault:
        raise UsageError(f"{spec}: does not answer the first line ({fault}){hint}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{spec}: its answer to the first line is no JSON; it writes one value a line") from None
    finally:
        worker.close()
    if not isinstance(answer, dict):
        return _About()
    if isinstance(answer.get("error"), str):
        raise UsageError(f"{spec}: {answer['error'][:400]}{hint}")
    return _declared(spec, answer)


def _declared(spec: str, answer: dict[str, Any]) -> _About:
    triggers, endings = answer.get("triggers"), answer.get("endings") or []
    for name, told in (("triggers", triggers or []), ("endings", endings)):
        fits = isinstance(told, list) and len(told) <= TRIGGERS and all(isinstance(each, str) and each for each in told)
        if not fits:
            raise UsageError(f"{spec}: its {name} must be a list of texts, none of them empty")
    summary, content = answer.get("summary"), answer.get("content")
    return _About(
        triggers=tuple(triggers) if triggers else (EVERY,),
        endings=tuple(endings),
        by_name=answer.get("by_name") is True,
        summary=summary[:500] if isinstance(summary, str) else None,
        content=content if isinstance(content, str) else None,
    )


def _detector(spec: str, name: str, about: _About, content: str, code: Code, box: Box) -> Detector:
    # what it declares decides which outputs it sees, so it is a part of what it is
    digest = blake2b(
        repr((content, about.triggers, about.endings, about.by_name)).encode("utf-8", "replace"), digest_size=16
    )
    version = digest.hexdigest()
    return Detector(
        name=_UNFIT.sub("-", name).strip("-.")[:64] or "code",
        version=f"sha-{version[:12]}",
        summary=about.summary or f"Code: {spec}",
        source=f"code {spec}",
        triggers=about.triggers,
        find=code.find,  # type: ignore[arg-type]
        leaks=(),
        clean=(),
        by_name=about.by_name,
        endings=about.endings,
        brought=Brought(version, many=code.many, isolation=box.isolation),
    )
