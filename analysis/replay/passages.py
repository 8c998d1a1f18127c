"""The text around what two detectors found in one output, with both findings marked, read piece by piece.

A passage is JSON: `channel`, `hidden_before` and `hidden_after` (code points not shown), and `pieces`, each a `text`
and `by`, the sides whose finding it belongs to.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ingest.store import Cursor

Json = dict[str, Any]
SIDES = ("baseline", "candidate")
_CHANNELS = ("content", "reasoning")

_PIECES = """
WITH wanted AS (SELECT unnest($at) AS at, unnest($runs) AS run_id, unnest($generations) AS generation_id,
    unnest($channels) AS channel, unnest($lows) AS low, unnest($highs) AS high),
placed AS (
    SELECT DISTINCT w.at, w.low, w.high,
        CASE w.channel WHEN 'content' THEN g.content WHEN 'reasoning' THEN g.reasoning END AS hash
    FROM wanted w JOIN generations g ON g.run_id = w.run_id AND g.generation_id = w.generation_id
)
SELECT p.at, substring(t.text, p.low + 1, p.high - p.low), greatest(0, length(t.text) - p.high)
FROM placed p JOIN texts t ON t.hash = p.hash
"""


@dataclass(frozen=True, slots=True)
class _Window:
    """A part of one channel of the output `at`, with the marks in it: (side, start, end)."""

    at: int
    channel: str
    low: int
    high: int
    marks: tuple[tuple[str, int, int], ...]


def passages(cursor: Cursor, shown: list[Json], *, around: int, most: int) -> list[list[Json]]:
    """For each of `shown` (disagreements as JSON), the passages that hold what the two sides found.

    `around` code points stand on either side of a mark, of which `most` are shown. One that spans neither content nor
    reasoning, or whose text is gone, has none.
    """
    windows = [window for at, each in enumerate(shown) for window in _windows(at, each, around, most)]
    found: list[list[Json]] = [[] for _ in shown]
    for number, text, after in _read(cursor, shown, windows):
        window = windows[number]
        if text is not None and _fits(shown[window.at], window, text):
            passage = {
                "channel": window.channel,
                "hidden_before": window.low,
                "pieces": _pieces(window, text),
                "hidden_after": after,
            }
            if passage not in found[window.at]:
                found[window.at].append(passage)
    return found


def _windows(at: int, each: Json, around: int, most: int) -> list[_Window]:
    marks = [
        (side, each[side]["channel"], each[side]["start"], each[side]["end"])
        for side in SIDES
        if each[side] and each[side]["start"] is not None and each[side]["channel"] in _CHANNELS
    ]
    together = len({channel for _, channel, _, _ in marks}) == 1
    together = together and max(end for *_, end in marks) - min(start for _, _, start, _ in marks) <= most
    groups = [marks] if together else [[mark] for mark in marks]
    return [_window(at, group, around, most) for group in groups]


def _window(at: int, marks: list[tuple[str, str, int, int]], around: int, most: int) -> _Window:
    start, end = min(mark[2] for mark in marks), max(mark[3] for mark in marks)
    low, high = max(0, start - around), min(end, start + most) + around
    placed = tuple((side, first, last) for side, _, first, last in marks)
    return _Window(at, marks[0][1], low, high, placed)


def _read(cursor: Cursor, shown: list[Json], windows: list[_Window]) -> list[tuple[int, str | None, int]]:
    if not windows:
        return []
    values = {
        "at": list(range(len(windows))),
        "runs": [shown[window.at]["run_id"] for window in windows],
        "generations": [shown[window.at]["generation_id"] for window in windows],
        "channels": [window.channel for window in windows],
        "lows": [window.low for window in windows],
        "highs": [window.high for window in windows],
    }
    return sorted(cursor.execute(_PIECES, values).fetchall())


def _fits(each: Json, window: _Window, text: str) -> bool:
    """One id may name several outputs: the verdicts' own markup tells which."""
    for side, start, end in window.marks:
        marked, markup = text[start - window.low : end - window.low], each[side]["markup"]
        if not (markup.startswith(marked) or marked.startswith(markup)):
            return False
    return True


def _pieces(window: _Window, text: str) -> list[Json]:
    """`text` cut where a mark begins or ends."""
    marks = [(side, start - window.low, min(end - window.low, len(text))) for side, start, end in window.marks]
    cuts = sorted({0, len(text), *(at for _, *ends in marks for at in ends if 0 <= at <= len(text))})
    return [
        {"text": text[low:high], "by": [side for side, start, end in marks if start <= low and high <= end]}
        for low, high in pairwise(cuts)
    ]
