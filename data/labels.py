"""What two invented reviewers said of a part of the sample's generations."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from data.dice import Dice
from data.runs import SEED, Json, Made, Run

REVIEWERS = ("ana", "ben")
CLEAN_SHARE = 0.035
LEAKING_RUNS_SHARE = 0.75


def labels(runs: Sequence[Run]) -> list[Json]:
    """Every leak of three in four leaking runs, every answer that quotes markup, a share of the clean rest.

    All are right but for the first conflict; of the first two printed calls the reviewer is unsure.
    """
    dice = Dice(f"{SEED}/labels")
    given = [_label(dice.pick(REVIEWERS), made) for made in _reviewed(runs, dice)]
    unsure = [label for label in given if label.get("kind") == "printed_call"][:2]
    for label in unsure:
        del label["kind"]
        label |= {"leak": None, "note": "a printed call, or the JSON that was asked for?"}
    return [*given, _conflict(runs, given)]


def _reviewed(runs: Sequence[Run], dice: Dice) -> Iterator[Made]:
    for run in runs:
        leaks_too = dice.chance(LEAKING_RUNS_SHARE)
        for made in run.made:
            if not made.output.says_nothing and _chosen(made, leaks_too, dice):
                yield made


def _chosen(made: Made, leaks_too: bool, dice: Dice) -> bool:
    if made.output.leak is not None:
        return leaks_too
    return made.output.quotes or dice.chance(CLEAN_SHARE)


def _label(reviewer: str, made: Made) -> Json:
    label: Json = {
        "type": "label",
        "run_id": made.record["run_id"],
        "generation_id": made.record["generation_id"],
        "leak": made.output.leak is not None,
        "by": reviewer,
        "at": _next_morning(made.record["started_at"]),
    }
    if made.output.leak is not None:
        label["kind"] = made.output.leak
    elif made.output.quotes:
        label["note"] = "only quotes markup"
    return label


def _next_morning(started_at: str) -> str:
    """The day after, between eight and ten, by the second at which the generation began."""
    moment = datetime.fromisoformat(started_at)
    review = moment.replace(hour=8, minute=0) + timedelta(days=1, minutes=moment.minute + moment.second)
    return f"{review:%Y-%m-%dT%H:%M:%SZ}"


def _conflict(runs: Sequence[Run], given: Sequence[Json]) -> Json:
    """The other reviewer's contrary verdict on the first answer that quotes a marker outside code."""
    bare = {m.record["generation_id"] for run in runs for m in run.made if m.output.quotes and m.output.marked}
    first = next(label for label in given if label["generation_id"] in bare)
    other = next(reviewer for reviewer in REVIEWERS if reviewer != first["by"])
    conflict = {key: part for key, part in first.items() if key != "note"}
    return {**conflict, "leak": True, "by": other, "note": "looks like a call to me"}
