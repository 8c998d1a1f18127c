"""What people say of an alert: the last word counts, what is done already is refused, and a mute ends."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from analysis.alerts.words import Word, last_words, say
from ingest.errors import Conflict, UsageError
from ingest.store import Store

NOW = datetime.fromisoformat("2026-11-30T12:00:00")
TODAY = NOW.date()
LATER = date(2026, 12, 10)


def word(action: Any, until: date | None = None, **fields: Any) -> Word:
    """A word of ana's."""
    return Word(action, **{"reason": "known", "by": "ana", "at": NOW, **fields}, until=until)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "s.duckdb", create=True) as opened:
        yield opened


def said(store: Store, *words: Word) -> None:
    for each in words:
        say(store, "a1", "change", each)


def state(store: Store, day: date = TODAY) -> str:
    with store.cursor() as cursor:
        return last_words(cursor)["a1"].state(day)


ACKNOWLEDGE, UNMUTE, MUTE = word("acknowledge"), word("unmute"), word("mute", LATER)


@pytest.mark.parametrize(
    ("words", "day", "then"),
    [
        pytest.param([ACKNOWLEDGE], TODAY, "acknowledged", id="acknowledged"),
        pytest.param([ACKNOWLEDGE], date(2030, 1, 1), "acknowledged", id="for good"),
        pytest.param([MUTE], LATER, "muted", id="muted, on the last day too"),
        pytest.param([MUTE], LATER + timedelta(1), "open", id="the mute has ended"),
        pytest.param([MUTE, UNMUTE], TODAY, "open", id="opened again"),
        pytest.param([ACKNOWLEDGE, UNMUTE], TODAY, "open", id="an acknowledgement taken back"),
        pytest.param([MUTE, ACKNOWLEDGE], LATER + timedelta(1), "acknowledged", id="acknowledged while muted"),
        pytest.param([MUTE, word("mute", LATER + timedelta(9))], LATER + timedelta(1), "muted", id="muted for longer"),
        pytest.param([ACKNOWLEDGE, UNMUTE, ACKNOWLEDGE], TODAY, "acknowledged", id="acknowledged anew"),
        pytest.param([word("mute", TODAY)], TODAY, "muted", id="for today"),
    ],
)
def test_the_last_word_counts(store: Store, words: list[Word], day: date, then: str) -> None:
    said(store, *words)
    assert state(store, day) == then


@pytest.mark.parametrize(
    ("before", "again", "fault"),
    [
        pytest.param([ACKNOWLEDGE], ACKNOWLEDGE, "was acknowledged by ana on 2026-11-30 12:00 UTC: known", id="twice"),
        pytest.param([MUTE], MUTE, "was muted until 2026-12-10 by ana", id="muted until the same day"),
        pytest.param([], UNMUTE, "is open", id="opened, of which nothing was said"),
        pytest.param([MUTE, UNMUTE], UNMUTE, "is open", id="opened twice"),
        pytest.param(
            [word("mute", TODAY)], word("unmute", at=NOW + timedelta(1)), "is open", id="opened, but the mute has ended"
        ),
    ],
)
def test_what_is_done_already_is_refused(store: Store, before: list[Word], again: Word, fault: str) -> None:
    said(store, *before)
    with pytest.raises(Conflict, match=fault):
        said(store, again)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        pytest.param(word("acknowledge", reason=" "), "to acknowledge an alert needs a reason", id="no reason"),
        pytest.param(word("mute", LATER, by=""), "to mute an alert needs the name", id="nobody"),
        pytest.param(word("mute"), "needs a day until which", id="a mute without an end"),
        pytest.param(word("acknowledge", LATER), "to acknowledge an alert has no end", id="an end of something else"),
        pytest.param(word("mute", TODAY - timedelta(1)), "until 2026-11-29 is over", id="a day that is over"),
    ],
)
def test_what_is_wrong_is_refused(store: Store, given: Word, fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        said(store, given)


def test_all_that_was_said_is_kept(store: Store) -> None:
    said(store, ACKNOWLEDGE, UNMUTE, MUTE)
    with store.cursor() as cursor:
        rows = cursor.execute("SELECT action, rule FROM alert_words ORDER BY rowid").fetchall()
    assert rows == [("acknowledge", "change"), ("unmute", "change"), ("mute", "change")]
