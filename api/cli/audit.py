"""`leakdown audit`: recorded runs that break an invariant of a recovery policy."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from api.cli import show
from api.cli.options import JsonOption, StoreOption, WhereOption, texts
from api.connect import connect
from ingest.errors import UsageError

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
PolicyOption = Annotated[
    str | None,
    typer.Option(
        metavar="P",
        help="The policy that all runs are held to, such as goat or retry-n:max_retries=3 [default: that of each "
        "client, where it is known].",
        show_default=False,
    ),
]


@app.callback()
def audit(
    context: typer.Context,
    policy: PolicyOption = None,
    rule: Annotated[
        list[str] | None, typer.Option(metavar="R", help="Only this rule; may be repeated [default: all of them].")
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only leaks since this date or time (UTC).")] = None,
    where: WhereOption = None,
    all_: Annotated[bool, typer.Option("--all", help="Acknowledged findings too.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """List runs that break a rule of recovery, or acknowledge one.

    Each finding has an id that stays when the same records come again. What a log cannot tell is counted.
    """
    from api.audits import AuditAsked

    if context.invoked_subcommand:
        if any((policy, rule, since, where, all_, as_json, store)):
            raise UsageError(f"audit: write options after `{context.invoked_subcommand}`")
        return
    asked = AuditAsked(policy, list(texts(rule)), list(texts(where)), since, all_)
    with connect(store) as backend, show.progress("rules") as told:
        found = backend.audits.findings(asked, told)
    if as_json:
        show.json_line(found["items"])
    else:
        _print(found, all_)


@app.command("acknowledge")
def acknowledge(
    finding: Annotated[
        str, typer.Argument(metavar="ID", help="The id of the finding in the list.", show_default=False)
    ],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why it may stand.", show_default=False)],
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who says so.", show_default=False)],
    policy: PolicyOption = None,
    store: StoreOption = None,
) -> None:
    """Acknowledge a finding, once, with a reason.

    It is then listed with --all only. A finding that a policy named on the command line brought needs it here too.
    """
    texts((finding, reason, by))
    with connect(store) as backend:
        given = backend.audits.acknowledge(finding, reason, by, policy)
    show.talk(f"acknowledged {given['id']} ({given['rule']}) by {given['by']}: {given['reason']}")


def _print(found: Mapping[str, Any], all_: bool) -> None:
    columns = ("rule", "of", "findings", "acknowledged", "checked", "not checkable", "why not")
    show.table(columns, [_counts(each) for each in found["rules"]])
    if found["items"]:
        print()
        _print_findings(found["items"], all_)
    held_to = found["policy"] or "the policy of its client, where that is known"
    show.talk(f"by {found['detector']}; each run is held to {held_to}")


def _counts(of: Mapping[str, Any]) -> tuple[object, ...]:
    why = ", ".join(f"{code} {n:,}" for code, n in of["why"].items())
    names = ("rule", "unit", "findings", "acknowledged", "checked", "not_checkable")
    return (*(of[name] for name in names), why or None)


def _print_findings(items: list[dict[str, Any]], all_: bool) -> None:
    columns = ("id", "rule", "run", "generation", "evidence", *(("acknowledged",) if all_ else ()))
    rows = []
    for each in items:
        known = each["acknowledged"]
        said = f"{known['by']}, {known['at'][:10]}: {known['reason']}" if known else None
        row = tuple(each[name] for name in ("id", "rule", "run_id", "generation_id", "evidence"))
        rows.append((*row, said) if all_ else row)
    show.table(columns, rows)
