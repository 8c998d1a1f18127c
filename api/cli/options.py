"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from api.settings import settings
from ingest.errors import UsageError

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
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def store_path(given: Path | None) -> Path:
    """The store that is meant: the option, else the environment, else the default."""
    configured = settings().store
    return given or configured


def pairs(given: list[str] | None) -> dict[str, str]:
    """`key=value` options as a mapping; UsageError for one without an equals sign."""
    found = dict.fromkeys(text for text in given or () if "=" not in text)
    if found:
        raise UsageError(f"--set {next(iter(found))}: write key=value, such as engine=vllm")
    return dict(text.split("=", 1) for text in given or ())
