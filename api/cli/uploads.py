"""`leakdown uploads`: what was ingested, and how to correct or delete it."""

from typing import Annotated

import typer

from api.cli import show
from api.cli.options import JsonOption, StoreOption, pairs
from api.connect import connect

app = typer.Typer(help="List, correct and delete uploads.", no_args_is_help=True, rich_markup_mode=None)
UploadArgument = Annotated[
    int,
    typer.Argument(metavar="UPLOAD", min=1, max=2**31 - 1, help="Its number in `uploads list`.", show_default=False),
]


@app.command("list")
def list_(as_json: JsonOption = False, store: StoreOption = None) -> None:
    """List the uploads, oldest first."""
    with connect(store) as backend:
        found = backend.uploads.listed()
    if as_json:
        show.json_line(found)
        return
    show.table(
        ("upload", "at (UTC)", "path", "format", "lines", "quarantined", "generations", "new", "events", "set"),
        [
            (
                u["upload_id"], u["created_at"][:16].replace("T", " "), u["path"], u["format"], u["lines"],
                u["quarantined"], u["generations"], u["new_generations"], u["events"],
                " ".join(f"{key}={value} ({u['origins'][key]})" for key, value in u["settings"].items()),
            )
            for u in found
        ],
    )  # fmt: skip


@app.command("set")
def set_(
    upload: UploadArgument,
    given: Annotated[
        list[str],
        typer.Argument(metavar="KEY=VALUE", help="Series fields, such as engine=vllm.", show_default=False),
    ],
    store: StoreOption = None,
) -> None:
    """Set series fields of an upload.

    The engine or template that the file did not say, for all generations that it brought.
    """
    settings = pairs(given)
    with connect(store) as backend:
        backend.uploads.correct(upload, settings)
    show.talk(f"upload {upload}: set {', '.join(f'{key}={value}' for key, value in settings.items())}")


@app.command("delete")
def delete(upload: UploadArgument, store: StoreOption = None) -> None:
    """Delete an upload and all that only it brought."""
    with connect(store) as backend:
        backend.uploads.delete(upload)
    show.talk(f"upload {upload} is deleted")
