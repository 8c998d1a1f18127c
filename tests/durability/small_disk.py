"""A disk of a few megabytes that can be filled to the last byte: a tmpfs, which only root may mount."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class Disk:
    """A small disk, mounted at `path`."""

    path: Path

    @property
    def free(self) -> int:
        """Bytes left."""
        return shutil.disk_usage(self.path).free

    def fill(self, left: int = 0) -> None:
        """Leave room for no more than `left` bytes."""
        self.make_room()
        ballast = self.free - left
        if ballast > 0:
            with self._ballast.open("wb") as file:
                file.write(bytes(ballast))

    def make_room(self) -> None:
        """Take away what fills it."""
        self._ballast.unlink(missing_ok=True)

    @property
    def _ballast(self) -> Path:
        return self.path / "ballast"


@contextmanager
def small_disk(path: Path, megabytes: int = 64) -> Iterator[Disk]:
    """Such a disk while it lasts; a test that cannot have one is skipped, and says so."""
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(path)]
    try:
        mounted = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no `mount` here")
    if mounted.returncode:
        pytest.skip(f"a tmpfs cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
