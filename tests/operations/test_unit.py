"""The unit for systemd: it is one, and it names what there is."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from api.service import STOP_SECONDS
from api.settings import PREFIX, Settings
from tests.api.conftest import SCRIPT
from tests.test_docs import ROOT

UNIT = (ROOT / "docs" / "examples" / "leakdown.service").read_text("utf-8")


def test_systemd_takes_it(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "leakdown.service"
    unit.write_text(UNIT.replace("/opt/leakdown/bin/leakdown", SCRIPT))
    found = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", unit],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")


def test_it_names_settings_that_there_are_and_gives_time_to_stop() -> None:
    named = dict(re.findall(rf"^Environment=({PREFIX}\w+)=(\S+)$", UNIT, re.MULTILINE))
    Settings.model_validate({name.removeprefix(PREFIX).lower(): value for name, value in named.items()})
    assert named.keys() <= {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    [seconds] = re.findall(r"^TimeoutStopSec=(\d+)$", UNIT, re.MULTILINE)
    assert int(seconds) > STOP_SECONDS
