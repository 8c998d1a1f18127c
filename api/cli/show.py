"""What the command line prints: JSON and tables on stdout, talk and progress on stderr.

Model output is hostile: control characters (terminal escapes among them) never reach the terminal as they are.
"""

import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic_core import to_json

_UNSAFE = ("Cc", "Cf", "Cs", "Co")


def safe(text: str) -> str:
    """`text` on one line, with every control, format and surrogate character written as an escape."""
    return "".join(
        char
        if unicodedata.category(char) not in _UNSAFE
        else char.encode("unicode_escape", "backslashreplace").decode()
        for char in text
    )


def json_line(value: Any) -> None:
    """One JSON value on one line of stdout."""
    sys.stdout.buffer.write(to_json(value) + b"\n")
    sys.stdout.buffer.flush()


def talk(message: str) -> None:
    """One line on stderr."""
    print(safe(message), file=sys.stderr)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table on stdout; numbers stand right, None is a dash."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, header_style="bold", pad_edge=False)
    body = [[_cell(value) for value in row] for row in rows]
    for at, name in enumerate(columns):
        numeric = bool(body) and all(_is_number(row[at]) for row in body)
        shown.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
    for row in body:
        shown.add_row(*map(Text, row))
    console = Console()
    # a pipe has no width; folding rows there would only make them harder to read by a program
    Console(width=console.width if console.is_terminal else 200).print(shown)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else safe(str(value))


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() or cell == "–"


def interval(value: float | None, low: float | None, high: float | None) -> str | None:
    """A rate with its interval in per cent; None where it is undefined."""
    if value is None or low is None or high is None:
        return None
    return f"{value:.1%} ({low:.1%}–{high:.1%})"


@contextmanager
def progress(what: str) -> Iterator[Callable[[int], object]]:
    """A counter on stderr while long work goes on; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}: {task.completed:,.0f}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(safe(what), total=None)
        yield lambda done: bar.update(task, completed=done)
