"""A candidate that does what it should not: the output's content names what, and with what. It runs in workers only.

Its finding says "GOT" and what it got; what is refused raises, and stands in the reason.
"""

import ctypes
import mmap
import os
import resource
import signal
import socket
import time
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
_PTRACE_ATTACH, _NEW_USER, _MIB = 16, 0x10000000, 2**20


def _read(path: str) -> object:
    return Path(path).read_bytes()[:20]


def _listed(folder: str) -> object:
    return sorted(map(str, Path(folder).iterdir()))


def _write(path: str) -> object:
    return Path(path).write_text("x")


def _open_to_write(path: str) -> object:
    os.close(os.open(path, os.O_WRONLY))
    return path


def _environment(name: str) -> object:
    if told := os.environ.get(name):
        return told
    found = [each for each in map(_bytes_of, Path("/proc").glob("[0-9]*/environ")) if b"secret" in each]
    return found[0][:20] if found else _refused("nowhere")


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # another's


def _connect(port: str) -> object:
    return socket.create_connection(("127.0.0.1", int(port)), 2).getsockname()


def _unix(path: str) -> object:
    with socket.socket(socket.AF_UNIX) as made:
        made.connect(path.replace("@", "\0"))
    return path


def _name(host: str) -> object:
    return socket.getaddrinfo(host, 80)


def _datagram(address: str) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        return made.sendto(b"x", (address, 53))


def _signal(pid: str) -> object:
    os.kill(int(pid), 0)
    return pid


def _trace(pid: str) -> object:
    return _call("ptrace", _PTRACE_ATTACH, int(pid), None, None)


def _parent(_: str) -> object:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(0.2)
    return _refused("it still runs")


def _processes(marker: str) -> object:
    known = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    return len(known) if len(known) > 6 or any(marker.encode() in each for each in known) else _refused("not seen")


def _namespace(_: str) -> object:
    return _call("unshare", _NEW_USER)


def _fork(_: str) -> object:
    """No bomb: children that do nothing, ever more of them."""
    for _count in range(2000):
        os.posix_spawn("/bin/sleep", ["sleep", "600"], {})
    time.sleep(600)
    return 2000


def _linger(_: str) -> object:
    if os.fork() == 0:
        os.setsid()
        while True:
            pass
    return _refused("it is ended with its parent")


def _big_file(folder: str) -> object:
    with (Path(folder) / "big").open("wb") as file:
        for _ in range(256):
            file.write(bytes(_MIB))
    return "256 MB"


def _many_files(folder: str) -> object:
    for at in range(256):
        (Path(folder) / f"small-{at}").write_bytes(bytes(_MIB))
    return "256 MB"


def _memory(_: str) -> object:
    return len(bytearray(2**31))


def _shared_memory(_: str) -> object:
    with mmap.mmap(-1, 2**31) as shared:
        for start in range(0, 2**31, _MIB):
            shared[start : start + _MIB] = b"x" * _MIB
    return "2 GB"


def _processor(_: str) -> object:
    while True:
        pass


def _limits(_: str) -> object:
    names = ("RLIMIT_CPU", "RLIMIT_NPROC", "RLIMIT_FSIZE")
    return [resource.getrlimit(getattr(resource, name)) for name in names]


def _call(name: str, *arguments: Any) -> object:
    if getattr(LIBC, name)(*arguments) == 0:
        return name
    raise OSError(ctypes.get_errno(), name)


def _refused(why: str) -> object:
    raise PermissionError(why)


ATTACKS = {
    name.removeprefix("_"): found for name, found in list(globals().items()) if name[:1] == "_" and name[:2] != "__"
}


def find(output: Any) -> dict[str, Any] | None:
    """What came of the attack."""
    attack, _, argument = (output.content or "").partition(" ")
    if attack not in ATTACKS:
        return None
    try:
        told = f"GOT {ATTACKS[attack](argument)!r}"
    except Exception as fault:  # noqa: BLE001 - however it is refused
        told = f"refused: {type(fault).__name__}"
    return {"start": 0, "end": len(attack), "reason": told}
