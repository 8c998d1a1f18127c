"""The byte-exact frame of a Qwen tool call, as Foundry Local's decoder reads it: batches of blocks, and their fields.

    <tool_call>\\n<function=NAME>\\n(<parameter=KEY>\\nVALUE\\n</parameter>\\n)*</function>\\n</tool_call>

Every line feed counts, and a carriage return is none. Blocks parted by white space form one batch. Only the frame is
read here; what the tools allow is not known.

Source: Foundry Local, its Qwen XML decoder and the accumulator before it. Where a batch ends, how names look and what
is reserved are facts of that source.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

OPENER = "<tool_call>"
CLOSER = "</tool_call>"
HEAD = "<tool_call>\n"
BLOCK_END = "</function>\n</tool_call>"
PARAMETER_END = "\n</parameter>\n"

_NAME = r"[^<>=\r\n\t ]++"
_FUNCTION = re.compile(rf"<function=({_NAME})>\n")
_PARAMETER = re.compile(rf"<parameter=({_NAME})>\n")
_BLANKS = re.compile(r"[ \t\r\n]*+")
_END_OF_VALUE = re.compile(
    rf"(?P<end>{PARAMETER_END})|{OPENER}|{CLOSER}|<function=|</function>|<parameter=|</parameter>"
)

Break = Literal["not_entered", "reserved", "structure", "cut"]
"""
Where a block leaves the frame. `not_entered`: before its function's name is complete. `reserved`: markup of the frame
stands in a value. `structure`: after the name, with the closer of the envelope still to come. `cut`: after the name,
and no such closer comes.
"""


@dataclass(frozen=True, slots=True)
class Block:
    """One call as far as its frame holds; `broken` is None where it holds to the end."""

    name: str | None
    parameters: tuple[tuple[str, str | None], ...]
    """Keys and values in order; None for the value of a parameter that does not end."""
    broken: Break | None


@dataclass(frozen=True, slots=True)
class Batch:
    """Code points [start, end) of a text; not `closed`: no closer comes, and it runs to the end of the text."""

    start: int
    end: int
    closed: bool


def batch_at(text: str, start: int) -> Batch:
    """The batch whose first opener stands at `start`: to its first closer that no further opener follows."""
    at = start
    while (closer := text.find(CLOSER, at)) >= 0:
        end = closer + len(CLOSER)
        at = _after_blanks(text, end)
        if not text.startswith(OPENER, at):
            return Batch(start, end, closed=True)
    return Batch(start, len(text), closed=False)


def blocks_of(text: str, batch: Batch) -> Iterator[Block]:
    """The blocks of a batch, in order. After one that breaks, the next begins behind the first closer."""
    reader = _Reader(text, batch)
    at = batch.start
    while at < batch.end:
        block, after = reader.block(at)
        yield block
        at = _after_blanks(text, after)


def _after_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


class _Reader:
    """Reads the blocks of one batch; what lies far ahead is looked for once, so that reading is linear."""

    def __init__(self, text: str, batch: Batch) -> None:
        self.text = text
        self.batch = batch
        self.last_closer = text.rfind(CLOSER, batch.start, batch.end)
        self.last_parameter_end = text.rfind(PARAMETER_END, batch.start, batch.end)

    def block(self, start: int) -> tuple[Block, int]:
        """The block at `start`, and where it ends."""
        function = _FUNCTION.match(self.text, start + len(HEAD), self.batch.end)
        if function is None or not self.text.startswith(HEAD, start):
            return Block(None, (), "not_entered"), self._resume(start)
        parameters, broken, at = self._parameters(function.end())
        end = at if broken is None else self._resume(start)
        return Block(function[1], tuple(parameters), broken), end

    def _parameters(self, at: int) -> tuple[list[tuple[str, str | None]], Break | None, int]:
        found: list[tuple[str, str | None]] = []
        while not self.text.startswith(BLOCK_END, at):
            key = _PARAMETER.match(self.text, at, self.batch.end)
            if key is None:
                return found, self._break(at), at
            end = _END_OF_VALUE.search(self.text, key.end(), self.batch.end)
            if end is None or end["end"] is None:
                found.append((key[1], None))
                return found, "reserved" if self._goes_on(key.end()) else self._break(key.end()), at
            found.append((key[1], self.text[key.end() : end.start()]))
            at = end.end()
        return found, None, at + len(BLOCK_END)

    def _break(self, at: int) -> Break:
        return "structure" if self.last_closer >= at else "cut"

    def _goes_on(self, at: int) -> bool:
        """Whether the value at `at` ends further on, so that the markup before that stands in it.

        The batch itself ends at the first closer. If the value does not, the closer stood in it.
        """
        if self.last_parameter_end >= at:
            return True
        if not self.batch.closed:
            return False
        next_opener = self.text.find(OPENER, self.batch.end)
        limit = next_opener if next_opener >= 0 else len(self.text)
        return self.text.find(PARAMETER_END, self.batch.end, limit) >= 0

    def _resume(self, start: int) -> int:
        closer = self.text.find(CLOSER, start, self.batch.end)
        return self.batch.end if closer < 0 else closer + len(CLOSER)
