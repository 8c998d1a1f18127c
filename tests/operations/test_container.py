"""The image and the compose file: linted, what they promise, and the service under those promises."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.service import STOP_SECONDS
from api.settings import PREFIX, Settings
from tests.api.conftest import LEAK, SCRIPT, generation
from tests.api.service import PATIENCE, lines, process
from tests.test_docs import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
FINAL = DOCKERFILE.rpartition("\nFROM ")[2]
NOBODY = "10001"


@pytest.fixture(scope="module")
def service() -> Any:
    return yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]["leakdown"]


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    if not hadolint:
        pytest.skip("hadolint is not installed: its wheel is for Linux on x86-64 alone")
    found = subprocess.run([hadolint, "Dockerfile"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


def test_the_image_holds_the_project_and_nothing_else_of_the_folder() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    sources = {source for line in copied for source in line.split()}
    let_through = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    assert sources == set(let_through)
    assert all((ROOT / source).exists() for source in sources)


def test_the_image_names_settings_that_there_are() -> None:
    named = dict(re.findall(rf"\b({PREFIX}\w+)=(\S+)", FINAL))
    chosen = Settings.model_validate({name.removeprefix(PREFIX).lower(): value for name, value in named.items()})
    assert named.keys() <= {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    assert (chosen.store, chosen.host, chosen.log) == (Path("/data/leakdown.duckdb"), "0.0.0.0", "json")  # noqa: S104 - keys
    assert f"EXPOSE {chosen.port}\n" in FINAL
    assert f"127.0.0.1:{chosen.port}/healthz" in FINAL


def test_the_image_runs_as_nobody_over_a_volume() -> None:
    assert re.findall(r"^(?:USER|VOLUME|STOPSIGNAL|ENTRYPOINT|CMD) .*", FINAL, re.MULTILINE) == [
        f"USER {NOBODY}",
        "VOLUME /data",
        "STOPSIGNAL SIGTERM",
        'ENTRYPOINT ["leakdown"]',
        'CMD ["serve"]',
    ]


def test_what_compose_takes_away(service: Any) -> None:
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["tmpfs"] == ["/tmp"]  # noqa: S108 - the container's own
    assert [each.rpartition(":")[0] for each in service["ports"]] == ["127.0.0.1:8321"]
    assert int(service["stop_grace_period"].removesuffix("s")) > STOP_SECONDS


def test_the_service_needs_no_more_than_that(tmp_path: Path) -> None:
    """A user that is nobody, a root that cannot be written, a /tmp of its own, one folder: no container engine is
    needed for that."""
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed: nothing here can make the root read-only")
    (tmp_path / "data").mkdir()
    store = tmp_path / "data" / "leakdown.duckdb"
    root = ["bwrap", "--die-with-parent", "--unshare-user", "--uid", NOBODY, "--gid", NOBODY]
    folders = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108
    checkout = ["--ro-bind", str(ROOT), str(ROOT)]  # a checkout below /tmp is seen all the same
    data = ["--bind", str(store.parent), str(store.parent)]
    with process(store, [*root, *folders, *checkout, *data, SCRIPT]) as running:
        answer = running.http.post("/v1/uploads", content=lines(generation("r", 0, LEAK)))
        assert answer.status_code == 201, answer.text
        assert running.http.get("/").status_code == 200
        [inside] = Path(f"/proc/{running.popen.pid}/task/{running.popen.pid}/children").read_text().split()
        os.kill(int(inside), signal.SIGTERM)  # bubblewrap passes no signal on
        assert running.popen.wait(PATIENCE) == 0
    assert [path.name for path in store.parent.iterdir()] == [store.name]


def test_built_and_run(tmp_path: Path) -> None:
    """The commands of the Dockerfile's head, where a container engine runs."""
    if not shutil.which("docker") or subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        pytest.skip("no container engine runs here")
    volume = ["--read-only", "--tmpfs", "/tmp", "--volume", f"{tmp_path}:/data"]  # noqa: S108
    tmp_path.chmod(0o777)
    subprocess.run(["docker", "build", "--tag", "leakdown-test", "."], cwd=ROOT, check=True)
    for command in (["--version"], ["keys", "create", "first", "--scope", "admin"]):
        subprocess.run(["docker", "run", "--rm", *volume, "leakdown-test", *command], check=True)
    name = ["docker", "run", "--detach", "--rm", *volume, "leakdown-test"]
    container = subprocess.run(name, check=True, capture_output=True, text=True).stdout.strip()
    health = ["docker", "exec", container, "python", "-c", "import urllib.request as u, time\ntime.sleep(5)\n"]
    health[-1] += "u.urlopen('http://127.0.0.1:8321/healthz')"
    try:
        subprocess.run(health, check=True)
    finally:
        subprocess.run(["docker", "stop", container], check=True)
