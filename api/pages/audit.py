"""The audit: which rules are broken where, what cannot be told, and the form that acknowledges a finding."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from analysis.paging import PAGE
from analysis.recovery.audit.rules import rules
from api.audits import AuditAsked
from api.kept_audits import PageAsked
from api.pages.rendering import TheFilters, address, page
from api.routes import Cursor
from api.routes.audit import AcknowledgementRequest, All, TheAudits, acknowledge_finding

router = APIRouter()

Name = Annotated[str, Form(min_length=1, max_length=100, pattern=r"\S")]
Text = Annotated[str, Form()]


@router.get("/audit")
def audit(
    request: Request,
    audits: TheAudits,
    asked: TheFilters,
    rule: Annotated[list[str], Query()] = [],  # noqa: B006
    policy: str = "",
    all_: All = False,
    by: str = "",
    cursor: Cursor = None,
) -> Response:
    """The counts of the rules, and a page of findings, as computed last, while something newer is on its way if the
    store has changed since. `by` is put into the forms that ask for a name."""
    wanted, held_to, name = [each for each in rule if each], policy.strip() or None, by.strip()[:100]
    kept = audits.kept(PageAsked(AuditAsked(held_to, wanted, asked.where, asked.since, all_), cursor or None, PAGE))
    found = kept.report or {"next": None}
    query: dict[str, Any] = {
        "where": asked.where, "since": asked.since, "rule": wanted, "policy": held_to, "all": all_,
    }  # fmt: skip
    following = address("/audit", **query, by=name, cursor=found["next"]) if found["next"] else None
    context = {
        **found,
        "kept": kept,
        "report": kept.report,
        "asked": asked,
        "rule": wanted,
        "names": [each.name for each in rules()],
        "held_to": held_to,
        "all": all_,
        "by": name,
        "cursor": cursor,
        "first": address("/audit", **query, by=name),
        "following": following,
        "of_rule": {each.name: address("/audit", **{**query, "rule": each.name}, by=name) for each in rules()},
    }
    return page(request, "audit.html", context, twin=address("/v1/audit", **query, cursor=cursor))


@router.post("/audit")
def again(
    audits: TheAudits,
    policy: Text = "",
    where: Annotated[list[str], Form()] = [],  # noqa: B006
    since: Text = "",
) -> Response:
    """Compute it anew, and show it."""
    filters, moment, held_to = [each for each in where if each], since.strip() or None, policy.strip() or None
    audits.again(AuditAsked(held_to, [], filters, moment))
    return RedirectResponse(address("/audit", where=filters, since=moment, policy=held_to), 303)


@router.post("/audit/acknowledge")
def acknowledge(
    audits: TheAudits,
    finding: Text,
    by: Name,
    reason: Annotated[str, Form(min_length=1, max_length=10_000, pattern=r"\S")],
    policy: Text = "",
    rule: Annotated[list[str], Form()] = [],  # noqa: B006
    where: Annotated[list[str], Form()] = [],  # noqa: B006
    since: Text = "",
    all_: Annotated[bool, Form(alias="all")] = False,
) -> Response:
    """Acknowledge a finding, and show the same list again."""
    acknowledge_finding(audits, finding, AcknowledgementRequest(reason=reason, by=by, policy=policy or None))
    back = address("/audit", where=where, since=since, rule=rule, policy=policy, all=all_, by=by)
    return RedirectResponse(back, 303)
