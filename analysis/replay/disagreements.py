"""The outputs that exactly one of the two takes for a leak, with both verdicts, in the order in which they came."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from analysis.replay.policy import consequence
from ingest.store import Cursor

KEPT = 50_000
"""Disagreements that a report holds: what fits into memory beside all else. The cells count every one."""
PIECE = 1_000
_COLUMNS = ("kind", "family", "tier", "tool", "channel", "start_at", "end_at", "markup", "reason", "calls")
_DIFFERENCES = """
SELECT d.generation_id, d.run_id, d.truth, b.*, c.* FROM said d
LEFT JOIN (SELECT verdict_key, {columns} FROM verdicts WHERE detector = $baseline) b ON b.verdict_key = d.verdict_key
LEFT JOIN (SELECT verdict_key, {columns} FROM verdicts WHERE detector = $candidate) c ON c.verdict_key = d.verdict_key
WHERE d.ok AND d.baseline <> d.candidate
ORDER BY d.upload_id, d.line, d.position
"""

Verdict = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One generation that exactly one of the two takes for a leak; `truth` is None without a label."""

    generation_id: str
    run_id: str
    truth: bool | None
    baseline: Verdict | None
    candidate: Verdict | None

    @property
    def by_candidate(self) -> bool:
        """Whether it is the candidate that says leak."""
        return self.candidate is not None and bool(self.candidate["leak"])

    def as_json(self) -> dict[str, Any]:
        """Both verdicts, null where the detector found nothing, and what it means under a retry policy."""
        return {
            "generation_id": self.generation_id,
            "run_id": self.run_id,
            "truth": self.truth,
            "consequence": consequence(self.by_candidate, self.truth),
            "baseline": self.baseline,
            "candidate": self.candidate,
        }


def disagreements(cursor: Cursor, baseline: str, candidate: str) -> Iterator[Disagreement]:
    """All of them. The cursor is busy until the last one is taken."""
    width = 1 + len(_COLUMNS)
    ids = {"baseline": baseline, "candidate": candidate}
    reading = cursor.execute(_DIFFERENCES.format(columns=", ".join(_COLUMNS)), ids)
    while rows := reading.fetchmany(PIECE):
        for generation_id, run_id, truth, *verdicts in rows:
            yield Disagreement(
                generation_id, run_id, truth, _verdict(verdicts[1:width]), _verdict(verdicts[width + 1 :])
            )


def _verdict(row: list[Any]) -> Verdict | None:
    verdict = dict(zip(_COLUMNS, row, strict=True))
    if verdict["tier"] is None:
        return None
    start, end = verdict.pop("start_at"), verdict.pop("end_at")
    calls = from_json(verdict.pop("calls"))
    return {
        "leak": verdict["tier"] in ("certain", "likely"),
        **verdict,
        "start": start,
        "end": end,
        "calls": calls,
    }
