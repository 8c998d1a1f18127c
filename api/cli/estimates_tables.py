"""What a sample says of the whole history, on the terminal; and what drawing one can lead to."""

from typing import Any

from analysis.sampling.cells import FOUND, TITLES
from analysis.sampling.markdown import figures, remarks, stratum_cells, title
from api.cli import show


def show_estimates(estimates: dict[str, Any]) -> None:
    """Print the estimates of a replay's report."""
    print(title(estimates))
    show.table(
        ("", "precision", "recall", "leaks found", "leaks missed"),
        [(side, *figures(estimates[side])) for side in FOUND],
    )
    print()
    show.table(
        ("found by", "generations", "drawn", "labelled", "leaks (95 %)"),
        [stratum_cells(row) for row in estimates["strata"] if row["generations"]],
    )
    for remark in remarks(estimates):
        print(remark)


def show_sample(sample: dict[str, Any]) -> None:
    """Print a drawn sample: its strata, and which bounds its labels can reach."""
    print(
        f"sample {sample['sample']}: {sample['drawn']:,} of {sample['generations']:,} generations drawn, "
        f"{sample['outputs']:,} different outputs, {sample['labelled']:,} of them labelled"
    )
    if sample["errors"]:
        print(f"  left out: {sample['errors']:,} on which a detector failed")
    rows = [row for row in sample["strata"] if row["generations"]]
    show.table(
        ("found by", "generations", "drawn", "chance"),
        [(TITLES[row["stratum"]], row["generations"], row["drawn"], f"{row['probability']:.2%}") for row in rows],
    )
    print()
    _reach(sample)


def _reach(sample: dict[str, Any]) -> None:
    print("What these labels can show at best (95 %), if all that is found are leaks and nothing else is:")
    bounds = ("precision_low", "recall_low")
    show.table(
        ("", "precision at least", "recall at least"),
        [(side, *(_share(sample["reach"][side][name]) for name in bounds)) for side in FOUND],
    )
    told = [f"{each['budget']:,} for {each['recall_low']:.0%}" for each in sample["budgets"] if each["budget"]]
    if told:
        print(f"Labels that a bound on the candidate's recall takes at best: {', '.join(told)}.")
    else:
        print("The candidate finds nothing, so that no number of labels gives a bound on its recall.")


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.1%}"
