"""What each pairing of model, engine and template makes of its tools: a part of a page."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.pages.figures import Share

Row = Mapping[str, Any]
CAME_OUT = {
    "structured": ("structured", "a valid structured call"),
    "printed": ("printed", "a call printed as JSON or by its name"),
    "leak": ("leaked", "a call in markup that came out as text"),
    "plain": ("plain", "a clean answer in words"),
}


def pairing_part(rows: Sequence[Row], keys: Sequence[str]) -> dict[str, Any]:
    """What `recovery_pairing.html` needs, from the rows of `/v1/rates` by the series `keys`."""
    return {
        "pairing_keys": keys,
        "pairing_titles": CAME_OUT,
        "pairing_rows": [(row, [_share(row, each) for each in CAME_OUT]) for row in rows],
    }


def _share(row: Row, name: str) -> Share:
    hits = row["leaks" if name == "leak" else name]
    return Share(hits, row["eligible"], row[f"{name}_rate"], row[f"{name}_low"], row[f"{name}_high"])
