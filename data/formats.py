"""The list of log formats in docs/formats.md, made from the registry: `python -m data.formats --write`."""

import sys
from pathlib import Path

from ingest.formats import Format, formats

DOCS = Path(__file__).parents[1] / "docs" / "formats.md"
BEGIN, END = "<!-- formats: made by `python -m data.formats --write` -->", "<!-- end of formats -->"
RANKS = ("Tools, gateways and data sets", "Bodies of providers' APIs", "Messages")


def listing() -> str:
    """All formats, by rank and name, in Markdown."""
    parts = [f"### {rank}\n\n{_rank(number)}" for number, rank in enumerate(RANKS)]
    return "\n\n".join(parts)


def _rank(number: int) -> str:
    return "\n".join(_entry(each) for each in formats() if each.generic == number)


def _entry(each: Format) -> str:
    told = (
        ("Recognised by", each.recognised),
        ("Carries", each.carries),
        ("Cannot say", each.lacks),
        ("For a better log", each.better),
    )
    lines = [f"#### {each.title}\n", f"`--format {each.name}`\n", *(f"- {name}: {text}." for name, text in told)]
    return "\n".join(lines).replace("..\n", ".\n") + "\n"


def written(text: str) -> str:
    """The page with the list in its place."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{listing()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        DOCS.write_text(written(DOCS.read_text("utf-8")), "utf-8")
    else:
        print(listing())
