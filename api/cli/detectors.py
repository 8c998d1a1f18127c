"""`leakdown detectors`: what detectors there are, and which one is current."""

from typing import Annotated

import typer

from api.cli import show
from api.cli.options import JsonOption, StoreOption, store_path

app = typer.Typer(help="List, explain and promote detectors.", rich_markup_mode=None)
DetectorArgument = Annotated[
    str, typer.Argument(metavar="DETECTOR", help="The detector, as name@version.", show_default=False)
]


@app.command("list")
def list_(as_json: JsonOption = False, store: StoreOption = None) -> None:
    """List the detectors; the store's current one is marked, or the default where there is no store yet."""
    from analysis.detectors import detectors

    marked = _current(store)
    rows = [{"detector": each.id, "current": each.id == marked, "summary": each.summary} for each in detectors()]
    if as_json:
        show.json_line(rows)
    else:
        show.table(
            ("detector", "current", "summary"),
            [(r["detector"], "*" if r["current"] else "", r["summary"]) for r in rows],
        )


def _current(store: StoreOption) -> str:
    from analysis.registry import current, default_detector
    from ingest.store import Store

    path = store_path(store)
    if not path.exists():
        return default_detector().id
    with Store.open(path) as opened:
        return current(opened).id


@app.command("show")
def show_(detector_id: DetectorArgument) -> None:
    """Explain a detector: its line, its source, its triggers and its own examples."""
    from analysis.detectors import detector

    one = detector(detector_id)
    print(f"{one.id}: {one.summary}\nsource: {one.source}\ntriggers: {show.safe('  '.join(one.triggers))}")
    for title, examples in (("leaks", one.leaks), ("no leaks", one.clean)):
        print(f"\n{title}:")
        for example in examples:
            print(f"  {example.why}\n    {show.safe(example.output.content or '')}")


@app.command("promote")
def promote(detector_id: DetectorArgument, store: StoreOption = None) -> None:
    """Make a detector the current one; it judges the stored history first."""
    from analysis.detectors import detector
    from analysis.registry import promote as make_current
    from ingest.store import Store

    chosen = detector(detector_id)
    with Store.open(store_path(store)) as opened, show.progress("texts searched") as told:
        make_current(opened, chosen, told)
    show.talk(f"{chosen.id} is current")
