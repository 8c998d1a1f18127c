"""What our work is measured against, each run as a process of its own: `python -m tests.bench.yardsticks NAME FILE…`.

read_ndjson_native, read_ndjson_pairs: DuckDB reads the file into a table with the same compression of long text.
contains_any: the trigger scan alone, text in memory; prints the CPU seconds of the scan.
"""

import sys
import time
from pathlib import Path

import duckdb
import polars as pl

from analysis.detectors import detector

_NATIVE = {
    "type": "VARCHAR", "run_id": "VARCHAR", "generation_id": "VARCHAR", "turn": "INTEGER", "round": "INTEGER",
    "attempt": "INTEGER", "started_at": "TIMESTAMP", "model": "VARCHAR", "provider": "VARCHAR", "engine": "VARCHAR",
    "engine_version": "VARCHAR", "template": "VARCHAR", "call_mode": "VARCHAR", "tools": "JSON", "content": "VARCHAR",
    "reasoning": "VARCHAR", "tool_calls": "JSON", "finish_reason": "VARCHAR", "usage": "JSON",
}  # fmt: skip
_PAIRS = {"request": "JSON", "response": "JSON"}
_LONG = ("tools", "content", "reasoning", "tool_calls", "request", "response")


def read_ndjson(columns: dict[str, str], source: str, target: str) -> None:
    """Read `source` into a table of the new store `target`, and write it out."""
    Path(target).unlink(missing_ok=True)
    shape = ", ".join(f"{name} {_stored(name, kind)}" for name, kind in columns.items())
    with duckdb.connect(target, config={"checkpoint_threshold": "1GB"}) as connection:
        connection.execute(f"CREATE TABLE logs ({shape})")
        connection.execute("INSERT INTO logs FROM read_ndjson($1, columns = $2)", [source, columns])


def _stored(name: str, kind: str) -> str:
    return "VARCHAR USING COMPRESSION zstd" if name in _LONG else kind


def contains_any(source: str) -> None:
    """Search every line of `source` for the triggers of openrouter-net@1."""
    texts = pl.Series(Path(source).read_text().split("\n"))
    triggers = list(detector("openrouter-net@1").triggers)
    before = time.process_time()
    found = int(texts.str.contains_any(triggers).sum())
    print(time.process_time() - before, found)


def main(name: str, *files: str) -> None:
    """Run the yardstick `name`."""
    match name:
        case "read_ndjson_native":
            read_ndjson(_NATIVE, *files)
        case "read_ndjson_pairs":
            read_ndjson(_PAIRS, *files)
        case "contains_any":
            contains_any(*files)
        case _:
            raise SystemExit(f"no yardstick {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
