"""The sandbox of the isolation tests: the bwrap of this machine, or one that is installed now.

`python -m tests.analysis.candidates.bubblewrap` makes sure that there is one where there can be. A container may forbid
sandboxes altogether: then the tests that need one are skipped, and say why.
"""

import os
import shutil
import subprocess
import sys

import pytest

from analysis.candidates.isolation import unavailable

WHY = unavailable()
needed = pytest.mark.skipif(WHY is not None, reason=f"no isolation here: {WHY}")
"""For tests of what a sandbox does."""
_INSTALL = [["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "--no-install-recommends", "bubblewrap"]]


def main() -> None:
    """Install bubblewrap if there is none and this machine can; say what the tests will find."""
    if not shutil.which("bwrap") and shutil.which("apt-get") and os.geteuid() == 0:
        for command in _INSTALL:
            print(f"no bwrap yet: {' '.join(command)}", file=sys.stderr)
            subprocess.run(command, check=False, stdout=sys.stderr)
        unavailable.cache_clear()
    why = unavailable()
    print("isolation tests use bwrap" if why is None else f"tests that need isolation are skipped: {why}")


if __name__ == "__main__":
    main()
