"""The text around what the two detectors of a replay say, read from the store piece by piece."""

from typing import Any

from api.pages.text import Passage, window
from ingest.store import Store

AROUND = 800
"""Characters shown of a mark; half of that stands around it."""

_PIECES = """
WITH wanted AS (SELECT unnest($at) AS at, unnest($runs) AS run_id, unnest($generations) AS generation_id,
    unnest($channels) AS channel, unnest($lows) AS low, unnest($starts) AS start_at, unnest($cuts) AS cut,
    unnest($ends) AS end_at, unnest($highs) AS high)
SELECT w.at, substring(t.text, w.low + 1, w.start_at - w.low), substring(t.text, w.start_at + 1, w.cut - w.start_at),
    substring(t.text, w.end_at + 1, w.high - w.end_at), w.low, w.end_at - w.cut, greatest(0, length(t.text) - w.high)
FROM wanted w JOIN generations g ON g.run_id = w.run_id AND g.generation_id = w.generation_id
JOIN texts t ON t.hash = CASE w.channel WHEN 'content' THEN g.content WHEN 'reasoning' THEN g.reasoning END
"""

Place = tuple[int, str]
"""Which disagreement, and which side of it."""


def with_passages(store: Store, shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The disagreements, each with `passages`: by side, the text around what that side found."""
    places = [
        (at, side)
        for at, each in enumerate(shown)
        for side in ("baseline", "candidate")
        if each[side] and each[side]["start"] is not None
    ]
    passages = _passages(store, shown, places) if places else {}
    return [
        {**each, "passages": {side: passages.get((at, side)) for side in ("baseline", "candidate")}}
        for at, each in enumerate(shown)
    ]


def _passages(store: Store, shown: list[dict[str, Any]], places: list[Place]) -> dict[Place, Passage]:
    verdicts = [shown[at][side] for at, side in places]
    windows = [window(verdict["start"], verdict["end"], AROUND) for verdict in verdicts]
    values = {
        "at": list(range(len(places))),
        "runs": [shown[at]["run_id"] for at, _ in places],
        "generations": [shown[at]["generation_id"] for at, _ in places],
        "channels": [verdict["channel"] for verdict in verdicts],
        "lows": [part.low for part in windows],
        "starts": [part.start for part in windows],
        "cuts": [part.cut for part in windows],
        "ends": [part.end for part in windows],
        "highs": [part.high for part in windows],
    }
    with store.cursor() as cursor:
        rows = cursor.execute(_PIECES, values).fetchall()
    found: dict[Place, Passage] = {}
    for at, *pieces in rows:
        piece = Passage(*pieces)
        # one id may name several outputs: the verdict's own markup tells which
        markup = verdicts[at]["markup"]
        if markup.startswith(piece.marked) or piece.marked.startswith(markup):
            found[places[at]] = piece
    return found
