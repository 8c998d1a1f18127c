"""`leakdown demo`: the service over the sample runs, made on the spot."""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from api.cli import show
from ingest.errors import UsageError

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
"""It stands in a checkout, not in an installed application."""
STORE = Path("leakdown-demo.duckdb")


def demo(
    once: Annotated[
        bool,
        typer.Option("--once", help="Do it all on a free port, check it over HTTP, and end: 0, or 1 with what failed."),
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="The port; 0 takes a free one [default: 8321].", show_default=False),
    ] = None,
) -> int:
    """Serve the sample runs, and print the address.

    They stand in a store of their own, leakdown-demo.duckdb.
    """
    if not SAMPLE.is_dir():
        raise UsageError("demo: the sample runs stand in a checkout of leakdown (data/sample); run it there")
    if once:
        with tempfile.TemporaryDirectory(prefix="leakdown-demo-") as folder:
            return _check(Path(folder, STORE.name))
    _serve(STORE, port)
    return 0


def _serve(store: Path, port: int | None) -> None:
    from api.service import serve
    from api.settings import settings

    _fill(store)
    chosen = settings() if port is None else settings().model_copy(update={"port": port})
    serve(store, chosen, lambda url: show.talk(f"leakdown demo at {url} (stop it with Ctrl-C)"))


def _fill(store: Path) -> None:
    """The sample runs in `store`; a second time changes nothing."""
    from api.connect import connect
    from api.uploads import Given
    from ingest.files.containers import Source

    with connect(store, create=True) as backend:
        for path in sorted(SAMPLE.glob("*.jsonl")):
            result = backend.uploads.ingest(Source(path, f"data/sample/{path.name}"), Given())
            show.talk(f"{result['path']}: {result['generations']:,} generations, {result['new_generations']:,} new")


def _check(store: Path) -> int:
    """Serve `store` for the length of a check of everything a newcomer would click; 0 or 1."""
    from api.cli.demo_check import check

    with _running(store) as url:
        failed = check(url, SAMPLE)
    for line in failed:
        show.talk(f"leakdown demo: FAILED {line}")
    show.talk("leakdown demo: " + (f"{len(failed)} checks failed" if failed else "every check passed"))
    return 1 if failed else 0


@contextmanager
def _running(store: Path) -> Iterator[str]:
    from api.service import running
    from api.settings import settings

    chosen = settings().model_copy(update={"port": 0})
    with running(store, chosen) as (server, url, sockets):
        ready = threading.Event()
        server.when_ready(ready.set)
        thread = threading.Thread(target=server.run, args=(sockets,))
        thread.start()
        try:
            ready.wait(timeout=30)
            yield url
        finally:
            server.should_exit = True
            thread.join()
