"""One call of the command line in a process that can be killed at any moment: `python -m tests.durability.driver`.

It says `ready` once everything is imported, so that a moment is drawn over the work and not over the imports, and
`acknowledged` with the exit code once the command has returned.
"""

import importlib
import os
import sys

WANTED = (
    "analysis.judging", "analysis.registry", "analysis.replay", "analysis.rollups", "api.backend", "api.connect",
    "api.discovery", "httpx", "ingest.backups", "ingest.files.opening", "ingest.pipeline", "polars",
)  # fmt: skip


def main(folder: str, *arguments: str) -> None:
    """Run `leakdown` with `arguments` in `folder`."""
    from api.cli import run

    for name in WANTED:
        importlib.import_module(name)
    print("ready", flush=True)
    sys.stdin.readline()
    os.chdir(folder)
    code = run([*arguments])
    print("acknowledged", code, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
