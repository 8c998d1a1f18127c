"""`leakdown keys`: who may do what over HTTP, and who did what."""

from typing import Annotated

import typer

from api.cli import show
from api.cli.options import JsonOption, StoreOption, texts
from api.connect import connect

app = typer.Typer(help="Make, list and revoke keys.", no_args_is_help=True, rich_markup_mode=None)
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Whose it is, or for what.", show_default=False)]


@app.command("create")
def create(
    name: NameArgument,
    scope: Annotated[
        list[str],
        typer.Option("--scope", metavar="S", help="ingest, read, label or admin; may be repeated.", show_default=False),
    ],
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Make a key, and print it this once.

    The store keeps its hash alone. Once there is a key, the service asks everybody for one.
    """
    texts([name, *scope])
    with connect(store, create=True) as backend:
        made = backend.keys.create(name, scope)
    if as_json:
        show.json_line(made)
    else:
        print(made["key"])
    show.talk(f"key {name} ({', '.join(made['scopes'])}): shown this once, keep it where you keep secrets")


@app.command("list")
def list_(as_json: JsonOption = False, store: StoreOption = None) -> None:
    """List the keys, oldest first, without their texts."""
    with connect(store) as backend:
        found = backend.keys.listed()
    if as_json:
        show.json_line(found)
        return
    columns = ("name", "scopes", "created (UTC)", "last used", "revoked")
    times = ("created_at", "last_used_at", "revoked_at")
    show.table(columns, [(k["name"], ",".join(k["scopes"]), *(_minute(k[at]) for at in times)) for k in found])


@app.command("revoke")
def revoke(name: NameArgument, store: StoreOption = None) -> None:
    """Revoke a key: from now on it opens nothing."""
    texts([name])
    with connect(store) as backend:
        backend.keys.revoke(name)
    show.talk(f"key {name} is revoked")


@app.command("log")
def log(
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="So many of the latest entries.")] = 100,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show who did what, latest first.

    Promotions, labels, corrections, deletions, acknowledgements, and changes of keys.
    """
    with connect(store) as backend:
        found = backend.keys.log(limit)
    if as_json:
        show.json_line(found)
        return
    columns = ("at (UTC)", "by", "action", "object")
    show.table(columns, [(_minute(each["at"]), each["by"], each["action"], each["object"]) for each in found])


def _minute(at: str | None) -> str | None:
    return at[:16].replace("T", " ") if at else None
