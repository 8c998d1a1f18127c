"""What Foundry Local's native decoder makes of a reply: calls that it takes, that it retries, that it leaves as text.

A candidate is a batch that opens outside Markdown fences; inline code protects nothing. It is

- `valid_call`: every block is a whole call that fits its tool's schema;
- `recoverable`: the exact frame was entered for a declared tool of a supported schema, and then broken or cut;
- `rejected`: anything else, and a batch that mixes valid and invalid calls, in either order.

Of several invalid blocks the first decides. A reply without a candidate is what the decoder calls `no_call`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from analysis.foundry_framing import OPENER, Batch, Block, batch_at, blocks_of
from analysis.foundry_tools import DeclaredTool, DeclaredTools, ToolCode, UnfitValue, UnsupportedTool, ValueCode
from analysis.markdown import Region, outside
from analysis.output import Call
from ingest.records import Kind

CANDIDATE_BYTES = 64 * 1024
"""A batch of more bytes of UTF-8 is given back as text."""

Outcome = Literal["valid_call", "recoverable", "rejected"]
BatchCode = Literal[
    "valid_call", "broken", "cut", "not_entered", "missing_parameter", "unfit_arguments", "oversized", "mixed_batch"
]
Code = BatchCode | ToolCode | ValueCode
"""Why it is what it is: `broken` and `cut` are recoverable, all but `valid_call` else are rejected."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A batch and its outcome: code points [start, end) of the text, the tool and the reason of what decided."""

    outcome: Outcome
    kind: Kind
    start: int
    end: int
    tool: str | None
    reason: str
    code: Code
    calls: tuple[Call, ...] = ()


def candidates(text: str, fenced: Sequence[Region], declared: DeclaredTools) -> Iterator[Candidate]:
    """The candidates of `text` in order, outside the `fenced` regions of it."""
    end = 0
    for start in outside((match.start() for match in re.finditer(OPENER, text)), fenced):
        if start >= end:
            candidate = _decoded(text, batch_at(text, start), declared)
            end = candidate.end
            yield candidate


@dataclass(frozen=True, slots=True)
class _Verdict:
    outcome: Outcome
    name: str | None
    code: Code
    reason: str
    call: Call | None = None


def _decoded(text: str, batch: Batch, declared: DeclaredTools) -> Candidate:
    blocks = tuple(blocks_of(text, batch))
    verdict, calls = _of_batch(text, batch, blocks, declared)
    return Candidate(
        outcome=verdict.outcome,
        kind=_kind(batch, blocks),
        start=batch.start,
        end=batch.end if batch.closed else len(text.rstrip()),
        tool=verdict.name,
        reason=verdict.reason,
        code=verdict.code,
        calls=calls,
    )


def _of_batch(
    text: str, batch: Batch, blocks: Sequence[Block], declared: DeclaredTools
) -> tuple[_Verdict, tuple[Call, ...]]:
    if _is_oversized(text, batch):
        return _Verdict("rejected", blocks[0].name, "oversized", f"it is longer than {CANDIDATE_BYTES} bytes"), ()
    verdicts = [_of_block(block, declared) for block in blocks]
    failed = next((each for each in verdicts if each.outcome != "valid_call"), None)
    calls = tuple(each.call for each in verdicts if each.call)
    if failed is None:
        return verdicts[0], calls
    if calls:
        why = f"it mixes valid and invalid calls: {failed.reason}"
        return _Verdict("rejected", failed.name, "mixed_batch", why), ()
    return failed, ()


def _is_oversized(text: str, batch: Batch) -> bool:
    if batch.end - batch.start > CANDIDATE_BYTES:
        return True
    return len(text[batch.start : batch.end].encode("utf-8", "surrogatepass")) > CANDIDATE_BYTES


def _kind(batch: Batch, blocks: Sequence[Block]) -> Kind:
    if not batch.closed:
        return "truncated_call"
    return "malformed_call" if any(block.broken for block in blocks) else "leaked_call"


def _of_block(block: Block, declared: DeclaredTools) -> _Verdict:
    if block.name is None:
        return _Verdict("rejected", None, "not_entered", "the exact frame was not entered")
    try:
        tool = declared.tool(block.name)
        arguments = _arguments(block, tool)
    except (UnsupportedTool, UnfitValue) as fault:
        return _Verdict("rejected", block.name, fault.code, str(fault))
    if block.broken:
        how: Literal["cut", "broken"] = "cut" if block.broken == "cut" else "broken"
        return _Verdict(
            "recoverable", block.name, how, f"the call of {block.name} entered the exact frame and was {how}"
        )
    missing = [name for name in tool.required if name not in arguments]
    if missing:
        return _Verdict("rejected", block.name, "missing_parameter", f"the required parameter {missing[0]} is missing")
    if not tool.takes(arguments):
        why = f"the arguments do not fit the schema of {block.name}"
        return _Verdict("rejected", block.name, "unfit_arguments", why)
    call = Call(block.name, json.dumps(arguments, ensure_ascii=False))
    why = f"the call of {block.name} is whole and fits its schema"
    return _Verdict("valid_call", block.name, "valid_call", why, call)


def _arguments(block: Block, tool: DeclaredTool) -> dict[str, Any]:
    """The arguments as far as they were read; UnfitValue for the first that cannot stand."""
    read: dict[str, Any] = {}
    for key, text in block.parameters:
        if not tool.knows(key):
            raise UnfitValue("unknown_parameter", f"{block.name} has no parameter {key}")
        if key in read:
            raise UnfitValue("duplicate_parameter", f"the parameter {key} is given twice")
        if text is not None:
            read[key] = tool.value(key, text)
        elif block.broken == "reserved":
            raise UnfitValue("reserved_framing", f"the value of {key} holds markup of the frame")
    return read
