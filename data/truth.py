"""What is true of the sample, from what its generator made: no detector has a say."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from data.fleet import DAYS, FIRST_DAY, FLEET, LAST_DAY, Line, Release
from data.pairs import pairs_truth
from data.runs import SEED, Json, Made, Run


def leaks(made: Made) -> bool:
    """True for a leak; a printed call is counted beside the leaks."""
    return made.output.leak not in (None, "printed_call")


def truth(runs: Sequence[Run], labels: Sequence[Json]) -> Json:
    """The sample's truth as JSON: totals, rates by line and version, outcomes, and the ids concerned."""
    made = [each for run in runs for each in run.made]
    return {
        "seed": SEED,
        "first_day": f"{FIRST_DAY}",
        "last_day": f"{LAST_DAY}",
        "days": DAYS,
        "totals": _totals(runs, made, labels),
        "lines": [_line(line, runs) for line in FLEET],
        "change": _change(),
        "leaks": _ids(m for m in made if m.eligible and leaks(m)),
        "leaks_not_counted": _ids(m for m in made if not m.eligible and leaks(m)),
        "printed": _ids(m for m in made if m.output.leak == "printed_call"),
        "quotes": _ids(m for m in made if m.output.quotes),
        "quotes_outside_code": _ids(m for m in made if m.output.quotes and m.output.marked),
        "text_mode": _ids(m for run in runs if run.mode == "text" for m in run.made),
        "pairs": pairs_truth(),
    }


def _totals(runs: Sequence[Run], made: Sequence[Made], labels: Sequence[Json]) -> Json:
    events = [record for run in runs for record in run.records if record["type"] == "leaked_tool_call"]
    return {
        "runs": len(runs),
        "generations": len(made),
        "eligible": sum(m.eligible for m in made),
        "leaks": sum(m.eligible and leaks(m) for m in made),
        "printed": sum(m.output.leak == "printed_call" for m in made),
        "retries": sum(m.record["attempt"] > 0 for m in made),
        "quotes": sum(m.output.quotes for m in made),
        "quotes_outside_code": sum(m.output.quotes and m.output.marked is not None for m in made),
        "wrong_nudges": _wrong_nudges(runs),
        "events": len(events),
        "labels": len(labels),
    }


def _wrong_nudges(runs: Sequence[Run]) -> int:
    """Good answers that were followed by a retry."""
    attempts = [attempts for run in runs for attempts in _rounds(run)]
    return sum(before.output.leak is None for each in attempts for before in each[:-1])


def _line(line: Line, runs: Sequence[Run]) -> Json:
    own = [run for run in runs if run.line is line]
    return {
        "model": line.model,
        "provider": line.provider,
        "engine": line.engine,
        "client": line.client.name,
        "max_retries": line.client.max_retries,
        "after_a_nudge": dict(line.retried),
        "versions": [_release(release, own, "native") for release in line.releases],
        "tools_unknown": [
            _release(release, own, "tools_unknown")
            for release in line.releases
            if any(run.mode == "tools_unknown" and run.release is release for run in own)
        ],
    }


def _release(release: Release, own: Sequence[Run], mode: str) -> Json:
    """What one engine version made of the runs of one mode. `leak_rate` and `printed_rate` are those set."""
    runs = [run for run in own if run.release is release and run.mode == mode]
    made = [each for run in runs for each in run.made]
    outcomes = _outcomes(runs)
    return {
        "engine_version": release.version,
        "from_day": release.from_day,
        "leak_rate": release.leak_rate,
        "printed_rate": release.printed_rate,
        "runs": len(runs),
        "generations": len(made),
        "eligible": sum(m.eligible for m in made),
        "leaks": sum(m.record["attempt"] == 0 and leaks(m) for m in made),
        "printed": sum(m.output.leak == "printed_call" for m in made),
        "retries": sum(m.record["attempt"] > 0 for m in made),
        **{key: outcomes[key] for key in ("retried", "recovered", "answered", "passed_off", "errored")},
    }


def _outcomes(runs: Iterable[Run]) -> Counter[str]:
    """How the leaked rounds ended, by their last attempt, and how many had more than one."""
    ended: Counter[str] = Counter()
    for attempts in (attempts for run in runs for attempts in _rounds(run) if leaks(attempts[0])):
        ended["retried"] += len(attempts) > 1
        ended[_ending(attempts[-1])] += 1
    return ended


def _ending(last: Made) -> str:
    if last.output.leak is not None:
        return "passed_off"
    if last.output.calls:
        return "recovered"
    return "answered" if last.output.status == "ok" else "errored"


def _rounds(run: Run) -> list[list[Made]]:
    return [list(attempts) for _, attempts in groupby(run.made, key=lambda made: made.record["round"])]


def _change() -> dict[str, Any]:
    """The one version change after which a line leaks more."""
    [(line, before, after)] = [
        (line, before, after)
        for line in FLEET
        for before, after in zip(line.releases, line.releases[1:], strict=False)
        if before.leak_rate != after.leak_rate
    ]
    return {
        "model": line.model,
        "engine": line.engine,
        "from": before.version,
        "to": after.version,
        "day": f"{FIRST_DAY.fromordinal(FIRST_DAY.toordinal() + after.from_day)}",
        "rate_before": before.leak_rate,
        "rate_after": after.leak_rate,
    }


def _ids(made: Iterable[Made]) -> list[str]:
    return [each.record["generation_id"] for each in made]
