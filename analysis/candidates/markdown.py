"""What is told of code in a replay's Markdown: its failures, and what was noticed of it."""

from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]
Code = Callable[[str], str]
"""Makes a code span of text that may be hostile."""


def told(report: Json, code: Code) -> Iterator[str]:
    """Paragraphs and tables; none where no code failed and nothing was noticed."""
    for side in ("baseline", "candidate"):
        if failures := report.get("failures", {}).get(side):
            yield _failures(side, failures, code)
        checks = report.get("checks", {}).get(side)
        if checks and checks["changed"]:
            yield _changed(side, checks, code)
        if checks and checks["unsound"]:
            yield _unsound(side, checks, code)


def _failures(side: str, failures: list[Json], code: Code) -> str:
    rows = [f"| {each['n']:,} | {code(each['error'])} | {code(each['generation_id'])} |" for each in failures]
    return "\n".join((f"The {side} failed:", "", "| outputs | what happened | for example |", "|--:|---|---|", *rows))


def _changed(side: str, checks: Json, code: Code) -> str:
    first = checks["changed_examples"][0]
    return (
        f"**The {side} changed its answer** on {checks['changed']:,} of {checks['asked_twice']:,} outputs that it was "
        f"asked twice: {code(first['generation_id'])}, first {code(first['first'])}, then {code(first['second'])}. "
        "No figure of it can be relied on."
    )


def _unsound(side: str, checks: Json, code: Code) -> str:
    first = checks["unsound_examples"][0]
    return (
        f"**The {side}'s triggers leave findings out**: it finds something in {checks['unsound']:,} of "
        f"{checks['silent']:,} outputs that hold none of them, such as {code(first['generation_id'])}: "
        f"{code(first['markup'])}."
    )
