"""`make accuracy`: every detector against the corpus, open part and held-back part, with counts and 95 % intervals.

Found: labelled leaks that the detector takes for leaks. Wrong: clean rows that it takes for leaks. Exact: of the
leaks found whose calls the label tells, those whose calls the finding tells just so (names, arguments, order).
`--write` puts the tables into docs/detectors.md.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.detectors import TIERS, Detector, Finding, detectors, judge
from analysis.output import Call, OfferedTool, Output
from analysis.statistics.intervals import rate
from ingest.errors import UsageError
from ingest.redaction import Redactor

CORPUS = Path(__file__).parent / "corpus"
DOCS = Path(__file__).parents[1] / "docs" / "detectors.md"
PARTS = ("open", "held")
BEGIN, END = "<!-- accuracy: made by `make accuracy` -->", "<!-- end of accuracy -->"


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled output; `calls` as (name, arguments), arguments None where the text does not tell them."""

    id: str
    part: str
    output: Output
    leak: bool
    kind: str | None
    family: str | None
    calls: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """A row, and what a detector says of it."""

    row: Row
    finding: Finding | None

    @property
    def said(self) -> bool:
        """The detector takes it for a leak."""
        return self.finding is not None and self.finding.leak

    @property
    def exact(self) -> bool:
        """The finding tells the calls of the label."""
        calls = self.finding.calls if self.finding else ()
        return self.row.calls == tuple((call.name, _value(call.arguments)) for call in calls)


def _value(arguments: str | None) -> Any:
    """Arguments as a value; text that is no JSON stays text, and equals no label."""
    try:
        return None if arguments is None else json.loads(arguments)
    except ValueError:
        return arguments


def rows(part: str, corpus: Path = CORPUS, redactor: Redactor | None = None) -> list[Row]:
    """The rows of a part of the corpus in a folder, without what is secret in their outputs if a redactor is given."""
    files = sorted(corpus.glob(f"*-{part}.jsonl"))
    values = [json.loads(line) for path in files for line in path.read_text("utf-8").split("\n") if line]
    if redactor:
        values = [{**value, "output": redactor.value(value["output"])} for value in values]
    return [_row(part, value) for value in values]


def _row(part: str, value: dict[str, Any]) -> Row:
    given = value["output"]
    tools = (
        None if given["tools"] is None else tuple(OfferedTool(t["name"], t.get("parameters")) for t in given["tools"])
    )
    output = Output(
        content=given["content"],
        reasoning=given["reasoning"],
        calls=tuple(Call(call["name"], call["arguments"]) for call in given["tool_calls"]),
        tools=tools,
        finish_reason=given["finish_reason"],
        call_mode=given["call_mode"],
    )
    calls = tuple((call["name"], call["arguments"]) for call in value["calls"])
    return Row(value["id"], part, output, value["leak"], value["kind"], value["family"], calls)


def scored(detector: Detector, part: str, corpus: Path = CORPUS) -> list[Scored]:
    """Every row of a part with what `detector` says of it."""
    return [Scored(row, judge(detector, row.output)) for row in rows(part, corpus)]


def _share(hits: int, n: int) -> str:
    found = rate(hits, n)
    if found.value is None or found.low is None or found.high is None:
        return "–"
    return f"{hits}/{n} {found.value:.1%} ({found.low:.1%}–{found.high:.1%})"


def _figures(found: Sequence[Scored]) -> tuple[str, str, str]:
    """Found, wrong and exact of some scored rows."""
    leaks = [each for each in found if each.row.leak]
    clean = [each for each in found if not each.row.leak]
    told = [each for each in leaks if each.said and each.row.calls]
    if not any(each.finding.calls for each in told if each.finding):
        told = []  # a detector that tells no calls has none wrong
    return (
        _share(sum(each.said for each in leaks), len(leaks)),
        _share(sum(each.said for each in clean), len(clean)),
        _share(sum(each.exact for each in told), len(told)),
    )


def report(corpus: Path = CORPUS, by: Sequence[Detector] | None = None) -> str:
    """The tables as Markdown: of all detectors, or of those given."""
    found = detectors() if by is None else by
    results = {each.id: {part: scored(each, part, corpus) for part in PARTS} for each in found}
    newest = max((name for name in results if name.startswith("leakdown@")), default=None)
    parts = [_overall(results)]
    if newest:
        parts += [
            _redacted(next(each for each in found if each.id == newest), corpus),
            _by(f"`{newest}` by kind", results[newest], lambda each: each.row.kind),
            _tiers(newest, results[newest]),
            _by(f"`{newest}` by family", results[newest], lambda each: each.row.family),
        ]
    return "\n\n".join(parts) + "\n"


def _overall(results: dict[str, dict[str, list[Scored]]]) -> str:
    lines = ["| detector | part | found | wrong | exact calls |", "|---|---|---|---|---|"]
    for name, by_part in results.items():
        lines += [f"| `{name}` | {part} | {' | '.join(_figures(by_part[part]))} |" for part in PARTS]
    return "\n".join(lines)


def _redacted(by: Detector, corpus: Path) -> str:
    """What the verdicts of a detector lose by redaction."""
    pairs = [pair for part in PARTS for pair in zip(rows(part, corpus), rows(part, corpus, Redactor()), strict=True)]
    changed = [(plain, redacted) for plain, redacted in pairs if plain.output != redacted.output]
    lost = sum(_verdict(by, plain) != _verdict(by, redacted) for plain, redacted in changed)
    return (
        f"`--redact` changes the text of {len(changed)} of {len(pairs)} outputs, and the verdict of `{by.id}` (leak, "
        f"kind, tier) on {_share(lost, len(pairs))} of all."
    )


def _verdict(by: Detector, row: Row) -> tuple[bool, str | None, str | None]:
    found = judge(by, row.output)
    return (False, None, None) if found is None else (found.leak, found.kind, found.tier)


def _tiers(name: str, by_part: Mapping[str, Sequence[Scored]]) -> str:
    """Of the findings of each tier, how many are labelled leaks."""
    lines = [f"`{name}` by tier, findings that are leaks:", "", "| | open | held back |", "|---|---|---|"]
    for tier in TIERS:
        shown = []
        for part in PARTS:
            said = [each.row.leak for each in by_part[part] if each.finding and each.finding.tier == tier]
            shown.append(_share(sum(said), len(said)))
        lines.append(f"| {tier} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _by(title: str, by_part: dict[str, list[Scored]], key: Callable[[Scored], str | None]) -> str:
    """Leaks found by a property, for both parts."""
    groups: dict[str, dict[str, list[Scored]]] = defaultdict(lambda: defaultdict(list))
    for part, found in by_part.items():
        for each in found:
            if each.row.leak:
                groups[key(each) or "none"][part].append(each)
    lines = [f"{title}:", "", "| | found, open | found, held back | exact calls, both |", "|---|---|---|---|"]
    for name in sorted(groups):
        shown = [_figures(groups[name][part])[0] for part in PARTS]
        exact = _figures([*groups[name]["open"], *groups[name]["held"]])[2]
        lines.append(f"| {name} | {shown[0]} | {shown[1]} | {exact} |")
    return "\n".join(lines)


def write(text: str, docs: Path = DOCS) -> None:
    """Put the tables between their marks in the docs."""
    page = docs.read_text("utf-8")
    head, begun, rest = page.partition(BEGIN)
    _, ended, tail = rest.partition(END)
    if not (begun and ended):
        raise UsageError(f"{docs} has no section between {BEGIN} and {END}")
    docs.write_text(f"{head}{BEGIN}\n\n{text}\n{END}{tail}", "utf-8")


def main() -> None:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(prog="make accuracy", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/detectors.md")
    text = report()
    if parser.parse_args().write:
        write(text)
    print(text)


if __name__ == "__main__":
    main()
