"""The audit in the browser: a finding followed to its run, acknowledged by a form, and shown again on demand."""

import pytest
from playwright.sync_api import expect

from tests.api.conftest import LEAK, generation
from tests.api.service import Service
from tests.browser.conftest import Visit

BOTH_WAYS = pytest.mark.parametrize(
    "scripts", [pytest.param(True, id="with scripts"), pytest.param(False, id="without scripts")]
)


@BOTH_WAYS
def test_a_finding_is_acknowledged_and_shown_on_demand(visit: Visit, service: Service, scripts: bool) -> None:
    """The name is kept for the next one; the filters stay."""
    service.upload(generation("a", 0, LEAK), generation("b", 0, LEAK))
    page = visit(service, "/audit?rule=leak_completed_turn", scripts=scripts).page
    findings = page.get_by_role("region", name="Findings").get_by_role("article")
    expect(findings).to_have_count(2)
    findings.first.get_by_label("you").fill("cleo")
    findings.first.get_by_label("why it may stand").fill("a known <b>fault</b>")
    findings.first.get_by_role("button", name="Acknowledge").click()
    expect(findings).to_have_count(1)
    expect(findings.first.get_by_label("you")).to_have_value("cleo")
    page.get_by_label("acknowledged ones too").check()
    page.get_by_role("button", name="Show").click()
    expect(findings).to_have_count(2)
    expect(findings.first).to_contain_text("acknowledged by cleo")
    expect(findings.first).to_contain_text("a known <b>fault</b>")
    expect(findings.first.get_by_role("button")).to_have_count(0)


def test_a_finding_leads_to_its_run_and_a_rule_to_its_findings(visit: Visit, service: Service) -> None:
    """By the links that stand there."""
    service.upload(generation("a", 0, LEAK), generation("a", 0, LEAK, generation_id="a.1", attempt=1))
    page = visit(service, "/audit?policy=report-only").page
    page.get_by_role("link", name="Leaks are retried more often than the policy allows.").click()
    findings = page.get_by_role("region", name="Findings").get_by_role("article")
    expect(findings).to_have_count(1)
    expect(findings.first).to_contain_text("1 retry of leaks in the round; report-only@1 allows 0")
    findings.first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Run a")
