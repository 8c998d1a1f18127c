"""A retry that stood, and that a strict system refuses."""

from collections.abc import Iterator

from analysis.recovery.audit.rules import Asked, Broken, Row, Rule, Unknown, Verdict
from analysis.recovery.strict import checked_retries
from ingest.store import Cursor


def rows(cursor: Cursor, asked: Asked) -> Iterator[Row]:
    """The stored retries with their strict check."""
    for each in checked_retries(cursor, asked.filters):
        yield {
            "keys": [each.key], "run_id": each.run_id, "generation_id": each.generation_id, "check": each.check,
        }  # fmt: skip


def judge(row: Row, _: Asked) -> Verdict:
    """Broken by a refusal for what the log shows."""
    check = row["check"]
    if check.verdict == "refused":
        return Broken(f"the retry stood, and a strict check refuses it: {', '.join(check.codes)}")
    return Unknown(check.why[-1]) if check.verdict == "not_checkable" else None


STRICT_REFUSED_RETRY = Rule(
    name="strict_refused_retry",
    summary="A retry is accepted that the strict check refuses.",
    source="Foundry Local (strict_batch)",
    unit="retries",
    needs="structured calls of retries, the tools with their schemas, and for the envelope `raw_text`",
    not_checkable={
        "envelope_not_stored": "the log holds the calls, and not the text that they were written in",
        "tools_unknown": "the log does not tell which tools were offered",
        "schema_missing": "the log does not hold the schema of a tool",
    },
    rows=rows,
    judge=judge,
)
