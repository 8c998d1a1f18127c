"""Rule files of alerts: TOML, one `[[rule]]` table a rule. Docs: docs/drift.md."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from analysis.alerts.kinds.change import Change
from analysis.alerts.kinds.first_seen import FirstSeen
from analysis.alerts.kinds.recovery_drop import RecoveryDrop
from analysis.alerts.kinds.threshold import Threshold
from ingest.errors import UsageError

LIMIT = 64 * 2**10
"""Bytes of a file."""
AnyRule = Annotated[Threshold | Change | RecoveryDrop | FirstSeen, Field(discriminator="kind")]
"""A rule of any kind. A new kind is a new file in `kinds`, and stands here."""
DEFAULT: tuple[AnyRule, ...] = (
    Change(name="change", kind="change"),
    RecoveryDrop(name="recovery_drop", kind="recovery_drop"),
    FirstSeen(name="first_seen", kind="first_seen"),
)
"""The rules that apply without a file."""
_RULE: TypeAdapter[AnyRule] = TypeAdapter(AnyRule)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    rule: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=100)]


def load(path: Path) -> tuple[AnyRule, ...]:
    """The rules of the file at `path`; UsageError with the file, the rule's number and the field."""
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT + 1)
    except OSError as fault:
        raise UsageError(f"{path}: cannot be read ({(fault.strerror or str(fault)).lower()})") from None
    if len(data) > LIMIT:
        raise UsageError(f"{path}: over {LIMIT:,} bytes; a file of rules is smaller")
    try:
        return parse(data.decode(), str(path))
    except UnicodeDecodeError as fault:
        raise UsageError(f"{path}: byte {fault.start} is no UTF-8; a file of rules is TOML in UTF-8") from None


def parse(text: str, name: str) -> tuple[AnyRule, ...]:
    """The rules of a file's text; `name` is what messages call the file. UsageError."""
    try:
        text.encode()
        file = _File.model_validate(tomllib.loads(text))
    except UnicodeEncodeError as fault:
        raise UsageError(f"{name}: character {fault.start + 1} is half of a surrogate pair; write it whole") from None
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise UsageError(f"{name}: no TOML: {str(fault)[:1].lower()}{str(fault)[1:]}") from None
    except ValidationError as fault:
        raise UsageError(f"{name}: {_first(fault)}") from None
    try:
        return named_apart([_rule(table, number) for number, table in enumerate(file.rule, 1)])
    except UsageError as fault:
        raise UsageError(f"{name}: {fault}") from None


def named_apart(rules: Sequence[AnyRule]) -> tuple[AnyRule, ...]:
    """`rules`; UsageError if two have one name, which would give their alerts one id."""
    numbers: dict[str, int] = {}
    for number, rule in enumerate(rules, 1):
        if rule.name in numbers:
            raise UsageError(f"rule {number}: name: {rule.name!r} is the name of rule {numbers[rule.name]} too")
        numbers[rule.name] = number
    return tuple(rules)


def _rule(table: dict[str, Any], number: int) -> AnyRule:
    try:
        return _RULE.validate_python(table)
    except ValidationError as fault:
        raise UsageError(f"rule {number}: {_first(fault, str(table.get('kind')))}") from None


def _first(fault: ValidationError, kind: str = "") -> str:
    """The first thing that is wrong: which field, and what."""
    first = fault.errors(include_url=False)[0]
    where = [str(part) for part in first["loc"] if part != kind]
    message = first["msg"].removeprefix("Value error, ")
    return f"{'.'.join(where) or 'kind'}: {message[:1].lower()}{message[1:]}"
