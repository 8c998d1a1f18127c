"""`leakdown label`: people's verdicts, to take elsewhere."""

import typer

from api.cli import label_pack
from api.cli.options import StoreOption

app = typer.Typer(help="Take labels elsewhere.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Keeps `export` a command of its own while it is the only one."""


@app.command("export")
def export(
    pack: label_pack.PackOption,
    redact: label_pack.RedactOption = False,
    patterns: label_pack.PatternOption = None,
    store: StoreOption = None,
) -> None:
    """Write the labelled outputs as a pack.

    One file with all that a detector may look at and what people said of it, for `replay --pack` where there is no
    store. JSON Lines, or a zip of them if its name ends so.
    """
    label_pack.write(pack, redact, patterns, store)
