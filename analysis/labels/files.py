"""Labels as files: native JSON Lines, or CSV as spreadsheets write it.

A cell that a spreadsheet would take for a formula stands behind an apostrophe, and loses it again when it is read.
A line end within a cell is read as a line feed.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO, Literal

from pydantic_core import to_json

from analysis.labels.history import word
from ingest.errors import InputError
from ingest.export import records
from ingest.files.containers import RawLine, Source, read_lines
from ingest.files.jsonlines import decode
from ingest.formats import Line, Quarantined, Skipped, excerpt
from ingest.records import Label, validate
from ingest.store import Store

FileFormat = Literal["jsonl", "csv"]
COLUMNS = ("generation_id", "run_id", "leak", "kind", "by", "at", "note", "resolution")
"""The columns of a CSV file; generation_id and leak must be there, others are kept as unknown fields."""
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("leak", "true", "yes", "1"), True),
    **dict.fromkeys(("clean", "false", "no", "0", "not", "not a leak"), False),
    **dict.fromkeys(("unsure", "null", "none", "?"), None),
}
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_BEHIND_APOSTROPHE = re.compile(r"'+[=+\-@\t\r]")

Read = tuple[int, Label] | Skipped | Quarantined
"""One line of a file: a label with its line number, or why there is none."""


def read(source: Source, by: str | None = None) -> Iterator[Read]:
    """The labels of a file, one answer a line; `by` names the person where a line does not.

    JSON Lines if it begins with a brace, else CSV. UnreadableInput; InputError for a CSV file without the columns.
    """
    lines = read_lines(source)
    head = list(_until_text(lines))
    found = chain(head, lines)
    if head and head[-1].data.lstrip(b"\xef\xbb\xbf \t").startswith(b"{"):
        yield from _of_json(found, by)
    else:
        yield from _of_csv(source.name, found, by)


def _until_text(lines: Iterator[RawLine]) -> Iterator[RawLine]:
    """The lines down to the first one that is not blank."""
    for line in lines:
        yield line
        if line.data.strip():
            return


def _of_json(lines: Iterable[RawLine], by: str | None) -> Iterator[Read]:
    for line in decode(lines):
        if not isinstance(line, Line):
            yield line
        elif isinstance(line.value, dict) and line.value.get("type", "label") != "label":
            yield Skipped(line.number, "a record that is no label")
        else:
            yield _label(line.number, line.value, by, line.raw)


def _of_csv(name: str, lines: Iterable[RawLine], by: str | None) -> Iterator[Read]:
    faulty: list[Quarantined] = []
    reader = csv.reader(_texts(lines, faulty))
    columns = _columns(name, reader)
    line = reader.line_num
    try:
        for cells in reader:
            line += 1
            yield _of_row(line, dict(zip(columns, map(_unquoted, cells), strict=False)), by)
            line = reader.line_num
    except csv.Error as fault:
        yield Quarantined(line, f"not CSV: {fault}; nothing after it was read", "")
    yield from faulty


def _columns(name: str, reader: Iterator[list[str]]) -> list[str]:
    try:
        columns = [cell.strip().lstrip("\ufeff").lower() for cell in next(reader, [])]
    except csv.Error as fault:
        raise InputError(f"{name}: neither JSON Lines nor CSV ({fault})") from None
    missing = [column for column in ("generation_id", "leak") if column not in columns]
    if missing:
        raise InputError(
            f"{name}: no labels: neither JSON Lines nor CSV with the column{'s' * (len(missing) > 1)} "
            f"{' and '.join(missing)} in its first line"
        )
    return columns


def _texts(lines: Iterable[RawLine], faulty: list[Quarantined]) -> Iterator[str]:
    """The lines as text, with their ends; those that cannot be read go to `faulty`."""
    for line in lines:
        if line.fault is None:
            try:
                yield line.data.decode() + "\n"
            except UnicodeDecodeError:
                faulty.append(Quarantined(line.number, "not UTF-8", excerpt(line.data)))
        else:
            faulty.append(Quarantined(line.number, line.fault, excerpt(line.data)))


def _unquoted(cell: str) -> str:
    return cell[1:] if _BEHIND_APOSTROPHE.match(cell) else cell


def _of_row(number: int, row: dict[str, str], by: str | None) -> Read:
    given = {name: cell for name, cell in row.items() if cell.strip() and name}
    if not given:
        return Skipped(number, "blank line")
    if "leak" not in given:
        return Skipped(number, "no verdict")
    value: dict[str, Any] = {**given}
    for name in ("leak", "resolution"):
        told = given.get(name, "").strip().lower()
        if told and told not in _WORDS:
            known = "leak, clean or unsure" if name == "leak" else "true or false"
            return Quarantined(number, f"{name}: {told[:40]!r} is not {known}", ",".join(row.values())[:200])
        if told:
            value[name] = _WORDS[told]
    return _label(number, value, by, ",".join(row.values()).encode("utf-8", "replace"))


def _label(number: int, value: Any, by: str | None, raw: bytes) -> Read:
    if isinstance(value, dict):
        value = {**({"by": by} if by else {}), **value, "type": "label"}
    try:
        label = validate(value)
    except ValueError as fault:
        return Quarantined(number, str(fault), excerpt(raw))
    if not isinstance(label, Label):
        return Quarantined(number, "no label", excerpt(raw))
    if not label.by.strip():
        return Quarantined(number, "by: nobody is named", excerpt(raw))
    return number, label


def write(store: Store, out: BinaryIO, as_: FileFormat = "jsonl") -> int:
    """Write all labels that count to `out`, so that `read` gives them back (CSV without unknown fields); their
    number."""
    written = 0
    if as_ == "csv":
        out.write(_csv_line(COLUMNS))
    for label in records(store, only="label"):
        line = _csv_line(_cell(name, label.get(name)) for name in COLUMNS) if as_ == "csv" else to_json(label) + b"\n"
        out.write(line)
        written += 1
    return written


def _cell(name: str, value: Any) -> str:
    if name == "leak":
        return word(value)
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"'{text}" if _FORMULA.match(text) else text


def _csv_line(cells: Iterable[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(cells)  # it quotes what holds a part of its line end, a lone CR too
    return line.getvalue().removesuffix("\r\n").encode("utf-8", "replace") + b"\n"
