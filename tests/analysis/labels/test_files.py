"""Labels from files: every line accounted for, the same file twice, unknown generations kept aside; and back again."""

import gzip
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.labels.coverage import of_store
from analysis.labels.files import FileFormat, write
from analysis.labels.giving import NewLabel, add, take_back
from analysis.labels.importing import import_labels
from ingest.errors import InputError
from ingest.files.containers import Source
from ingest.redaction import Redactor
from ingest.store import Store
from tests.analysis.stories import add as upload
from tests.analysis.stories import rows, said, store_of

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
HEADER = "generation_id,leak,by,note\n"


def read(store: Store, text: str | bytes, name: str = "labels", minutes: int = 0, **more: Any) -> dict[str, Any]:
    path = store.path.parent / "labels"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return import_labels(store, Source(path, name), NOON + timedelta(minutes=minutes), **more).as_json()


def written(store: Store, as_: FileFormat = "csv") -> str:
    out = io.BytesIO()
    write(store, out, as_)
    return out.getvalue().decode()


def said_by(store: Store) -> list[tuple[Any, ...]]:
    return rows(store, "SELECT generation_id, leak, by_whom, note FROM labels ORDER BY ALL")


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        pytest.param("g0,leak,ana,", {"new": 1}, id="a leak"),
        pytest.param("g0,Clean,ana,", {"new": 1}, id="clean, in capitals"),
        pytest.param("g0,0,ana,", {"new": 1}, id="clean as a number"),
        pytest.param("g0,unsure,ana,", {"new": 1}, id="unsure"),
        pytest.param('g0,leak,ana,"two\nlines, and a comma"', {"new": 1}, id="a note of two lines"),
        pytest.param("nope,leak,ana,", {"new": 1, "unknown": 1}, id="an unknown generation"),
        pytest.param("twice,leak,ana,", {"new": 1, "ambiguous": 1}, id="an id of two outputs"),
        pytest.param("g0,,ana,", {"skipped": 1}, id="not filled in"),
        pytest.param(",,,", {"skipped": 1}, id="an empty row"),
        pytest.param("", {"skipped": 1}, id="a blank line"),
        pytest.param("g0,perhaps,ana,", {"quarantined": 1}, id="no verdict"),
        pytest.param("g0,leak,,", {"quarantined": 1}, id="nobody"),
        pytest.param(",leak,ana,", {"quarantined": 1}, id="no generation"),
        pytest.param("sure,leak,ana,", {"duplicate": 1}, id="the same as above"),
    ],
)
def test_each_row_of_a_csv_file_is_accounted_for(line: str, counted: dict[str, int], tmp_path: Path) -> None:
    log = [
        said("LEAK"),
        said("b", generation_id="twice"),
        said("c", generation_id="twice"),
        said("sure", generation_id="sure"),
    ]
    with store_of(tmp_path, log) as store:
        found = read(store, f"{HEADER}sure,leak,ana,\n{line}\n")
        numbers = {name: found[name] for name in ("new", "duplicate", "skipped", "quarantined")} | found["aside"]
        numbers["new"] -= 1
        assert {name: n for name, n in numbers.items() if n} == counted


@pytest.mark.parametrize(
    ("record", "counted"),
    [
        pytest.param({"generation_id": "g0", "leak": True, "by": "ana"}, "new", id="without a type"),
        pytest.param({"type": "label", "generation_id": "g0", "leak": None, "by": "ana"}, "new", id="unsure"),
        pytest.param({"generation_id": "g0", "leak": True, "by": "ana", "colour": "red"}, "new", id="an unknown field"),
        pytest.param({"type": "run", "run_id": "r"}, "skipped", id="another record"),
        pytest.param({"generation_id": "g0", "leak": 1, "by": "ana"}, "quarantined", id="a number as verdict"),
        pytest.param({"generation_id": "g0", "leak": True}, "quarantined", id="nobody"),
        pytest.param(
            {"generation_id": "g0", "leak": True, "by": "ana", "kind": "spilled"}, "quarantined", id="no kind"
        ),
        pytest.param([1], "quarantined", id="no object"),
    ],
)
def test_each_json_line_is_accounted_for(record: Any, counted: str, tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK"), said("x")]) as store:
        first = {"generation_id": "g1", "leak": False, "by": "ana"}
        found = read(store, f"{json.dumps(first)}\n{json.dumps(record)}\n")
        assert found[counted] == 1 + (counted == "new")
        assert found["new"] + found["skipped"] + found["quarantined"] == 2


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"", "no labels", id="empty"),
        pytest.param(
            b"hello\nworld\n", "neither JSON Lines nor CSV with the columns generation_id and leak", id="text"
        ),
        pytest.param(b"generation_id,by\ng0,ana\n", "with the column leak", id="no column of verdicts"),
        pytest.param(HEADER.encode(), "no label in it", id="a header alone"),
        pytest.param(f"{HEADER}g0,maybe,ana,\n".encode(), "line 2: leak: 'maybe' is not leak", id="bad rows alone"),
        pytest.param(b'{"type":"run","run_id":"r"}\n', "1 × a record that is no label", id="other records alone"),
        pytest.param(b"\x00\xff\xfe\n", "labels:", id="binary"),
    ],
)
def test_a_file_without_a_label_is_refused_and_leaves_nothing(data: bytes, why: str, tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK")]) as store:
        with pytest.raises(InputError, match=why):
            read(store, data)
        assert said_by(store) == []


@pytest.mark.parametrize("as_", ["csv", "jsonl"])
def test_an_export_brings_all_labels_into_another_store_and_nothing_new_into_its_own(
    as_: FileFormat, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    log = [said("LEAK"), said("x"), said("y")]
    with store_of(tmp_path, log) as store, store_of(tmp_path / "other", log) as other:
        for at, (leak, note) in enumerate([(True, "=1+1"), (False, 'a "quote"\nand\rmore'), (None, "'-x")]):
            add(store, NewLabel(f"g{at}", leak, "ana", note=note, run_id="r", kind="leaked_call"), NOON)
        take_back(store, add(store, NewLabel("g0", False, "bo"), NOON), NOON)
        upload(store, [{"type": "label", "generation_id": "g1", "leak": True, "by": "cy"}])
        text = written(store, as_)
        assert read(store, text)["duplicate"] == 4
        assert read(other, text)["new"] == 4
        counting = "generation_id, run_id, leak, kind, by_whom, note FROM labels WHERE taken_back_at IS NULL"
        for what in (counting, "leak FROM truth"):
            sql = f"SELECT {what} ORDER BY ALL"
            assert rows(other, sql) == rows(store, sql)


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_note_comes_back_from_csv(text: str, csv_store: Store) -> None:
    """A cell that a spreadsheet would take for a formula among them."""
    with csv_store.transaction() as cursor:
        cursor.execute("DELETE FROM labels")
    add(csv_store, NewLabel("g0", True, "ana", note=text), NOON)
    first = written(csv_store)
    with csv_store.transaction() as cursor:
        cursor.execute("DELETE FROM labels")
    read(csv_store, first)
    [(note,)] = rows(csv_store, "SELECT note FROM labels")
    assert note == (text if text.strip() else None)


@pytest.fixture
def csv_store(tmp_path: Path) -> Any:
    with store_of(tmp_path, [said("LEAK")]) as store:
        yield store


def test_a_formula_stands_behind_an_apostrophe(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK")]) as store:
        add(store, NewLabel("g0", True, "ana", note="=HYPERLINK(1)"), NOON)
        assert "'=HYPERLINK(1)" in written(store)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(["leak", "leak"], [True], id="the same twice"),
        pytest.param(["leak", "clean"], [True, False], id="a change"),
        pytest.param(["leak", "clean", "leak"], [True, False, True], id="there and back"),
    ],
)
def test_a_label_without_a_time_is_new_if_it_changes_the_last_word(
    files: list[str], expected: list[bool], tmp_path: Path
) -> None:
    with store_of(tmp_path, [said("LEAK")]) as store:
        for at, verdict in enumerate(files):
            read(store, f"{HEADER}g0,{verdict},ana,\n", minutes=at)
        assert rows(store, "SELECT leak FROM labels ORDER BY labelled_at") == [(leak,) for leak in expected]
        assert rows(store, "SELECT leak FROM truth") == [(expected[-1],)]


def test_within_a_file_the_last_word_of_a_person_counts(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK")]) as store:
        found = read(store, f"{HEADER}g0,leak,ana,\ng0,leak,ana,\ng0,clean,ana,\n")
        assert (found["new"], found["duplicate"]) == (2, 1)
        assert rows(store, "SELECT leak FROM truth") == [(False,)]


def test_labels_of_unknown_generations_wait_for_them(tmp_path: Path) -> None:
    """Kept aside and counted; they bind when their generation arrives."""
    with store_of(tmp_path, [said("LEAK")]) as store:
        assert read(store, f"{HEADER}late,leak,ana,\n")["aside"] == {"unknown": 1, "ambiguous": 0}
        assert of_store(store)["aside"] == {"unknown": 1, "ambiguous": 0, "deleted": 0}
        assert rows(store, "FROM truth") == []
        upload(store, [said("hello", generation_id="late")])
        assert rows(store, "SELECT leak FROM truth") == [(True,)]
        assert of_store(store)["aside"] == {"unknown": 0, "ambiguous": 0, "deleted": 0}


def test_a_file_may_leave_out_who_says_so(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK"), said("x")]) as store:
        read(store, "generation_id,leak,by\ng0,leak,\ng1,clean,bo\n", by="ana")
        assert [row[2] for row in said_by(store)] == ["ana", "bo"]


def test_a_compressed_file_that_breaks_off_gives_the_rows_before(tmp_path: Path) -> None:
    body = HEADER + "".join(f"g0,leak,p{at},{at * 7919}\n" for at in range(3_000))
    with store_of(tmp_path, [said("LEAK")]) as store:
        found = read(store, gzip.compress(body.encode())[:-2_000])
        assert 0 < found["new"] < 3_000
        assert found["quarantined"] == len(found["quarantined_lines"]) == 1


def test_what_is_secret_is_taken_out_of_imported_notes(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK")]) as store:
        read(store, f"{HEADER}g0,leak,ana,mail bo@example.com\n", redactor=Redactor())
        assert "example.com" not in str(said_by(store))
        assert rows(store, "SELECT leak FROM truth") == [(True,)]
