"""Audits that are kept: their findings in a table, so that a page reads a page of them. What people have said of a
finding is put beside it when it is read."""

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from analysis.paging import page_of, position
from analysis.recovery.audit.acknowledgements import Acknowledgement
from analysis.recovery.audit.findings import PLACE, Audit
from analysis.recovery.audit.rules import Rule
from ingest.store import Cursor, Store, insert

Json = dict[str, Any]

_COLUMNS = ("rule", "id", "run_id", "generation_id", "evidence")
_ADD = """
INSERT INTO audit_findings
SELECT $answer, rule, id, run_id, generation_id, evidence FROM arriving ORDER BY rule, coalesce(run_id, ''), id
"""
_FORGET = "DELETE FROM audit_findings WHERE NOT list_contains($kept::VARCHAR[], answer)"
_ACKNOWLEDGED = """
SELECT rule, count(*) FROM audit_findings f SEMI JOIN acknowledgements a ON a.finding = f.finding
WHERE answer = $answer GROUP BY rule
"""
_PAGE = """
SELECT f.rule, f.finding, f.run_id, f.generation_id, f.evidence, a.reason, a.by_whom, a.acknowledged_at
FROM audit_findings f LEFT JOIN acknowledgements a ON a.finding = f.finding
WHERE f.answer = $answer AND list_contains($rules::VARCHAR[], f.rule) AND ($all OR a.finding IS NULL)
    AND ($id IS NULL OR (f.rule, coalesce(f.run_id, ''), f.finding) > ($rule, $run, $id))
ORDER BY f.rule, coalesce(f.run_id, ''), f.finding LIMIT $limit
"""
_RULE = "SELECT rule FROM audit_findings WHERE answer = $answer AND finding = $finding LIMIT 1"


def keep(store: Store, found: Audit, answer: str, earlier: Collection[str]) -> Json:
    """Keep the findings under the name `answer`, and of other answers only those of the names `earlier`. What `page`
    needs to know, as JSON."""
    rows = pa.table(
        {name: pa.array([getattr(each, name) for each in found.findings], pa.string()) for name in _COLUMNS}
    )
    with store.brief() as cursor:
        cursor.execute(_FORGET, {"kept": list(earlier)})
        insert(cursor, _ADD, rows, {"answer": answer})
    policy = found.asked.policy and found.asked.policy.id
    counts = [each.as_json() for each in found.counts]
    return {"answer": answer, "detector": found.asked.detector, "policy": policy, "rules": counts}


def page(store: Store, kept: Json, rules: Sequence[Rule], *, all_: bool, after: str | None, limit: int) -> Json:
    """As `Audit.page` for these rules, with what is acknowledged by now. UsageError for a bad cursor."""
    names = [each.name for each in rules]
    rule, run, id_ = position(after, PLACE) or (None, None, None)
    given = {"rules": names, "all": all_, "rule": rule, "run": run, "id": id_, "limit": limit + 1}
    with store.cursor() as cursor:
        acknowledged = dict(cursor.execute(_ACKNOWLEDGED, {"answer": kept["answer"]}).fetchall())
        rows = cursor.execute(_PAGE, {"answer": kept["answer"], **given}).fetchall()
    counts = [{**each, "acknowledged": acknowledged.get(each["rule"], 0)} for each in kept["rules"]]
    items = [_item(row, kept["detector"]) for row in rows]
    found = page_of(items, limit, lambda row: (row["rule"], row["run_id"] or "", row["id"]))
    told = {name: kept[name] for name in ("detector", "policy")}
    return {**told, "rules": [each for each in counts if each["rule"] in names], **found.as_json()}


def rule_of(cursor: Cursor, answer: str, finding: str) -> str | None:
    """The rule of a finding of a kept answer; None if it is not among them."""
    rows = cursor.execute(_RULE, {"answer": answer, "finding": finding}).fetchall()
    return rows[0][0] if rows else None


def _item(row: tuple[Any, ...], detector: str) -> Json:
    known = Acknowledgement(*row[5:]).as_json() if row[5] is not None else None
    return {**dict(zip(_COLUMNS, row, strict=False)), "detector": detector, "acknowledged": known}
