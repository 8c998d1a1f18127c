"""`leakdown alerts`: what the rules say of the lines, and what people say of that."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli import show
from api.cli.alerts_table import show_alerts
from api.cli.options import JsonOption, StoreOption, WhereOption, texts
from api.connect import connect

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.alerts.words import Action

app = typer.Typer(help="List, acknowledge and mute alerts.", no_args_is_help=True, rich_markup_mode=None)
AlertArgument = Annotated[str, typer.Argument(metavar="ID", help="Its id in `alerts list`.", show_default=False)]
ReasonOption = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)]
ByOption = Annotated[str, typer.Option("--by", metavar="NAME", help="Who says so.", show_default=False)]


@app.command("list")
def list_(
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only of lines with generations since this date or time (UTC).")
    ] = None,
    where: WhereOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """List the alerts, open ones first.

    By the built-in rules, or those of the file that LEAKDOWN_ALERTS names. Filters choose of which lines alerts are
    listed; the rules look at the whole history.
    """
    with connect(store) as backend:
        found = backend.alerts.listed(list(texts(where)), since)
    if as_json:
        show.json_line(found)
        return
    show_alerts(found["items"])
    for rule in found["rules"]:
        show.talk(_counts(rule))


@app.command("acknowledge")
def acknowledge(alert: AlertArgument, reason: ReasonOption, by: ByOption, store: StoreOption = None) -> None:
    """Acknowledge an alert, once, with a reason.

    It fails no gate from then on, until `alerts unmute` opens it again.
    """
    _say(store, alert, "acknowledge", reason, by)


@app.command("mute")
def mute(
    alert: AlertArgument,
    until: Annotated[
        str, typer.Option("--until", metavar="DAY", help="The last day that it is muted (UTC).", show_default=False)
    ],
    reason: ReasonOption,
    by: ByOption,
    store: StoreOption = None,
) -> None:
    """Mute an alert until a day, with a reason.

    It fails no gate until then, and is open again afterwards.
    """
    _say(store, alert, "mute", reason, by, until)


@app.command("unmute")
def unmute(alert: AlertArgument, reason: ReasonOption, by: ByOption, store: StoreOption = None) -> None:
    """Open an alert again that is muted or acknowledged."""
    _say(store, alert, "unmute", reason, by)


def _say(store: "Path | None", alert: str, action: "Action", reason: str, by: str, until: str | None = None) -> None:
    from api.alerts import Said

    texts([alert, reason, by])
    with connect(store) as backend:
        given = backend.alerts.say(alert, Said(action, reason, by, until))
    show.talk(_told(given))


def _told(given: dict[str, Any]) -> str:
    until = f" until {given['until']}" if given["until"] else ""
    by = f" by {given['by']}: {given['reason']}" if given["by"] else " again"
    return f"alert {given['id']} ({given['rule']}) is {given['state']}{until}{by}"


def _counts(rule: dict[str, Any]) -> str:
    few = f"; too few runs to say on {rule['too_few']:,}" if rule["too_few"] else ""
    return f"{rule['rule']}: {rule['lines']:,} lines watched, {rule['alarms']:,} alarms{few}"
