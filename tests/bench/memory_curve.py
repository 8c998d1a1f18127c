"""Peak memory of an ingest as the file grows: native records with 1 % bad lines and a line of 20 MB in each 100 MB."""

import json
from collections.abc import Callable
from pathlib import Path

LONG = 20_000_000
PART = 100_000_000
"""Bytes with one long line in them."""


def write(path: Path, size: int) -> None:
    """A log of about `size` bytes."""
    with path.open("w") as out:
        written = number = 0
        while written < size:
            long = number and written // PART > (written - 2_000) // PART
            text = "x" * LONG if long else f"step {number}: " + "the tests pass and the file is written. " * 40
            row = {"type": "generation", "run_id": f"r{number // 20}", "generation_id": f"g{number}", "content": text}
            line = "{broken" if number % 100 == 7 else json.dumps(row | {"tools": [{"name": "ls"}], "model": "m"})
            written += out.write(line + "\n")
            number += 1


def table(folder: Path, sizes: list[int], peak_of: Callable[[Path], int]) -> list[str]:
    """A line a size, in megabytes."""
    lines = [f"{'peak memory of an ingest':<58}{'MB':>9}  target ≤ 1,000"]
    for size in sizes:
        log = folder / "growing.jsonl"
        write(log, size)
        lines.append(f"{f'a file of {size / 1e6:,.0f} MB':<58}{peak_of(log) / 1e6:>9,.0f}")
        log.unlink()
    return lines
