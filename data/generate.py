"""Writes the sample files from their fixed seed: `python -m data.generate [FOLDER]`. Docs: data/README.md."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from data.labels import labels
from data.pairs import pairs
from data.runs import Json, fleet_runs
from data.truth import truth

SAMPLE = Path(__file__).parent / "sample"


def files() -> dict[str, bytes]:
    """The sample's files by name. The same bytes each time."""
    runs = fleet_runs()
    given = labels(runs)
    records = [record for run in runs for record in run.records]
    return {
        "runs.jsonl": _lines([*records, *given]),
        "pairs.jsonl": _lines(pairs()),
        "truth.json": f"{json.dumps(truth(runs, given), ensure_ascii=False, indent=1)}\n".encode(),
    }


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files().items():
        (folder / name).write_bytes(content)


def _lines(records: Iterable[Json]) -> bytes:
    text = "".join(f"{json.dumps(record, ensure_ascii=False, separators=(',', ':'))}\n" for record in records)
    return text.encode()


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE)
