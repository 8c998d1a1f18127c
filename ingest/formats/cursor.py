"""Transcripts of the Cursor agent: `~/.cursor/projects/*/agent-transcripts/<id>/*.jsonl`.

Source: a public transcript; nothing is documented. A line is a role and a list of blocks: no id, time or model.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.blocks import asks, block_fields
from ingest.shapes.threads import digest
from ingest.shapes.told import RESULT, USER, Place, item


def recognises(value: Any) -> bool:
    """Whether `value` is a line of a transcript."""
    match value:
        case {"role": "user" | "assistant", "message": {"content": list()}}:
            return not {"type", "id", "uuid", "timestamp"} & value.keys()
        case _:
            return False


def sniff(values: Sequence[Any]) -> float:
    """The share of lines."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One message a line; a transcript is named by its first message."""
    run_id, place = "", Place()
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no line of a Cursor transcript")
            continue
        run_id = run_id or f"u{digest(line.value).hex()}"
        content = line.value["message"]["content"]
        if line.value["role"] == "assistant":
            whole = place.take() | {"run_id": run_id, "client": "cursor", "finish_fidelity": "absent"}
            yield item(line, block_fields(content) | whole | {"generation_id": f"{run_id}:{whole['round']}"})
        elif asks(content):
            place.user(content)
            yield Skipped(line.number, USER)
        else:
            yield Skipped(line.number, RESULT)


CURSOR = Format(
    name="cursor",
    title="Cursor agent transcripts (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="lines with `role` and a `message` of blocks, and nothing else",
    carries="exact text, calls with parsed arguments where they are told",
    lacks="run, model, time, tools offered, finish reason, usage, reasoning, raw arguments",
    better="log at a gateway in front of the engine",
    example="""\
{"role":"user","message":{"content":[{"type":"text","text":"what is here?"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"One file."}]}}
""",
)
