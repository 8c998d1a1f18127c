"""Rule files: a detector as a TOML file, declarative, so that anyone's may be read and run. Docs: docs/rule-files.md.

A file is one detector. Its id is its name and the hash of its text, so a changed file is another version. On load
its own examples are checked, and every pattern runs in time linear in the text (RE2).
"""

import tomllib
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from analysis.detectors import EVERY, Brought, Detector, detectors
from analysis.rules.examples import contradiction
from analysis.rules.files import RuleFile
from analysis.rules.matching import Rules
from ingest.errors import UsageError

LIMIT = 256 * 2**10
"""Bytes of a rule file."""
SUFFIX = ".toml"


def load(path: Path) -> Detector:
    """The detector that the rule file at `path` describes; UsageError."""
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT + 1)
        text = data.decode()
    except OSError as fault:
        raise UsageError(f"{path}: cannot be read ({(fault.strerror or str(fault)).lower()})") from None
    except UnicodeDecodeError as fault:
        raise UsageError(f"{path}: byte {fault.start} is no UTF-8; a rule file is TOML in UTF-8") from None
    return parse(text, str(path))


def parse(text: str, name: str) -> Detector:
    """The detector that the text of a rule file describes; `name` is what messages call the file. UsageError."""
    text = text.replace("\r\n", "\n")
    if len(text.encode("utf-8", "surrogatepass")) > LIMIT:
        raise UsageError(f"{name}: over {LIMIT:,} bytes; a rule file is smaller")
    file = _file(text, name)
    if file.name in {each.name for each in detectors()}:
        raise UsageError(f"{name}: name: {file.name!r} is the name of a built-in detector; choose another")
    detector = _detector(file, text, name)
    if wrong := contradiction(detector, file):
        raise UsageError(f"{name}: {wrong}")
    return detector


def _file(text: str, name: str) -> RuleFile:
    try:
        return RuleFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as fault:
        raise UsageError(f"{name}: no TOML: {str(fault)[0].lower()}{str(fault)[1:]}") from None
    except RecursionError:
        raise UsageError(f"{name}: no TOML: nested too deeply") from None
    except ValidationError as fault:
        raise UsageError(f"{name}: {_first(fault)}") from None


def _first(fault: ValidationError) -> str:
    """The first thing that is wrong: where (tables counted from 1), and what."""
    first = fault.errors(include_url=False)[0]
    where: list[str] = []
    for part in first["loc"]:
        if isinstance(part, int) and where:
            where[-1] += f" {part + 1}"
        else:
            where.append(str(part))
    message = first["msg"].removeprefix("Value error, ")
    return f"{', '.join(where)}: {message}" if where else message


def _detector(file: RuleFile, text: str, name: str) -> Detector:
    digest = blake2b(text.encode(), digest_size=16).hexdigest()
    try:
        rules = Rules.of(file)
    except ValueError as fault:
        raise UsageError(f"{name}: {fault}") from None
    return Detector(
        name=file.name,
        version=f"sha-{digest[:12]}",
        summary=file.summary,
        source=f"rule file {Path(name).name}",
        triggers=_triggers(file),
        find=rules.find,
        leaks=tuple(each.as_example() for each in file.leak),
        clean=tuple(each.as_example() for each in file.clean),
        brought=Brought(digest, rules=text),
    )


def _triggers(file: RuleFile) -> tuple[str, ...]:
    """Each rule's own: one without any looks at every text, and so does the file."""
    needs: list[Any] = [rule.triggers for rule in file.rule]
    return tuple(dict.fromkeys(each for some in needs for each in some)) if all(needs) else (EVERY,)
