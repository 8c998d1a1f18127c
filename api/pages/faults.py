"""Whose fault the leaks are: a part of a page. It takes rows that are there already, since to make them reads texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.faults import FAULTS
from analysis.faults.evidence import in_words
from api.pages.figures import Share

Row = Mapping[str, Any]
TITLES = {
    "model": ("the model", "the model wrote the call wrong"),
    "parser": ("the parser", "the parser missed a valid call, or took a part of it"),
    "template_and_parser": ("template and parser", "the parser that is set reads another syntax than is written"),
    "unknown": ("cannot tell", "the log does not show it"),
}
_ANY = {"family": "its family", "parser": "that is set", "template": "that is used", "engine": "this engine"}
"""What evidence speaks of, where it is told of many leaks at once."""


def faults_part(rows: Sequence[Row], keys: Sequence[str]) -> dict[str, Any]:
    """What `recovery_faults.html` needs, from the rows of `/v1/faults` by the series `keys`."""
    return {
        "fault_keys": keys,
        "fault_titles": TITLES,
        "fault_rows": [(row, [_share(row, each) for each in FAULTS]) for row in rows],
        "fault_settings": [(row, each) for row in rows for each in row["settings"]],
        "fault_evidence": _evidence(rows),
        "faults_apart": sum(row["not_eligible"] for row in rows),
    }


def _share(row: Row, name: str) -> Share:
    of = row["faults"][name]
    return Share(of["n"], row["leaks"], of["rate"], of["low"], of["high"])


def _evidence(rows: Sequence[Row]) -> list[tuple[str, str, int]]:
    """Fault, evidence in words, leaks: of all rows, most leaks first."""
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for each in row["evidence"]:
            found[each["fault"], in_words(each["evidence"], **_ANY)] += each["n"]
    return [(of, said, n) for (of, said), n in found.most_common()]
