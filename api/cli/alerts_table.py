"""Alerts as a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.cli import show

COLUMNS = ("alert", "rule", "state", "what")


def show_alerts(items: Sequence[Mapping[str, Any]]) -> None:
    """Print them."""
    show.table(COLUMNS, [(each["id"], each["rule"], _state(each), each["text"]) for each in items])


def _state(alert: Mapping[str, Any]) -> str:
    if alert["state"] == "open":
        return "open"
    until = f" until {alert['until']}" if alert["until"] else ""
    return f"{alert['state']}{until} by {alert['by']}: {alert['reason']}"
