"""What one output costs each detector, in microseconds of CPU, beside a plain `re` alternation of its triggers.

Candidates are the labelled leaks of the corpus; ordinary outputs are prose of the benchmark's corpus.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

from analysis.detectors import Detector, detectors, judge
from analysis.output import OfferedTool, Output
from data.accuracy import rows

_TOOLS = (OfferedTool("read_file"), OfferedTool("write_file"), OfferedTool("list_folder"), OfferedTool("run_tests"))


def _microseconds(outputs: Sequence[Output], look: Callable[[Output], object], repeats: int) -> float:
    def once() -> float:
        fresh = [replace(output) for output in outputs]  # nothing that an earlier look has cached
        before = time.process_time()
        for output in fresh:
            look(output)
        return (time.process_time() - before) / len(fresh) * 1e6

    return median(once() for _ in range(repeats))


def _alternation(by: Detector) -> Callable[[Output], object]:
    pattern = re.compile("|".join(map(re.escape, by.triggers)))
    return lambda output: pattern.search(output.content or "")


def table(texts: Path, repeats: int) -> list[str]:
    """A line for each detector: candidates, ordinary outputs, and the alternation on either."""
    ordinary = [Output(text, tools=_TOOLS) for text in texts.read_text().split("\n")[:1000]]
    groups = ([row.output for row in rows("open") if row.leak], ordinary)
    lines = [f"{'µs of CPU for one output':<26}{'leak':>9}{'ordinary':>10}{'`re`, leak':>12}{'`re`, ordinary':>16}"]
    for by in detectors():
        own = [_microseconds(outputs, partial(judge, by), repeats) for outputs in groups]
        plain = [_microseconds(outputs, _alternation(by), repeats) for outputs in groups]
        lines.append(f"{by.id:<26}{own[0]:>9.0f}{own[1]:>10.0f}{plain[0]:>12.0f}{plain[1]:>16.0f}")
    return lines
