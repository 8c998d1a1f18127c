"""`leakdown detectors`: what detectors there are, and which one is current."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli import candidates, show
from api.cli.options import (
    MEGABYTES,
    SECONDS,
    IsolationOption,
    JsonOption,
    ReadableOption,
    StoreOption,
    limits,
    wanted,
)
from api.connect import connect, store_path
from api.settings import settings
from ingest.errors import UsageError

if TYPE_CHECKING:
    from analysis.detectors import Example
    from analysis.output import Output

app = typer.Typer(help="List, explain and promote detectors.", no_args_is_help=True, rich_markup_mode=None)
DetectorArgument = Annotated[
    str,
    typer.Argument(
        metavar="DETECTOR", help="The detector: name@version, or a rule file (rules.toml).", show_default=False
    ),
]


@app.command("list")
def list_(as_json: JsonOption = False, store: StoreOption = None) -> None:
    """List the detectors.

    The store's current one is marked, or the default where there is no store yet.
    """
    rows = _detectors(store)
    if as_json:
        show.json_line([{name: row[name] for name in ("detector", "current", "summary")} for row in rows])
    else:
        show.table(
            ("detector", "current", "summary"),
            [(row["detector"], "*" if row["current"] else "", row["summary"]) for row in rows],
        )


def _detectors(store: StoreOption) -> list[dict[str, Any]]:
    from analysis.registry import default_detector
    from api.detectors import built_in

    if not (settings().url or store_path(store).exists()):
        return built_in(default_detector().id)
    with connect(store) as backend:
        return backend.detectors.listed()


@app.command("show")
def show_(detector_id: DetectorArgument, isolation: IsolationOption = "auto", readable: ReadableOption = None) -> None:
    """Explain a detector by its own examples.

    Its line, the system it comes from, its triggers, and outputs that it must and must not take for leaks.
    """
    from analysis.detectors import EVERY

    one = candidates.resolved_one(detector_id, limits(SECONDS, MEGABYTES), wanted(isolation, readable))
    print(f"{one.id}\n{show.safe(one.summary)}\n\nsource    {show.safe(one.source)}")
    for at, trigger in enumerate(one.triggers):
        told = show.safe(trigger) if trigger != EVERY else "none: it looks at every output"
        print(f"{'' if at else 'triggers':<10}{told}")
    _examples("A leak:", one.leaks)
    _examples("No leak:", one.clean)


def _examples(verdict: str, examples: tuple["Example", ...]) -> None:
    for example in examples:
        print(f"\n{verdict} {example.why}\n  ({_situation(example.output)})")
        for channel, text in (("", example.output.content), ("reasoning: ", example.output.reasoning)):
            for line in (text or "").rstrip("\n").split("\n") if text else ():
                print(f"    {channel}{show.safe(line)}".rstrip())


def _situation(output: "Output") -> str:
    """What stood around the text: the tools offered, the calls made, the finish reason."""
    parts = [
        ("tools offered", "unknown" if output.tools is None else ", ".join(sorted(output.offered_names)) or "none"),
        ("called elsewhere in the run", ", ".join(sorted(output.inferred_names)) if output.tools is None else ""),
        ("structured call", ", ".join(call.name for call in output.calls)),
        ("finish", output.finish_reason),
    ]
    return show.safe("; ".join(f"{name}: {what}" for name, what in parts if what))


@app.command("promote")
def promote(detector_id: DetectorArgument, store: StoreOption = None) -> None:
    """Make a detector the current one.

    It judges the stored history first; `rates` and new uploads go by it from then on.
    """
    from analysis.candidates import is_brought
    from analysis.rules import SUFFIX

    if is_brought(detector_id) and not detector_id.endswith(SUFFIX):
        raise UsageError(f"{detector_id} is code, which judges no upload: it can be replayed, but not be current")
    held, box = limits(SECONDS, MEGABYTES), wanted("auto", None, store)
    brought = candidates.resolved([detector_id], held, box).get(detector_id)
    chosen = brought.id if brought else detector_id
    with connect(store) as backend, show.progress("texts searched") as told:
        if brought:
            backend.detectors.bring(brought, False, told)
        pruned = backend.detectors.promote(chosen, told)
    lost = f"; {pruned:,} generations were pruned before it could judge them, and are in no rate of it"
    show.talk(f"{chosen} is current{lost if pruned else ''}")
