"""What a worker process may use, and how it is started under that."""

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.errors import UsageError

MEGABYTE = 2**20

_LAUNCHER = """
import os, resource, sys
memory, processes, disk, cpu, *command = sys.argv[1:]
# private writable memory, as the kernel counts it since Linux 4.7: what a runtime only reserves is free
for kind in {resource.RLIMIT_DATA, getattr(resource, "RLIMIT_AS", None) if sys.platform != "linux" else None} - {None}:
    try:
        resource.setrlimit(kind, (int(memory), int(memory)))
    except (OSError, ValueError):
        pass
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
if processes != "-":
    resource.setrlimit(resource.RLIMIT_NPROC, (int(processes), int(processes)))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(disk), int(disk)))
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu)))
try:
    os.execvp(command[0], command)
except OSError as fault:
    sys.exit(f"{command[0]}: {(fault.strerror or str(fault)).lower()}")
"""
"""A process of its own that sets the limits and becomes the command: nothing of ours runs between fork and exec."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds for one output, bytes of memory for the process, bytes of one answer, seconds to start; and, where it
    is isolated, processes and threads at a time, and bytes of a file and of all files."""

    seconds: float = 5.0
    memory: int = 1024 * MEGABYTE
    answer: int = MEGABYTE
    start: float = 60.0
    processes: int = 128
    disk: int = 64 * MEGABYTE

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= 3600:
            raise UsageError(f"--time-limit {self.seconds:g}: seconds for one output, more than 0 and up to 3600")
        if not 16 * MEGABYTE <= self.memory <= 2**20 * MEGABYTE:
            raise UsageError(f"--memory-limit {self.memory // MEGABYTE}: megabytes, from 16 to 1048576")


def launched(command: Sequence[str], limits: Limits, cpu: float | None = None) -> list[str]:
    """The command line that runs `command` under the limits: that of memory, or all, with `cpu` seconds a process."""
    more = ("-",) * 3 if cpu is None else (str(limits.processes), str(limits.disk), str(math.ceil(cpu)))
    return [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(limits.memory), *more, *command]


def environment() -> dict[str, str]:
    """What a worker finds in its environment: ours, and that a script in Python writes its answers at once."""
    return {**os.environ, "PYTHONUNBUFFERED": "1"}
