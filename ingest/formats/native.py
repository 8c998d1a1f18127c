"""Our own records, one a line, and the .NET event `{Markup, Leak, Retried}` in any spelling."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import EXCERPT, Format, Item, Line, Mapped, Skipped, quarantined, share
from ingest.records import Generation, Record, spelled, validate

_OWN = {"run": "run_id", "label": "generation_id"}
"""Types that other formats have too, with the key that makes one ours."""


def is_native(value: Any) -> bool:
    """Whether `value` is meant as a native record, valid or not."""
    match value:
        case {"type": "generation" | "leaked_tool_call"}:
            return True
        case {"type": "run" | "label" as kind}:
            return _OWN[kind] in value
        case {"type": "pack"}:
            return is_header(value)
        case {}:
            return spelled(value) is not value
        case _:
            return False


def is_header(value: Any) -> bool:
    """Whether `value` is the first line of a pack (`ingest.packs`), which is no record."""
    return isinstance(value, dict) and value.get("type") == "pack" and "version" in value


def sniff(values: Sequence[Any]) -> float:
    """The share of native records."""
    return share(values, is_native)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One record a line."""
    for line in lines:
        if is_header(line.value):
            yield Skipped(line.number, "the header of a pack")
            continue
        try:
            record = validate(line.value)
        except (ValueError, OverflowError) as fault:
            yield quarantined(line, _reason(line.value, fault))
        else:
            yield Mapped(line.number, (_told_mended(record) if line.mended else record,))


def _told_mended(record: Record) -> Record:
    """A record that had half a character replaced does not hold its text exactly, whatever it says."""
    if isinstance(record, Generation) and record.text_fidelity in (None, "exact"):
        return record.model_copy(update={"text_fidelity": "normalised"})
    return record


def _reason(value: Any, fault: Exception) -> str:
    if not isinstance(value, dict):
        return "not a record: a record is a JSON object"
    if "type" not in value and not is_native(value):
        return "not a record: it has no type (generation, leaked_tool_call, run or label)"
    return " ".join(str(fault).split())[:EXCERPT]


NATIVE = Format(
    name="native",
    title="leakdown records (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="`type` generation, leaked_tool_call, run or label; or the keys Markup, Leak and Retried",
    carries="all that leakdown knows",
    lacks="only what its writer left out",
    better="fill in `tools`, `finish_reason`, `engine` and `template`: docs/write-records.md says what each is for",
    example="""\
{"type":"run","run_id":"r1","engine":"vllm","tags":{"team":"search"}}
{"type":"generation","run_id":"r1","generation_id":"g1","round":0,"model":"qwen3-8b","tools":[{"name":"ls"}],\
"content":"<tool_call>{\\"name\\": \\"ls\\"}</tool_call>","finish_reason":"stop"}
{"type":"leaked_tool_call","run_id":"r1","round":0,"markup":"<tool_call>","leak":1,"retried":false}
{"Markup":"<tool_call>","Leak":2,"Retried":true}
{"type":"label","generation_id":"g1","leak":true,"by":"ana"}
""",
)
