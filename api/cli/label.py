"""`leakdown label`: people's verdicts, in and out of the store, where they differ, how far they agree."""

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from api.cli import label_pack, show
from api.cli.options import JsonOption, PathsArgument, StoreOption, WhereOption, output_path, texts
from api.connect import connect, store_path
from ingest.errors import UsageError

if TYPE_CHECKING:
    from api.backend import Backend
    from api.labels import FileFormat
    from ingest.files.containers import Source

app = typer.Typer(
    help="Draw, import, export and compare labels.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Verdict = Literal["leak", "clean", "unsure"]
LEAK: dict[str, bool | None] = {"leak": True, "clean": False, "unsure": None}


@app.command("import")
def import_(
    paths: PathsArgument,
    by: Annotated[
        str | None, typer.Option("--by", metavar="NAME", help="Who says so, where a line does not tell.")
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Read labels from files: JSON Lines, or CSV.

    A CSV file has the columns generation_id and leak (leak, clean or unsure), and may have by, run_id, kind, at, note.
    Labels of generations that are not in the store are kept aside until these arrive.
    """
    from api.cli.inputs import accepted, sources

    found, complete = sources(texts(paths))
    results: list[dict[str, Any]] = []
    with connect(store) as backend:
        for source in found:
            complete &= accepted(lambda each: results.append(_read(backend, each, by)), source)
    if as_json:
        show.json_line({"imports": results})
    elif results:
        names = ("path", "new", "duplicate", "skipped", "quarantined", "unknown", "ambiguous")
        show.table(names, [[{**each, **each["aside"]}[name] for name in names] for each in results])
    if not complete:
        raise typer.Exit(2)


def _read(backend: "Backend", source: "Source", by: str | None) -> dict[str, Any]:
    """What became of one file, with what a person should know of it on stderr."""
    result = backend.labels.read(source, by)
    told = [(each["line"], each["reason"]) for each in result["quarantined_lines"][: show.QUARANTINE_SHOWN]]
    show.quarantined(result["path"], told, result["quarantined"])
    for reason, why in (
        ("unknown", "are of generations that are not here; they count once these arrive"),
        ("ambiguous", "name a generation id of several outputs; name the run too"),
    ):
        if result["aside"][reason]:
            show.talk(f"leakdown: {result['path']}: kept aside: {result['aside'][reason]:,} {why}")
    return result


@app.command("export")
def export(
    jsonl: Annotated[str | None, typer.Option(metavar="F", help="Write JSON Lines to this file, - for stdout.")] = None,
    csv: Annotated[str | None, typer.Option(metavar="F", help="Write CSV to this file, - for stdout.")] = None,
    pack: label_pack.PackOption = None,
    redact: label_pack.RedactOption = False,
    patterns: label_pack.PatternOption = None,
    store: StoreOption = None,
) -> None:
    """Write all labels that count, or the labelled outputs as a pack.

    `label import` reads the labels again. JSON Lines to stdout unless asked otherwise. A pack is one file with all
    that a detector may look at and what people said of it, for `replay --pack` where there is no store.
    """
    if len([each for each in (jsonl, csv, pack) if each]) > 1:
        raise UsageError("label export: name one of --jsonl F, --csv F and --pack F")
    if pack:
        label_pack.write(pack, redact, patterns, store)
        return
    if redact or patterns:
        raise UsageError("label export: --redact is for --pack; labels hold no text of a model")
    as_: FileFormat = "csv" if csv else "jsonl"
    target = output_path(csv or jsonl or "-", store_path(store))
    with connect(store) as backend:
        if str(target) == "-":
            written = backend.labels.write(sys.stdout.buffer, as_)
        else:
            try:
                with target.open("wb") as out:
                    written = backend.labels.write(out, as_)
            except OSError as fault:
                raise UsageError(f"{target}: cannot be written ({fault.strerror})") from None
    show.talk(f"wrote {written:,} labels" + ("" if str(target) == "-" else f" to {target}"))


@app.command("conflicts")
def conflicts(as_json: JsonOption = False, store: StoreOption = None) -> None:
    """List the outputs on which people contradict each other.

    They have no truth until one of them changes the label, or `label resolve` decides.
    """
    with connect(store) as backend:
        found = backend.labels.conflicts()
    if as_json:
        show.json_line(found)
        return
    show.table(
        ("generation", "run", "leak", "clean", "unsure", "notes"),
        [_conflict(each) for each in found["open"]],
    )
    show.talk(f"{len(found['open']):,} in conflict, {len(found['resolved']):,} resolved")


def _conflict(one: dict[str, Any]) -> list[object]:
    people = [
        ", ".join(word["by"] for word in one["labels"] if word["leak"] is leak) or None for leak in (True, False, None)
    ]
    notes = "; ".join(f"{word['by']}: {word['note']}" for word in one["labels"] if word["note"])
    return [one["generation_id"], one["run_id"], *people, notes or None]


@app.command("resolve")
def resolve(
    generation: Annotated[
        str, typer.Argument(metavar="GENERATION", help="Its id in `label conflicts`.", show_default=False)
    ],
    verdict: Annotated[
        Verdict,
        typer.Argument(metavar="VERDICT", help="leak, clean, or unsure: it cannot be told.", show_default=False),
    ],
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who decides.", show_default=False)],
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.", show_default=False)],
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="Its run, where the id is not unique.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Decide what people contradict each other on.

    The resolution decides the truth; their labels stay as they are.
    """
    from api.labels import Resolution

    texts([generation, by, note])
    with connect(store) as backend:
        backend.labels.resolve(Resolution(generation, LEAK[verdict], by, note, run))
    show.talk(f"generation {generation} is resolved: {verdict}")


@app.command("agreement")
def agreement(as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Show how far people agree.

    Cohen's kappa of each two people who labelled the same outputs; and beside the truth, of which it is no part, weak
    evidence: a framework's reprimand, a client's report.
    """
    with connect(store) as backend:
        found = backend.labels.agreement()
    if as_json:
        show.json_line(found)
        return
    show.table(
        ("people", "n", "both leak", "both clean", "first only", "second only", "agreement", "kappa"),
        [_pair(each) for each in found["pairs"]],
    )
    print()
    show.table(
        ("weak evidence", "generations", "labelled", "leaks among them", "of leaks", "hinted at"),
        [_evidence(each) for each in found["evidence"]],
    )
    show.talk(_covered(found["coverage"]))


def _pair(one: dict[str, Any]) -> list[object]:
    kappa = None if one["kappa"] is None else f"{one['kappa']:.2f}"
    if one["kappa_low"] is not None:
        kappa = f"{kappa} ({one['kappa_low']:.2f}–{one['kappa_high']:.2f})"
    counts = [one[name] for name in ("n", "both_leak", "both_clean", "first_only", "second_only")]
    return [f"{one['first']}, {one['second']}", *counts, _share(one, "agreement"), kappa]


def _evidence(one: dict[str, Any]) -> list[object]:
    counts = [one[name] for name in ("source", "generations", "labelled")]
    return [*counts, _share(one, "right", "right_share"), one["leaks"], _share(one, "told", "told_share")]


def _share(row: dict[str, Any], name: str, value: str = "") -> str | None:
    share = row[value or name]
    return None if share is None else f"{share:.1%} ({row[f'{name}_low']:.1%}–{row[f'{name}_high']:.1%})"


def _covered(coverage: dict[str, Any]) -> str:
    aside = sum(coverage["aside"].values())
    return (
        f"{coverage['labelled']:,} of {coverage['of']:,} outputs are labelled, {coverage['unsure']:,} unsure, "
        f"{coverage['conflict']:,} in conflict" + (f"; kept aside: {aside:,}" if aside else "")
    )


@app.command("history")
def history(
    generation: Annotated[
        str | None, typer.Argument(metavar="GENERATION", help="Only of this generation.", show_default=False)
    ] = None,
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only of this run.")] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Only of this person.")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000, help="The latest N changes.")] = 100,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show what changed, latest first.

    What was labelled, changed, resolved and taken back, by whom and when.
    """
    from api.labels import Asked

    texts([each for each in (generation, run, by) if each])
    with connect(store) as backend:
        found = backend.labels.history(Asked(generation, run, by, limit))
    if as_json:
        show.json_line(found)
        return
    names = ("at", "what", "by", "generation_id", "run_id", "before", "verdict", "note", "source")
    moments = [{**each, "at": each["at"][:16].replace("T", " ")} for each in found]
    show.table(
        ("at (UTC)", "what", "by", "generation", "run", "before", "verdict", "note", "from"),
        [[each[name] for name in names] for each in moments],
    )


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
        drawn = backend.replays.sample(baseline, candidate, budget, wanted, seed, told)
    if as_json:
        show.json_line(drawn)
    else:
        show_sample(drawn)
