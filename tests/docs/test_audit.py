"""docs/audit.md: the rules and the reasons that it lists are those of the registry."""

import pytest

from analysis.recovery.audit.rules import Rule, rules
from tests.test_docs import ROOT

DOCUMENT = (ROOT / "docs" / "audit.md").read_text("utf-8")
ROWS = [line for line in DOCUMENT.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_a_rule_stands_there_as_it_is(rule: Rule) -> None:
    assert f"| `{rule.name}` | {rule.summary} | {rule.unit} | {rule.needs} | {rule.source} |" in ROWS
    assert [code for code, when in rule.not_checkable.items() if f"| `{code}` | {when} |" not in ROWS] == []


def test_nothing_else_stands_there() -> None:
    codes = {code for rule in rules() for code in rule.not_checkable}
    assert len(ROWS) == len(set(ROWS)) == len(rules()) + len(codes)
