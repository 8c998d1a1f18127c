"""The files that a command was given: one that is refused is told on stderr, and the others go on."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from api.cli import show
from ingest.errors import InputError, UnreadableInput

if TYPE_CHECKING:
    from ingest.files.containers import Source

Given = TypeVar("Given")


def sources(paths: Sequence[str]) -> tuple[list["Source"], bool]:
    """The inputs that `paths` name, each once, those that belong together as one; whether every path gave one."""
    from ingest.files.grouping import together

    found: dict[Source, None] = {}
    refused = [path for path in paths if not accepted(lambda named: found.update(_named(named)), path)]
    return (together(list(found)) if len(found) > 1 else list(found)), not refused


def _named(path: str) -> dict["Source", None]:
    from ingest.files.containers import expand

    if path == "-" and sys.stdin is None:
        raise UnreadableInput("standard input is closed; pipe a file into it")
    return dict.fromkeys(replace(source, name=_text(source.name)) for source in expand([path]))


def _text(name: str) -> str:
    """A file name as text: bytes that are no UTF-8, which no database holds, as escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def accepted(do: Callable[[Given], object], given: Given) -> bool:
    """Do it with what was given; False if that was refused, which is told on stderr."""
    try:
        do(given)
    except InputError as fault:
        show.talk(f"leakdown: {fault}")
        return False
    return True


def check_format(name: str | None) -> None:
    """UsageError, before anything is opened, for a format that there is not."""
    from ingest.detection import by_name

    if name is not None:
        by_name(name)
