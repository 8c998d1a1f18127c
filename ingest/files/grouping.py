"""Files that belong together: of a batch its input and output, of a trace its spans and logs."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from ingest.errors import LeakdownError
from ingest.files.containers import JOINT, Source
from ingest.files.opening import Opened
from ingest.files.segments import segmented

MOST = 100
"""Files of one upload: each is open while it is read."""


def together(sources: Sequence[Source]) -> list[Source]:
    """`sources`, with those of one folder that have one format that reaches across files made one.

    A file that is not understood stays by itself, and is refused where it is read.
    """
    groups: dict[object, list[Source]] = {}
    for at, source in enumerate(sources):
        group = groups.setdefault(_kind(source) or at, [])
        group.append(source)
    parts = (group[at : at + MOST] for group in groups.values() for at in range(0, len(group), MOST))
    return [_joined(part) for part in parts]


def _kind(source: Source) -> tuple[Path, str] | None:
    """The folder and the format of a file that may belong to others; None for one that does not."""
    if source.path is None or not source.path.is_file():
        return None
    try:
        with ExitStack() as stack:
            segments, _ = segmented(Opened(source, stack).members, source.name, None)
    except LeakdownError:
        return None
    reaching = len(segments) == 1 and segments[0].format.across_files
    return (source.path.parent, segments[0].format.name) if reaching else None


def _joined(group: Sequence[Source]) -> Source:
    if len(group) == 1:
        return group[0]
    first, *others = group
    last = Path(others[0].name).name if len(others) == 1 else f"{len(others)} more"
    return replace(first, name=f"{first.name}{JOINT}{last}", more=tuple(others))
