"""`leakdown label`: which outputs a person should label, and what was said of them."""

from typing import Annotated

import typer

from api.cli import show
from api.cli.options import JsonOption, StoreOption, WhereOption, texts
from api.connect import connect

app = typer.Typer(help="Draw outputs that are worth a label.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Keeps the group a group while it has one command."""


@app.command("sample")
def sample(
    baseline: Annotated[
        str, typer.Option(metavar="A", help="The detector in use, as name@version.", show_default=False)
    ],
    candidate: Annotated[str, typer.Option(metavar="B", help="The detector to compare with it.", show_default=False)],
    budget: Annotated[int, typer.Option(metavar="N", help="Label at most this many outputs.", show_default=False)],
    where: WhereOption = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Draw by this number; the same draws the same.")] = 1,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Draw the outputs whose labels say most of two detectors.

    What they disagree on comes first, then a random draw of the rest. The chance of each is kept, so that `replay`
    can tell from the labels what holds for the whole history. Says beforehand which bound the budget can reach. The
    same seed with a larger budget, or a later history, keeps what is labelled already.
    """
    from api.cli.estimates_tables import show_sample

    wanted = list(texts(where))
    with connect(store) as backend, show.progress("texts searched") as told:
        drawn = backend.sample(baseline, candidate, budget, wanted, seed, told)
    if as_json:
        show.json_line(drawn)
    else:
        show_sample(drawn)
