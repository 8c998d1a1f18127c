"""The command line: `leakdown`. One module a command; each imports what it needs when it runs, so help is quick.

stdout carries results, stderr talk. Exit: 0 done, 1 a gate failed, 2 the call or the input was wrong.
"""

import os
import sys

import typer
from typer.exceptions import TyperException

from api.cli import detectors, export, ingest, rates, replay, scan, schema, uploads
from ingest.errors import LeakdownError

app = typer.Typer(
    name="leakdown",
    help="Finds tool calls that leaked into text, and measures which model, engine and template leaks them.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("ingest")(ingest.ingest)
app.command("scan")(scan.scan)
app.command("rates")(rates.rates)
app.command("replay")(replay.replay)
app.command("export")(export.export)
app.command("schema")(schema.schema)
app.add_typer(detectors.app, name="detectors")
app.add_typer(uploads.app, name="uploads")


def main() -> None:
    """Run the command line; a failure that leakdown explains is one line on stderr, without a traceback."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The exit code of a call with `arguments`."""
    try:
        code = app(arguments, standalone_mode=False)
    except LeakdownError as fault:
        return _say(str(fault))
    except TyperException as fault:
        context = getattr(fault, "ctx", None)
        return _say(f"{fault.format_message()}{f' (see {context.command_path} --help)' if context else ''}")
    except typer.Abort:
        return 130
    except BrokenPipeError:
        # the reader of our output has gone; keep Python from failing once more when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code if isinstance(code, int) else 0


def _say(message: str) -> int:
    print(f"leakdown: {' '.join(message.split())}", file=sys.stderr)
    return 2
