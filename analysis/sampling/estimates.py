"""What the labels of a drawn sample say of the whole population of a replay."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from analysis.filters import Filters
from analysis.sampling.cells import FOUND, SILENT, STRATA
from analysis.sampling.drawing import filters_text
from analysis.sampling.items import Tally, items, tally
from analysis.statistics.stratified import ERROR, Stratum, precision, recall_bound
from ingest.store import Cursor

Json = dict[str, Any]

_LATEST = """
SELECT sample_id, seed, errors, created_at FROM samples s
WHERE baseline = $baseline AND candidate = $candidate AND filters = $filters
    AND baseline_fingerprint IN (SELECT fingerprint FROM detectors WHERE detector = $baseline)
    AND candidate_fingerprint IN (SELECT fingerprint FROM detectors WHERE detector = $candidate)
ORDER BY sample_id DESC LIMIT 1
"""


def estimates(
    cursor: Cursor, baseline: str, candidate: str, filters: Filters | None, cells: Mapping[str, int]
) -> Json | None:
    """The estimates from the latest sample that was drawn for these two detectors and filters; None without one.

    `cells` are the four of the replay: they tell whether the population is still that of the draw.
    """
    wanted = {"baseline": baseline, "candidate": candidate, "filters": filters_text(filters or Filters())}
    rows = cursor.execute(_LATEST, wanted).fetchall()
    if not rows:
        return None
    sample_id, seed, errors, created = rows[0]
    tallies, outputs = _tallies(cursor, sample_id)
    return {
        "sample": sample_id,
        "seed": seed,
        "created_at": _iso(created),
        **_totals(tallies),
        "outputs": outputs,
        "errors": errors,
        "population_changed": _cells(tallies) != {name: cells[name] for name in _cells(tallies)},
        "unlabelled": [name for name in STRATA if tallies[name].generations and not tallies[name].labelled],
        "strata": [{"stratum": name, **_row(tallies[name])} for name in STRATA],
        **{side: _of_detector(side, tallies) for side in FOUND},
    }


def _tallies(cursor: Cursor, sample_id: int) -> tuple[dict[str, Tally], int]:
    """Each stratum of a sample, and the number of different outputs among the draws."""
    drawn = items(cursor, sample_id)
    sizes = dict(
        cursor.execute("SELECT stratum, generations FROM sample_strata WHERE sample_id = $1", [sample_id]).fetchall()
    )
    tallies = {name: tally(sizes[name], (each.state for each in drawn if each.stratum == name)) for name in STRATA}
    return tallies, len({each.verdict_key for each in drawn})


def _totals(tallies: Mapping[str, Tally]) -> Json:
    rows = [_row(each) for each in tallies.values()]
    names = ("generations", "drawn", "labelled", "unsure", "conflicts", "gone", "waiting", "behind_a_gap")
    return {name: sum(row[name] for row in rows) for name in names}


def _row(of: Tally) -> Json:
    """A stratum: what is labelled of it, and the share of leaks in it with a 95 % interval of its own."""
    share = precision([of.stratum], ERROR)
    return {
        "generations": of.generations,
        "drawn": of.drawn,
        "probability": of.drawn / of.generations if of.generations else None,
        "labelled": of.labelled,
        "leaks": of.counts["leak"],
        "leak_rate": share.value,
        "leak_low": share.low,
        "leak_high": share.high,
        "unsure": of.counts["unsure"],
        "conflicts": of.counts["conflict"],
        "gone": of.counts["gone"],
        "waiting": of.behind["waiting"],
        "behind_a_gap": of.out_of_turn,
    }


def _of_detector(side: str, tallies: Mapping[str, Tally]) -> Json:
    found: list[Stratum] = [tallies[name].stratum for name in FOUND[side]]
    silent = [tallies[name].stratum for name in STRATA if name not in FOUND[side]]
    share, bound = precision(found), recall_bound(found, silent)
    return {
        "precision": share.value,
        "precision_low": share.low,
        "precision_high": share.high,
        "precision_n": share.n,
        "recall_low": bound.low,
        "recall_n": bound.n,
        "leaks_found_low": bound.found,
        "leaks_missed_high": bound.missed,
    }


def _cells(tallies: Mapping[str, Tally]) -> dict[str, int]:
    """The four cells of the comparison when the sample was drawn."""
    cells = {name: each.generations for name, each in tallies.items() if name not in SILENT}
    return {**cells, "neither": sum(tallies[name].generations for name in SILENT)}


def _iso(moment: datetime) -> str:
    return f"{moment.isoformat()}Z"
