"""`leakdown replay`: two detectors on the stored outputs."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli import show
from api.cli.options import StoreOption, WhereOption, store_path

if TYPE_CHECKING:
    from analysis.replay import Judged, Replay


def replay(
    baseline: Annotated[
        str, typer.Option(metavar="A", help="The detector in use, as name@version.", show_default=False)
    ],
    candidate: Annotated[str, typer.Option(metavar="B", help="The detector to compare with it.", show_default=False)],
    where: WhereOption = None,
    recompute: Annotated[bool, typer.Option("--recompute", help="Judge every output anew.")] = False,
    json_to: Annotated[
        str | None,
        typer.Option("--json", metavar="F", help="Write the report as JSON to this file, - for stdout."),
    ] = None,
    markdown_to: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="F", help="Write the report as Markdown to this file."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Compare two detector versions on everything stored, and against the labels there are."""
    from pydantic_core import to_json

    from analysis.detectors import detector
    from analysis.filters import Filters
    from analysis.replay import replay as run
    from analysis.replay_markdown import markdown
    from ingest.store import Store

    filters, first, second = Filters.parse(where or ()), detector(baseline), detector(candidate)
    started = time.perf_counter()
    with Store.open(store_path(store)) as opened, show.progress("texts searched") as told:
        report = run(opened, first, second, filters, recompute=recompute, started=started, progress=told)
    if markdown_to:
        _write(markdown_to, markdown(report).encode())
    if json_to == "-":
        show.json_line(report.as_json())
        return
    if json_to:
        _write(Path(json_to), to_json(report.as_json()) + b"\n")
    _print(report)


def _write(path: Path, data: bytes) -> None:
    from ingest.errors import UsageError

    try:
        path.write_bytes(data)
    except OSError as fault:
        raise UsageError(f"{path}: cannot be written ({fault.strerror})") from None


def _print(report: "Replay") -> None:
    print(f"{report.generations:,} generations, {report.baseline} (baseline) against {report.candidate} (candidate)")
    for reason, n in report.left_out.items():
        print(f"  left out: {n:,} {reason.replace('_', ' ')}")
    show.table(
        ("", "candidate: leak", "candidate: no leak"),
        [
            ("baseline: leak", report.both, report.baseline_only),
            ("baseline: no leak", report.candidate_only, report.neither),
        ],
    )
    labelled = report.labelled
    print(f"\n{labelled.n:,} of them labelled")
    show.table(
        ("", "true pos.", "false pos.", "false neg.", "true neg.", "precision (95 %)", "recall (95 %)"),
        [_row("baseline", labelled.baseline), _row("candidate", labelled.candidate)],
    )
    print(
        f"candidate: {labelled.new_tp:,} new true and {labelled.new_fp:,} new false positives, "
        f"{labelled.lost_tp:,} true and {labelled.lost_fp:,} false positives lost; "
        f"McNemar p {'–' if labelled.mcnemar_p is None else format(labelled.mcnemar_p, '.3g')}"
    )


def _row(name: str, judged: "Judged") -> tuple[object, ...]:
    precision, recall = judged.precision, judged.recall
    return (
        name, judged.tp, judged.fp, judged.fn, judged.tn,
        show.interval(precision.value, precision.low, precision.high),
        show.interval(recall.value, recall.low, recall.high),
    )  # fmt: skip
