"""The command line: `leakdown`. One module a command; each imports what it needs when it runs, so help is quick.

stdout carries results, stderr talk. Exit: 0 done, 1 a gate failed, 2 the call or the input was wrong.
"""

import errno
import io
import os
import sys
from typing import Annotated

import typer
from typer.exceptions import TyperException

from api.cli import (
    alerts,
    audit,
    backup,
    demo,
    detectors,
    drift,
    export,
    faults,
    ingest,
    keys,
    label,
    rates,
    recovery,
    replay,
    retention,
    scan,
    schema,
    serve,
    show,
    uploads,
)
from ingest.errors import LeakdownError

app = typer.Typer(
    name="leakdown",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("ingest")(ingest.ingest)
app.command("scan")(scan.scan)
app.command("rates")(rates.rates)
app.command("drift")(drift.drift)
app.command("recovery")(recovery.recovery)
app.command("faults")(faults.faults)
app.add_typer(audit.app, name="audit")
app.command("replay")(replay.replay)
app.command("prune")(retention.prune)
app.command("forget")(retention.forget)
app.command("export")(export.export)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.command("schema")(schema.schema)
app.command("serve")(serve.serve)
app.command("demo")(demo.demo)
app.add_typer(alerts.app, name="alerts")
app.add_typer(detectors.app, name="detectors")
app.add_typer(keys.app, name="keys")
app.add_typer(label.app, name="label")
app.add_typer(uploads.app, name="uploads")


def _print_version(wanted: bool) -> None:
    from importlib.metadata import version

    if wanted:
        print(f"leakdown {version('leakdown')}")
        raise typer.Exit


@app.callback()
def _whole(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Finds tool calls that leaked into text, and measures which model, engine and template leaks them."""


def main() -> None:
    """Run the command line; a failure that leakdown explains is one line on stderr, without a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # a terminal that cannot show a character gets its escape, not a traceback
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The exit code of a call with `arguments`."""
    try:
        code = app(arguments, prog_name="leakdown", standalone_mode=False)
        sys.stdout.flush()
    except LeakdownError as fault:
        return _say(str(fault))
    except TyperException as fault:
        return _wrong_call(fault)
    except typer.Abort:
        return 130
    except (BrokenPipeError, SystemExit):
        # the reader of our output has gone, which Typer answers with SystemExit; nobody is left to be told
        return _drop_output(0)
    except OSError as fault:
        if fault.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        return _drop_output(_say("no space left to write to; free some and run it again"))
    return code if isinstance(code, int) else 0


def _wrong_call(fault: TyperException) -> int:
    context = getattr(fault, "ctx", None)
    if type(fault).__name__ == "NoArgsIsHelpError":
        print(fault.format_message(), file=sys.stderr)
        return 2
    return _say(f"{fault.format_message()}{f' (see {context.command_path} --help)' if context else ''}")


def _say(message: str) -> int:
    show.talk(f"leakdown: {' '.join(message.split())}")
    return 2


def _drop_output(code: int) -> int:
    """`code`, with what is still buffered sent nowhere: Python would fail once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
