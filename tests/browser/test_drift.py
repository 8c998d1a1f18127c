"""Alerts in the browser: muted and opened again by plain forms, with scripts and without."""

import pytest
from playwright.sync_api import expect

from tests.api.service import Service
from tests.api.test_alerts import RECORDS
from tests.browser.conftest import Visit


@pytest.mark.parametrize("scripts", [pytest.param(True, id="with scripts"), pytest.param(False, id="without scripts")])
def test_an_alert_is_muted_and_opened_again(visit: Visit, service: Service, scripts: bool) -> None:
    """The filter stays, the name is kept for the next one, and the reason is only text."""
    service.upload(*RECORDS)
    page = visit(service, "/drift?where=model=m", scripts=scripts).page
    alerts = page.get_by_role("region", name="Alerts")
    expect(alerts.get_by_role("article")).to_contain_text("leaks 60.0% (72 of 120)")
    alerts.get_by_text("Acknowledge or mute").click()
    alerts.get_by_label("you").fill("cleo")
    alerts.get_by_label("why").fill("the <b>new</b> template")
    alerts.get_by_role("button", name="Mute until then").click()
    expect(alerts.get_by_text("No alert is open; 1 acknowledged or muted.")).to_be_visible()
    expect(page.get_by_label("Filter 1")).to_have_value("model=m")
    alerts.get_by_text("Acknowledged or muted: 1").click()
    expect(alerts.get_by_role("article")).to_contain_text("by cleo")
    expect(alerts.get_by_role("article")).to_contain_text("“the <b>new</b> template”")
    expect(alerts.get_by_label("you")).to_have_value("cleo")
    alerts.get_by_label("why").fill("look again")
    alerts.get_by_role("button", name="Open again").click()
    expect(alerts.get_by_text("Acknowledge or mute")).to_be_visible()


def test_an_alert_leads_to_the_runs_behind_it(visit: Visit, service: Service) -> None:
    """Those of its line that leaked since."""
    service.upload(*RECORDS)
    page = visit(service, "/drift").page
    page.get_by_role("region", name="Alerts").get_by_role("link", name="Its runs").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Runs")
    expect(page.get_by_label("since")).to_have_value("2026-09-29")
