"""What the command line prints: JSON and tables on stdout, talk and progress on stderr.

Model output is hostile: control characters (terminal escapes among them) never reach the terminal as they are.
"""

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

if TYPE_CHECKING:
    from ingest.pipeline import Progress as Read

WIDTH = 10_000
"""Columns that a table may have: a terminal breaks a long row itself, and figures folded within cells mislead."""
CELL = 200
"""Characters of a table's cell; whole values stand in the JSON."""
QUARANTINE_SHOWN = 5
"""Quarantined lines told one by one, a file."""

_UNSAFE = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
# UTF-8 of DEL and the C1 controls, zero-width and bidirectional marks, line separators, byte order marks
_UNSAFE_IN_JSON = re.compile(
    rb"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf"
)


def safe(text: str) -> str:
    """`text` on one line, with every control, format, separator and surrogate character written as an escape."""
    return "".join(
        char
        if unicodedata.category(char) not in _UNSAFE
        else char.encode("unicode_escape", "backslashreplace").decode()
        for char in text
    )


def brief(text: str, limit: int) -> str:
    """The start of `text`, safe, in at most `limit` characters; an ellipsis tells that there is more."""
    shown = safe(text[: limit + 1])
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def count(n: int, what: str) -> str:
    """So many of `what`, a plural in s."""
    return f"{n:,} {what.removesuffix('s') if n == 1 else what}"


def json_line(value: Any) -> None:
    """One JSON value on one line of stdout; what a terminal would obey stands as `\\u` escapes."""
    line = _UNSAFE_IN_JSON.sub(lambda char: b"\\u%04x" % ord(char[0].decode()), to_json(value))
    sys.stdout.buffer.write(line + b"\n")


def talk(message: str) -> None:
    """One line on stderr."""
    print(safe(message), file=sys.stderr)


def quarantined(name: str, lines: Iterable[tuple[int, str]], total: int) -> None:
    """Say on stderr which lines of `name` are in quarantine and why: the first few, then how many more."""
    told = 0
    for line, why in lines:
        told += 1
        talk(f"leakdown: {name}:{line}: quarantined: {why}")
    if total > told:
        talk(f"leakdown: {name}: {total - told:,}{' more' if told else ''} quarantined")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table on stdout; numbers stand right, None is a dash."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, header_style="bold", pad_edge=False)
    body = [[_cell(value) for value in row] for row in rows]
    for at, name in enumerate(columns):
        numeric = bool(body) and all(_is_number(row[at]) for row in body)
        shown.add_column(Text(name), justify="right" if numeric else "left", no_wrap=True)
    for row in body:
        shown.add_row(*map(Text, row))
    console = Console(width=WIDTH)
    with console.capture() as captured:
        console.print(shown)
    for line in captured.get().split("\n")[:-1]:
        print(line.rstrip())
    sys.stdout.flush()  # before what is said of it on stderr


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else brief(str(value), CELL)


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() or cell == "–"


def interval(row: Mapping[str, Any], name: str) -> str | None:
    """The rate `name` of a JSON row with its interval, in per cent; None where it is undefined."""
    value = row[f"{name}_rate"] if f"{name}_rate" in row else row[name]
    return bounded(value, row[f"{name}_low"], row[f"{name}_high"])


def bounded(value: float | None, low: float | None, high: float | None) -> str | None:
    """A share with its interval, in per cent; None where it is undefined."""
    return None if value is None else f"{value:.1%} ({low:.1%}–{high:.1%})"


@contextmanager
def progress(what: str) -> Iterator[Callable[[int], object]]:
    """A counter on stderr while long work goes on; nothing where stderr is no terminal."""
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    # no markup: a file may be called [red]
    counter = TextColumn("{task.description}: {task.completed:,.0f}", markup=False)
    with _bar(what, SpinnerColumn(), counter, TimeElapsedColumn()) as told:
        yield lambda done: told(completed=done)


@contextmanager
def reading(what: str) -> Iterator[Callable[["Read"], object]]:
    """A bar on stderr while a file is read: bytes, rate and time left; nothing where stderr is no terminal."""
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with _bar(what, *columns) as told:
        yield lambda done: told(completed=done.bytes, total=done.total)


@contextmanager
def _bar(what: str, *columns: Any) -> Iterator[Callable[..., object]]:
    if not sys.stderr.isatty():
        yield lambda **_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(safe(what), total=None)
        yield lambda **done: bar.update(task, **done)
