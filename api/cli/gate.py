"""`--fail-on`: the gate of a report, for the commands that have one."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli import show

if TYPE_CHECKING:
    from analysis.gates import Gate, Ruling

FailOnOption = Annotated[
    str | None,
    typer.Option(
        "--fail-on",
        metavar="EXPR",
        help="Exit with 1 if this holds of the report's JSON, such as 'labelled.new_fp > 0'.",
    ),
]


def gate(expression: str | None) -> "Gate | None":
    """The gate of `--fail-on`, before any work is done; UsageError."""
    from analysis.gates import Gate

    return None if expression is None else Gate.parse(expression)


def judged(wanted: "Gate | None", report: dict[str, Any]) -> "Ruling | None":
    """What `wanted` says of `report`, also put into it as `gate`."""
    if wanted is None:
        return None
    ruling = wanted.judge(report)
    report["gate"] = ruling.as_json()
    return ruling


def told(ruling: "Ruling | None") -> int:
    """Say on stderr what the gate says; the exit code."""
    if ruling is None:
        return 0
    show.talk(f"leakdown: {ruling}")
    return int(ruling.failed)
