"""Options that several commands share, and what they mean."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ingest.errors import UsageError

if TYPE_CHECKING:
    from analysis.candidates.isolation import Wanted
    from analysis.candidates.limits import Limits

SECONDS, MEGABYTES = 5.0, 1024
PathsArgument = Annotated[
    list[str],
    typer.Argument(metavar="PATH", help="Files, folders, globs, or - for stdin.", show_default=False),
]
StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="PATH",
        help="The store [default: leakdown.duckdb, or LEAKDOWN_STORE].",
        show_default=False,
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", metavar="F", help="Read the files as this format instead of finding it out."),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="KEY=GLOB",
        help="Only generations whose KEY matches; may be repeated, all must hold.",
    ),
]
TimeLimitOption = Annotated[
    float,
    typer.Option("--time-limit", metavar="S", help="Seconds that code may take for one output."),
]
MemoryLimitOption = Annotated[
    int,
    typer.Option("--memory-limit", metavar="MB", help="Megabytes of memory that code may take."),
]
IsolationOption = Annotated[
    str,
    typer.Option(
        "--isolation",
        metavar="HOW",
        help="How code is kept from network, store and files: bwrap, none, or auto: bwrap where it can be had.",
    ),
]
ReadableOption = Annotated[
    list[Path] | None,
    typer.Option("--readable", metavar="PATH", help="A file or folder that isolated code may read; may be repeated."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def pairs(given: Sequence[str] | None) -> dict[str, str]:
    """`key=value` arguments as a mapping; UsageError for one without an equals sign."""
    for text in texts(given):
        if "=" not in text:
            raise UsageError(f"{text}: write KEY=VALUE, such as engine=vllm")
    return dict(text.split("=", 1) for text in given or ())


def texts(given: Sequence[str] | None) -> Sequence[str]:
    """`given`; UsageError for an argument with bytes that are no UTF-8, which match nothing in any store."""
    for text in given or ():
        if not text.isascii() and text.encode("utf-8", "ignore").decode() != text:
            raise UsageError(f"{text}: not UTF-8")
    return given or ()


def output_path(given: str | Path, source: Path, what: str = "the store") -> Path:
    """Where to write a result; UsageError if that is the store (or `what` is read instead), which would be lost."""
    path = Path(given)
    if path.exists() and source.exists() and path.samefile(source):
        raise UsageError(f"{path}: this is {what}; name another file to write to")
    return path


def limits(seconds: float, megabytes: int) -> "Limits":
    """What code may use; UsageError for what is no limit."""
    from analysis.candidates.limits import MEGABYTE, Limits

    return Limits(seconds=seconds, memory=megabytes * MEGABYTE)


def wanted(isolation: str, readable: Sequence[Path] | None, *stores: Path | None) -> "Wanted":
    """How code is to be isolated: it sees none of the stores, nor the one of the settings. UsageError."""
    from analysis.candidates.isolation import wanted as asked
    from api.connect import store_path

    return asked(isolation, tuple(readable or ()), (store_path(None), *(each for each in stores if each)))
