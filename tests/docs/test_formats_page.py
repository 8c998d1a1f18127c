"""docs/formats.md lists every format of the registry, as the registry describes it."""

from data.formats import DOCS, written
from ingest.formats import formats


def test_the_list_is_that_of_the_registry() -> None:
    text = DOCS.read_text("utf-8")
    assert written(text) == text


def test_every_format_says_what_a_user_needs() -> None:
    for each in formats():
        told = (each.recognised, each.carries, each.lacks, each.better)
        assert all(len(text) > 10 and "\n" not in text for text in told), each.name
