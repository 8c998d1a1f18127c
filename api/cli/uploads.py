"""`leakdown uploads`: what was ingested, and how to correct or delete it."""

from typing import Annotated

import typer

from api.cli import show
from api.cli.options import JsonOption, StoreOption, pairs, store_path

app = typer.Typer(help="List, correct and delete uploads.", rich_markup_mode=None)
UploadArgument = Annotated[
    int, typer.Argument(metavar="UPLOAD", help="Its number in `uploads list`.", show_default=False)
]


@app.command("list")
def list_(as_json: JsonOption = False, store: StoreOption = None) -> None:
    """List the uploads, oldest first."""
    from ingest.store import Store
    from ingest.uploads import uploads

    with Store.open(store_path(store)) as opened:
        found = uploads(opened)
    if as_json:
        show.json_line([upload.as_json() for upload in found])
        return
    show.table(
        ("upload", "at (UTC)", "path", "format", "lines", "quarantined", "generations", "new", "events", "set"),
        [
            (
                u.upload_id, f"{u.created_at:%Y-%m-%d %H:%M}", u.path, u.format, u.lines, u.quarantined, u.generations,
                u.new_generations, u.events, " ".join(f"{key}={value}" for key, value in u.settings.items()),
            )
            for u in found
        ],
    )  # fmt: skip


@app.command("set")
def set_(
    upload: UploadArgument,
    given: Annotated[
        list[str],
        typer.Argument(metavar="KEY=VALUE…", help="Series fields, such as engine=vllm.", show_default=False),
    ],
    store: StoreOption = None,
) -> None:
    """Set series fields of all generations of an upload: the engine or template that the file did not say."""
    from ingest.store import Store
    from ingest.uploads import correct

    with Store.open(store_path(store)) as opened:
        correct(opened, upload, pairs(given))


@app.command("delete")
def delete(upload: UploadArgument, store: StoreOption = None) -> None:
    """Delete an upload and all that only it brought."""
    from ingest.store import Store
    from ingest.uploads import delete as delete_upload

    with Store.open(store_path(store)) as opened:
        delete_upload(opened, upload)
