"""What the sample logs beside the repository hold: one module a tool, each with a list SAMPLES."""

import importlib
import pkgutil
from dataclasses import dataclass

Finish = tuple[str | None, str | None]
"""A finish reason, and how it was obtained."""


@dataclass(frozen=True, slots=True)
class Leak:
    """The whole text of one channel of the generation at `index`, which holds a leak."""

    index: int
    channel: str
    text: str


@dataclass(frozen=True, slots=True)
class Sample:
    """The facts of one sample, a file or files that are read together; what the format cannot say is None.

    `generations` counts responses of models, not their copies. `tools` are the names offered to each generation,
    None where the format does not tell. `call_modes`, `finishes`, `models` (and `engines`: engine and version)
    are by generation; a single entry stands for all. `first` and `last` are the earliest and latest start, ISO 8601.
    """

    paths: tuple[str, ...]
    format: str
    generations: int
    runs: int
    leaks: tuple[Leak, ...]
    finishes: tuple[Finish, ...]
    models: tuple[str | None, ...]
    tools: tuple[tuple[str, ...] | None, ...]
    call_modes: tuple[str | None, ...] = (None,)
    engines: tuple[tuple[str | None, str | None], ...] = ((None, None),)
    providers: tuple[str | None, ...] = (None,)
    first: str | None = None
    last: str | None = None
    quarantined: int = 0


def samples() -> list[Sample]:
    """All samples of all modules."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return [sample for name in names for sample in importlib.import_module(f"{__name__}.{name}").SAMPLES]
