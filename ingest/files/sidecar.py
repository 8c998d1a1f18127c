"""`leakdown.toml` in a folder of logs: what the files in it cannot say of themselves.

    [set]
    engine = "vllm"
    engine_version = "0.30.0"

It holds for the files of its folder and of those below, but for what a nearer one says.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from ingest.errors import InputError
from ingest.files.containers import SIDECAR
from ingest.records import SERIES

LARGEST = 1 << 20
"""Bytes of a sidecar: it holds a handful of lines."""


def told(path: Path, depth: int = 8) -> Mapping[str, str]:
    """The series fields set by the sidecars in the folder of `path` and in at most `depth` folders, from there up.

    InputError with the file and what is wrong in it.
    """
    found: dict[str, str] = {}
    for folder in [path.absolute().parent, *path.absolute().parent.parents][:depth]:
        sidecar = folder / SIDECAR
        if sidecar.is_file():
            found = {**_read(sidecar), **found}
    return found


def _read(path: Path) -> dict[str, str]:
    try:
        with path.open("rb") as file:
            value = tomllib.loads(file.read(LARGEST).decode())
    except (OSError, ValueError) as fault:
        raise InputError(f"{path}: not read as TOML ({fault}); mend it or take it away") from None
    fields = value.get("set")
    if set(value) != {"set"} or not isinstance(fields, dict):
        raise InputError(f"{path}: holds something other than a table [set]; write series fields there")
    for key, given in fields.items():
        if key not in SERIES or not isinstance(given, str):
            raise InputError(f"{path}: [set] {key}: write one of {', '.join(SERIES)} as a text")
    return fields
