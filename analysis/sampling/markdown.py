"""The estimates of a replay in words: for its Markdown, and the lines that its table on the terminal shares."""

from collections.abc import Iterator
from typing import Any

from analysis.sampling.cells import FOUND, TITLES

Json = dict[str, Any]


def section(estimates: Json) -> str:
    """The estimates as a section of a replay's Markdown."""
    head = "| | precision | recall | leaks found | leaks missed |"
    rows = [f"| {side} | " + " | ".join(figures(estimates[side])) + " |" for side in FOUND]
    strata = [f"| {' | '.join(stratum_cells(each))} |" for each in estimates["strata"] if each["generations"]]
    lines = [
        title(estimates),
        "",
        head,
        "|---|---|---|---|---|",
        *rows,
        "",
        "| found by | generations | drawn | labelled | leaks (95 %) |",
        "|---|--:|--:|--:|---|",
        *strata,
    ]
    return "\n".join([*lines, *(f"\n{each}" for each in remarks(estimates))])


def title(estimates: Json) -> str:
    """What the figures stand on."""
    return (
        f"Estimated for all {estimates['generations']:,} generations from sample {estimates['sample']}: "
        f"{estimates['labelled']:,} of {estimates['drawn']:,} drawn ones labelled (95 % bounds):"
    )


def figures(of: Json) -> tuple[str, str, str, str]:
    """Precision with its interval, the lower bound on recall, and the two counts it stands on, of one detector."""
    return (_precision(of), _recall(of), f"at least {of['leaks_found_low']:,}", f"at most {of['leaks_missed_high']:,}")


def _precision(of: Json) -> str:
    if of["precision_low"] is None:
        return f"undefined (n = {of['precision_n']:,})"
    value = "–" if of["precision"] is None else f"{of['precision']:.1%}"
    return f"{value} [{of['precision_low']:.1%}, {of['precision_high']:.1%}] (n = {of['precision_n']:,})"


def _recall(of: Json) -> str:
    if of["recall_low"] is None:
        return f"undefined (n = {of['recall_n']:,})"
    return f"at least {of['recall_low']:.1%} (n = {of['recall_n']:,})"


def stratum_cells(row: Json) -> tuple[str, str, str, str, str]:
    """A stratum: who finds it, its size, what is drawn and labelled, and the share of leaks."""
    share = "–" if row["leak_low"] is None else f"[{row['leak_low']:.1%}, {row['leak_high']:.1%}]"
    if row["leak_rate"] is not None:
        share = f"{row['leak_rate']:.1%} {share}"
    counts = (f"{row[name]:,}" for name in ("generations", "drawn", "labelled"))
    return TITLES[row["stratum"]], *counts, share  # type: ignore[return-value]


def remarks(estimates: Json) -> Iterator[str]:
    """What a reader must know of the labels and of the population."""
    rows = {row["stratum"]: row for row in estimates["strata"]}
    for name in estimates["unlabelled"]:
        size = rows[name]["generations"]
        yield f"No label counts in “{TITLES[name]}” ({size:,} generations): nothing is estimated of them."
    for name, why in _WITHOUT_TRUTH.items():
        if estimates[name]:
            yield f"{_draws(estimates[name])} {why}: the bounds take whichever answer is worse."
    if estimates["behind_a_gap"]:
        yield (
            f"{_draws(estimates['behind_a_gap'])} answered out of turn and no part of the estimates until "
            "all that was drawn before is answered."
        )
    if estimates["population_changed"]:
        yield (
            "The history has changed since the sample was drawn, and the estimates are of the history as it was: "
            "`leakdown label sample` draws again, and keeps what is labelled."
        )


_WITHOUT_TRUTH = {
    "unsure": "without a truth, people are unsure",
    "conflicts": "without a truth, people contradict each other",
    "gone": "deleted before a label",
}


def _draws(n: int) -> str:
    return "1 draw is" if n == 1 else f"{n:,} draws are"
