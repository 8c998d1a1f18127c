"""Uploads are listed, corrected and deleted; what another upload held too stays."""

from datetime import datetime
from typing import Any

import pytest

from ingest.errors import UsageError
from ingest.store import Store
from ingest.uploads import correct, delete, quarantine, uploads
from ingest.verdict_rows import Judge
from tests.ingest.loading import MARK, Row, event, everything, generation, label, load, rows, run

FIRST: list[Row] = [
    run(engine="vllm"),
    generation(generation_id="g1", content=f"one {MARK}", tools=[{"name": "ls"}], round=0),
    generation(generation_id="g2", content="two", reasoning="why", raw_text="raw"),
    event(run_id="r", round=0),
    label("g1"),
]


def loaded(store: Store, *lines: Row | str, **rest: Any) -> int:
    """The id of an upload of `lines`."""
    upload_id = load(store, *lines, **rest).upload_id
    assert upload_id is not None
    return upload_id


def test_uploads_are_listed_oldest_first_with_their_figures(store: Store) -> None:
    first = loaded(store, *FIRST, "{", settings={"engine": "vllm"})
    second = loaded(store, *FIRST, generation(generation_id="g3"), name="b.jsonl")
    one, two = uploads(store)
    assert (one.upload_id, one.path, one.format, one.settings) == (first, "log.jsonl", "native", {"engine": "vllm"})
    assert (one.lines, one.mapped, one.skipped, one.duplicate, one.quarantined) == (6, 5, 0, 0, 1)
    assert (one.generations, one.new_generations, one.events) == (2, 2, 1)
    assert (two.upload_id, two.path, two.mapped, two.duplicate, two.new_generations) == (second, "b.jsonl", 1, 5, 1)
    assert datetime.fromisoformat(one.as_json()["created_at"]).tzinfo is not None


def test_a_correction_overrides_and_later_ones_add_to_it(store: Store) -> None:
    upload = loaded(store, generation(generation_id="a", engine="theirs"), settings={"template": "t"})
    loaded(store, generation(generation_id="b", engine="theirs"), name="b.jsonl")
    correct(store, upload, {"engine": "vllm", "template": "u"})
    correct(store, upload, {"engine_version": "0.30.0"})
    found = rows(store, "SELECT generation_id, engine, engine_version, template FROM generations ORDER BY ALL")
    assert found == [("a", "vllm", "0.30.0", "u"), ("b", "theirs", None, None)]
    assert [each.settings for each in uploads(store)] == [
        {"template": "u", "engine": "vllm", "engine_version": "0.30.0"},
        {},
    ]


@pytest.mark.parametrize(
    ("known", "name", "why"),
    [
        pytest.param(True, "colour", "cannot set colour; what can be set: model, provider", id="an unknown key"),
        pytest.param(True, "run_id", "cannot set run_id", id="a field that names no series"),
        pytest.param(False, "engine", "no upload 77; `leakdown uploads list` shows them", id="an unknown upload"),
    ],
)
def test_a_wrong_correction_changes_nothing(store: Store, known: bool, name: str, why: str) -> None:
    upload = loaded(store, *FIRST)
    before = everything(store)
    with pytest.raises(UsageError, match=why):
        correct(store, upload if known else 77, {name: "x"})
    assert everything(store) == before


def test_a_deleted_upload_is_gone_with_all_that_it_brought(store: Store) -> None:
    before = everything(store)
    delete(store, loaded(store, *FIRST, "{", ""))
    assert everything(store) == before
    assert load(store, *FIRST).new_generations == 2


def test_deleting_keeps_what_other_uploads_brought(store: Store) -> None:
    loaded(store, *FIRST)
    before = everything(store)
    other = [generation(run_id="s", generation_id="h1", content=f"other {MARK}"), label("h1", by="bob")]
    delete(store, loaded(store, *other, name="b.jsonl"))
    assert everything(store) == before


def test_deleting_twice_is_a_wrong_call(store: Store) -> None:
    upload = loaded(store, *FIRST)
    delete(store, upload)
    with pytest.raises(UsageError, match=f"no upload {upload}"):
        delete(store, upload)


@pytest.mark.parametrize("later", [pytest.param(1, id="one heir"), pytest.param(2, id="two: the earlier one")])
def test_a_later_upload_inherits_the_records_that_it_held_too(store: Store, later: int) -> None:
    first = loaded(store, *FIRST)
    heirs = [loaded(store, generation(generation_id=f"new{at}"), *FIRST, name=f"{at}.jsonl") for at in range(later)]
    delete(store, first)
    for table, lines in (("runs", [2]), ("generations", [3, 4]), ("events", [5]), ("labels", [6])):
        held = rows(store, f"SELECT line FROM {table} WHERE upload_id = $1 ORDER BY line", heirs[0])  # noqa: S608
        assert [line for (line,) in held if line > 1] == lines, table
    texts = rows(store, "SELECT text FROM texts ORDER BY text")
    assert [text for (text,) in texts] == [f"one {MARK}", "raw", "two", "why", "x"]
    assert rows(store, "SELECT count(*) FROM events e JOIN generations g ON g.key = e.generation") == [(1,)]
    assert rows(store, "SELECT count(*) FROM generations JOIN truth USING (verdict_key)") == [(1,)]
    assert rows(store, "SELECT count(*) FROM generations JOIN verdicts USING (verdict_key)") == [(1,)]
    assert rows(store, "SELECT DISTINCT upload_id FROM sightings") == [(heir,) for heir in heirs[1:]]
    for heir in heirs:
        delete(store, heir)
    assert {table for table, held in everything(store).items() if held} == {"migrations"}


def test_an_heir_deleted_before_the_first_upload_inherits_nothing(store: Store) -> None:
    first = loaded(store, *FIRST)
    before = everything(store)
    delete(store, loaded(store, *FIRST, generation(generation_id="new"), name="b.jsonl"))
    assert everything(store) == before
    delete(store, first)
    assert rows(store, "FROM generations") == []


def test_events_of_other_uploads_point_nowhere_once_their_generation_is_gone(store: Store) -> None:
    upload = loaded(store, *FIRST[:3])
    loaded(store, event(run_id="r", round=0), name="events.jsonl")
    assert rows(store, "SELECT count(generation) FROM events") == [(1,)]
    delete(store, upload)
    assert rows(store, "SELECT count(*), count(generation) FROM events") == [(1, 0)]


def test_an_heir_is_judged_anew_by_detectors_that_never_saw_what_it_inherits(store: Store) -> None:
    clean = Judge("late@1", lambda _: [])
    first = loaded(store, *FIRST)
    heir = loaded(store, *FIRST, generation(generation_id="new"), name="b.jsonl", judge=clean)
    other = loaded(store, generation(generation_id="h"), name="c.jsonl", judge=clean)
    delete(store, first)
    assert rows(store, "SELECT upload_id FROM coverage WHERE detector = 'late@1'") == [(other,)]
    assert heir in [upload.upload_id for upload in uploads(store)]


def test_the_quarantine_of_an_upload_is_listed_in_order(store: Store) -> None:
    upload = loaded(store, *FIRST, "{", "[")
    loaded(store, generation(generation_id="h"), "}", name="b.jsonl")
    assert [(item["line"], item["excerpt"]) for item in quarantine(store, upload)] == [(6, "{"), (7, "[")]
    assert [item["line"] for item in quarantine(store, upload, limit=1)] == [6]
