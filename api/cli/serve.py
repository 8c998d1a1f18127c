"""`leakdown serve`: the service over one store."""

from typing import Annotated

import typer

from api.cli import show
from api.cli.options import StoreOption


def serve(
    host: Annotated[
        str | None,
        typer.Option(metavar="HOST", help="The address to serve on [default: 127.0.0.1].", show_default=False),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="The port; 0 takes a free one [default: 8321].", show_default=False),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Serve the store: dashboard and HTTP API. While it runs, every command works through it."""
    from api.connect import store_path
    from api.service import serve as run
    from api.settings import settings

    given = {"host": host, "port": port}
    chosen = settings().model_copy(update={name: value for name, value in given.items() if value is not None})
    path = store_path(store)

    def ready(url: str) -> None:
        if chosen.log == "text":  # a collector of logs is told in a line of its own kind
            show.talk(f"leakdown serves {path} at {url} (stop it with Ctrl-C)")

    run(path, chosen, ready)
