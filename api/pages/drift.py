"""Drift: alerts, what versions did to the leak rates, and the days on which a rate changed."""

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from analysis.alerts.words import Action
from analysis.drift import LINE
from api.alerts import Said
from api.pages.figures import Change, Share, percent, percent_points, step
from api.pages.rendering import Asked, TheFilters, address, exactly, page
from api.routes import TheBackend
from api.routes.drift import TheDrifts

router = APIRouter()

COMPARISONS = 50
"""Comparisons shown, those with the strongest evidence first; the JSON has all."""
POINTS = 12
"""Change points shown, each with its chart."""
ALERTS = 20
"""Open alerts shown; the JSON has all."""
MUTED = timedelta(days=14)
"""How long the form offers to mute an alert."""
Json = dict[str, Any]
Name = Annotated[str, Form(min_length=1, max_length=100, pattern=r"\S")]
Text = Annotated[str, Form()]


@router.get("/drift")
def drift(request: Request, drifts: TheDrifts, backend: TheBackend, asked: TheFilters, by: str = "") -> Response:
    """What was computed last, while something newer is on its way if the store has changed since. `by` is put into the
    forms that ask for a name."""
    kept = drifts.kept(asked.where, asked.since)
    empty = kept.report is not None and not kept.report["counts"]["lines"]
    context = {
        **(_figures(kept.report, asked) if kept.report else {}),
        "by": by.strip()[:100],
        "asked": asked,
        "kept": kept,
        "report": kept.report,
        "why_none": backend.figures.why_no_rates(asked.where, asked.since) if empty else None,
    }
    return page(request, "drift.html", context, twin=address("/v1/drift", where=asked.where, since=asked.since))


@router.post("/drift")
def again(
    drifts: TheDrifts,
    where: Annotated[list[str], Form()] = [],  # noqa: B006
    since: Text = "",
) -> Response:
    """Compute it anew, and show it."""
    filters, moment = [each for each in where if each], since.strip() or None
    drifts.again(filters, moment)
    return RedirectResponse(address("/drift", where=filters, since=moment), 303)


def _figures(found: Json, asked: Asked) -> Json:
    """The alerts, comparisons and change points as they are shown, and how many more there are."""
    comparisons, points = found["comparisons"][:COMPARISONS], found["change_points"][:POINTS]
    full = step(max((abs(row[end] or 0.0) for row in comparisons for end in ("low", "high")), default=0.0))
    return {
        **found,
        **_alerts(found["alerts"]["items"], asked, datetime.now(UTC).date()),
        "full": percent(full),
        "comparisons": [_compared(row, asked, full) for row in comparisons],
        "more_comparisons": len(found["comparisons"]) - len(comparisons),
        "points": [_changed(row, asked) for row in points],
        "more_points": len(found["change_points"]) - len(points),
    }


@router.post("/drift/alerts")
def say(
    drifts: TheDrifts,
    alert: Text,
    action: Annotated[Action, Form()],
    by: Name,
    reason: Annotated[str, Form(min_length=1, max_length=10_000, pattern=r"\S")],
    until: Text = "",
    where: Annotated[list[str], Form()] = [],  # noqa: B006
    since: Text = "",
) -> Response:
    """Acknowledge, mute or open an alert, and show the page again. A day is for a mute alone."""
    day = until or None if action == "mute" else None
    drifts.say(alert, Said(action, reason, by, day))
    return RedirectResponse(address("/drift", where=where, since=since, by=by), 303)


def _alerts(items: list[Json], asked: Asked, today: date) -> Json:
    shown = [{**each, "runs": _runs(each, asked, since=each["since"])} for each in items]
    opened = [each for each in shown if each["state"] == "open"]
    return {
        "open_alerts": opened[:ALERTS],
        "more_alerts": len(opened[ALERTS:]),
        "closed_alerts": [each for each in shown if each["state"] != "open"],
        "alerts_twin": address("/v1/alerts", where=asked.where, since=asked.since),
        "today": today,
        "mute_until": today + MUTED,
    }


def _compared(row: Json, asked: Asked, full: float) -> Json:
    change = Change(row["after"]["n"], row["difference"], row["low"], row["high"],
                    percent_points(row["difference"]), full)  # fmt: skip
    parts = [(_share(row[side]), _runs(row, asked, (row["dimension"], row[end]))) for side, end in _SIDES]
    return {**row, "change": change, "parts": parts}


_SIDES = (("before", "from"), ("after", "to"))


def _changed(row: Json, asked: Asked) -> Json:
    lines = [exactly(key, row[key]) for key in LINE]
    chart = address("/v1/drift/figure", where=[*asked.where, *lines], since=asked.since) if row["tools_known"] else None
    return {**row, "before": _share(row["before"]), "after": _share(row["after"]), "figure": chart,
            "change": percent_points(row["after"]["rate"] - row["before"]["rate"]),
            "since": _runs(row, asked, since=row["at"])}  # fmt: skip


def _share(part: Json) -> Share:
    return Share(part["leaks"], part["n"], part["rate"], part["low"], part["high"])


def _runs(row: Json, asked: Asked, *versions: tuple[str, str], since: str | None = None) -> str:
    """The runs behind a number: those of the line that leaked."""
    keys = [*((key, row[key]) for key in LINE), *versions]
    where = [*asked.where, *(exactly(key, value) for key, value in keys)]
    return address("/runs", where=where, since=since or asked.since, leaking=True)
