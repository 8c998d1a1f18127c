"""What is known of triggers is found once, kept, and swept; a replay that has it says what one without it would say."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from analysis import candidate_outputs, trigger_index
from analysis.candidate_choice import choose, parts
from analysis.detectors import Detector, detectors
from analysis.judging import forget, judge_for, judge_history
from analysis.output import Output
from analysis.registry import judged, register
from analysis.trigger_index import catch_up
from analysis.triggers import Term, Wanted
from ingest.files.containers import Source
from ingest.pipeline import ingest
from ingest.store import Store, one
from ingest.uploads import delete
from ingest.verdict_rows import Judge
from tests.analysis.stories import WORDS, add, detector, dice, finds, rows, said, store_of, verdicts
from tests.analysis.test_judging import invented
from tests.analysis.test_triggers import worth_a_look

UNINDEXED = Judge("nobody@1", lambda _: ())
"""What judges an upload without a search for triggers."""
NEW = frozenset({Term("LEAK"), Term("never seen before")})


def add_unindexed(store: Store, *contents: str, run: str = "u") -> int:
    """The id of an upload of `contents` that nobody searched."""
    path = store.path.parent / "unindexed.jsonl"
    path.write_text("".join(f'{{"type":"generation","run_id":"{run}","content":"{each}"}}\n' for each in contents))
    upload = ingest(store, Source(path, path.name), UNINDEXED, format_name="native").upload_id
    assert upload is not None
    return upload


def hits(store: Store, literal: str) -> list[str]:
    """The texts that are known to hold `literal`."""
    sql = """
    SELECT text FROM trigger_hits h JOIN triggers USING (trigger_id) JOIN texts t ON t.number = h.text_number
    WHERE literal = $1 ORDER BY text
    """
    return [text for (text,) in rows(store, sql, literal)]


def test_a_new_trigger_costs_one_scan_and_a_known_one_none(tmp_path: Path) -> None:
    told: list[int] = []
    with store_of(tmp_path, [said("LEAK a"), said("b", reasoning="LEAK c"), said("LEAK a", run="s")]) as store:
        assert catch_up(store, NEW, told.append) == 3
        assert told == [3]
        assert catch_up(store, NEW) == 0
        assert catch_up(store, NEW | {Term("b")}) == 3
        assert hits(store, "LEAK") == ["LEAK a", "LEAK c"]
        assert hits(store, "b") == ["b"]


def test_what_is_ingested_is_searched_as_it_arrives(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK a")]) as store:
        for each in detectors():
            assert catch_up(store, Wanted.by(each).terms) == 0
        assert catch_up(store, NEW) == 1
        add(store, [said("LEAK b"), said("LEAK a"), said("<tool_call>")])
        assert catch_up(store, NEW | Wanted.by(detectors()[0]).terms) == 0
        assert hits(store, "LEAK") == ["LEAK a", "LEAK b"]
        assert hits(store, "<tool_call>") == ["<tool_call>"]


def test_texts_that_nobody_searched_are_searched_alone(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK a")]) as store:
        catch_up(store, NEW)
        add_unindexed(store, "LEAK b", "c")
        add(store, [said("LEAK d")])
        assert catch_up(store, NEW) == 3
        assert catch_up(store, NEW) == 0
        assert hits(store, "LEAK") == ["LEAK a", "LEAK b", "LEAK d"]


def test_a_search_that_is_interrupted_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trigger_index, "STEP", 10)

    def stop(searched: int) -> None:
        if searched >= 20:
            raise KeyboardInterrupt

    with store_of(tmp_path, [said(f"LEAK {at:02}") for at in range(35)]) as store:
        with pytest.raises(KeyboardInterrupt):
            catch_up(store, NEW, stop)
        assert len(hits(store, "LEAK")) == 20
        assert catch_up(store, NEW) == 15
        assert hits(store, "LEAK") == [f"LEAK {at:02}" for at in range(35)]


def test_texts_that_arrive_while_others_are_searched_are_searched_too(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK a")]) as store:
        catch_up(store, NEW, lambda _: add(store, [said("LEAK late")]))
        assert hits(store, "LEAK") == ["LEAK a", "LEAK late"]
        assert catch_up(store, NEW) == 0


def test_what_is_deleted_leaves_nothing_behind(tmp_path: Path) -> None:
    about = ("trigger_hits", "naming", "searched_for_names", "candidate_outputs", "judged_so_far")
    with store_of(tmp_path, [said("LEAK <tool_call> ls"), said("clean")]) as store:
        catch_up(store, NEW)
        with store.transaction() as writer:
            writer.execute("INSERT INTO judged_so_far SELECT 'x@1', verdict_key FROM generations")
        assert all(rows(store, f"FROM {name}") for name in about)
        [(upload,)] = rows(store, "SELECT upload_id FROM uploads")
        delete(store, upload)
        assert [name for name in about if rows(store, f"FROM {name}")] == []
        add(store, [said("LEAK again")])
        assert catch_up(store, NEW) == 0
        assert hits(store, "LEAK") == ["LEAK again"]


def test_an_upload_that_failed_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(_: object) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "failing.jsonl"
    path.write_text('{"type":"generation","run_id":"f","content":"<tool_call> ls","tools":[{"name":"ls"}]}\n')
    with store_of(tmp_path, [said("clean")]) as store:
        with pytest.raises(KeyboardInterrupt):
            ingest(store, Source(path, "f"), judge_for(detectors()[0]), format_name="native", progress=fail)
        assert rows(store, "FROM trigger_hits") == rows(store, "FROM naming") == []
        add(store, [said("<tool_call>")])
        assert hits(store, "<tool_call>") == ["<tool_call>"]


def test_who_inherits_outputs_that_were_not_searched_for_names_is_not_either(tmp_path: Path) -> None:
    of = replace(finds("named", WORDS), by_name=True)
    with store_of(tmp_path, [said("clean")], of) as store:
        first = add_unindexed(store, "I use ls.", run="h")
        path = tmp_path / "again.jsonl"
        path.write_text(
            (tmp_path / "unindexed.jsonl").read_text() + '{"type":"generation","run_id":"n","content":"x"}\n'
        )

        ingest(store, Source(path, "again"), judge_for(of), format_name="native")
        assert rows(store, "SELECT count(*) FROM searched_for_names") == [(2,)]
        delete(store, first)
        assert rows(store, "SELECT count(*) FROM searched_for_names") == [(1,)]


SOME = [
    replace(finds("words", {"word": ("printed_call", "likely")}), name="a plain word"),
    replace(detector("quotes", lambda _: None, ['"', "\n"]), name="quotes and line ends"),
    replace(detector("named", lambda _: None, ["never"]), by_name=True, name="offered names"),
    replace(detector("ends", lambda _: None, ["never"]), endings=("word", "`"), name="endings"),
    replace(detector("all", lambda _: None, [""]), name="every output"),
    *detectors(),
]


@pytest.mark.parametrize(
    "indexed", [pytest.param(True, id="searched at ingest"), pytest.param(False, id="searched later")]
)
@pytest.mark.parametrize("of", [pytest.param(each, id=each.name) for each in SOME])
def test_the_index_says_what_a_look_at_each_output_would_say(of: Detector, indexed: bool, tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.duckdb", create=True) as store:
        if indexed:
            add(store, invented(dice(7)), of)
        else:
            add_unindexed(store, "word")
            add(store, invented(dice(7)), SOME[0])
        [every] = [each for each in SOME if each.name == "every output"]
        worth = {key for key, output in chosen(store, every).items() if worth_a_look(of, output)}
        found = chosen(store, of).keys()
    assert worth <= found
    if not of.by_name and indexed:
        assert len(found) <= len(worth) + 3  # a quote of the JSON itself
    assert of.name in ("every output", "ends") or len(worth) > 3


def chosen(store: Store, of: Detector) -> dict[bytes, Output]:
    """The outputs that `of` has to look at, by verdict key."""
    catch_up(store, Wanted.by(of).terms)
    with store.cursor() as cursor:
        uploads = [upload for (upload,) in cursor.execute("SELECT upload_id FROM uploads").fetchall()]
        choose(cursor, replace(of, name="nobody"), uploads)
        return {each.verdict_key: output for part in parts(cursor) for each, output in part.outputs}


def counting(name: str) -> tuple[Detector, Counter[str]]:
    """A detector of plain words, and what it was shown."""
    shown = Counter[str]()
    return finds(name, WORDS, lambda output: shown.update([output.content or ""])), shown


def test_new_outputs_cost_as_many_verdicts(tmp_path: Path) -> None:
    of, shown = counting("counting")
    with store_of(tmp_path, [said(f"LEAK {at}") for at in range(50)], of) as store:
        add_unindexed(store, *(f"LEAK new {at}" for at in range(10)))
        shown.clear()
        assert judge_history(store, of) == 10
    assert shown == {f"LEAK new {at}": 1 for at in range(10)}


def test_candidates_are_kept_and_not_read_from_the_texts_again(tmp_path: Path) -> None:
    (first, _), (second, shown) = counting("first"), counting("second")
    code = "```\nLEAK\n```"
    with store_of(tmp_path, [said("LEAK a", reasoning="why"), said(code), said("clean")]) as store:
        judged(store, first)
        kept = rows(store, "SELECT content, reasoning, code FROM candidate_outputs ORDER BY content")
        with store.transaction() as writer:
            writer.execute("UPDATE texts SET text = 'gone'")
        judged(store, second)
    assert shown == {"LEAK a": 1, code: 1}
    assert kept == [("LEAK a", "why", []), (code, None, [0, 12, 0])]


def test_code_regions_that_other_source_found_are_found_anew(tmp_path: Path) -> None:
    regions: list[object] = []
    of = finds("regions", WORDS, lambda output: regions.append(output.content_code))
    with store_of(tmp_path, [said("```\nLEAK\n```")], of) as store:
        with store.transaction() as writer:
            writer.execute("UPDATE candidate_outputs SET code = [1, 2, 1], code_by = 'before'")
        judged(store, of, anew=True)
        assert len(regions) == 2
        assert regions[0] == regions[1]
        assert rows(store, "SELECT code FROM candidate_outputs WHERE code_by <> 'before'") == [([0, 12, 0],)]


def test_where_most_outputs_are_candidates_they_are_not_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidate_outputs, "ALWAYS_ROOM", 0)
    of, shown = counting("counting")
    with store_of(tmp_path, [said(f"LEAK {at}") for at in range(8)]) as store:
        judged(store, of)
        assert rows(store, "FROM candidate_outputs") == []
        assert (shown.total(), len(verdicts(store, of))) == (8, 8)


def test_parts_are_small_in_bytes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.candidate_choice._SIZES", {"least": 1, "most": 1_000})
    of, shown = counting("counting")
    sizes: list[int] = []
    with store_of(tmp_path, [said(f"LEAK {at} {'x' * 300}") for at in range(12)]) as store:
        register(store, of)
        for ready in (False, True):
            catch_up(store, Wanted.by(of).terms)
            with store.transaction() as writer:
                forget(writer, of)
            with store.cursor() as cursor:
                assert choose(cursor, of, [1]) == 12
                sizes = [len(part.outputs) for part in parts(cursor)]
                assert (sum(sizes), max(sizes)) == (12, 3)
                assert one(cursor, "SELECT count(*) FROM candidate_outputs") == ((12,) if ready else (0,))
            judged(store, of, anew=True)
    assert shown == {f"LEAK {at} {'x' * 300}": 2 for at in range(12)}
