"""Recovery: from leak to outcome, policies side by side, and retries as a strict system would have judged them."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from analysis.recovery.policies import policies
from api.pages import recovery_words
from api.pages.recovery_figures import expected, figures
from api.pages.rendering import TheFilters, address, page
from api.routes.recovery import TheRecoveries

router = APIRouter()

Policies = Annotated[list[str], Query()]


@router.get("/recovery")
def recovery(
    request: Request,
    recoveries: TheRecoveries,
    asked: TheFilters,
    policy: Policies = [],  # noqa: B006
) -> Response:
    """What was computed last, while something newer is on its way if the store has changed since."""
    wanted = _given(policy)
    kept = recoveries.kept(wanted, asked.where, asked.since)
    query: dict[str, Any] = {"policy": wanted, "where": asked.where, "since": asked.since}
    context = {
        "asked": asked,
        "wanted": wanted,
        "known": policies(),
        "kept": kept,
        "report": kept.report,
        "figure": address("/v1/recovery/figure", **query),
        "leaking": address("/runs", where=asked.where, since=asked.since, leaking=True),
        "recovery_words": recovery_words,
        "expected": expected,
        **(figures(kept.report) if kept.report else {}),
    }
    return page(request, "recovery.html", context, twin=address("/v1/recovery", **query))


@router.post("/recovery")
def again(
    recoveries: TheRecoveries,
    policy: Annotated[list[str], Form()] = [],  # noqa: B006
    where: Annotated[list[str], Form()] = [],  # noqa: B006
    since: Annotated[str, Form()] = "",
) -> Response:
    """Compute it anew, and show it."""
    wanted, filters, moment = _given(policy), _given(where), since.strip() or None
    recoveries.again(wanted, filters, moment)
    return RedirectResponse(address("/recovery", policy=wanted, where=filters, since=moment), 303)


def _given(texts: list[str]) -> list[str]:
    """Without the empty fields of a form."""
    return [each.strip() for each in texts if each.strip()]
