"""Detectors from outside over a store: judged once, kept under their id, compared, and looked at on samples."""

from pathlib import Path
from typing import Any

import pytest

from analysis import rules
from analysis.candidates import resolve
from analysis.candidates.accounts import accounts
from analysis.candidates.bringing import bring
from analysis.candidates.checks import noticed
from analysis.candidates.isolation import Wanted
from analysis.candidates.kept import kept, known
from analysis.candidates.limits import Limits
from analysis.detectors import Detector
from analysis.detectors import detector as ours
from analysis.filters import Filters
from analysis.registry import current, promote
from analysis.replay import Replay, replay
from analysis.replay_markdown import markdown
from ingest.errors import UsageError
from ingest.store import Store
from tests.analysis.candidates.codes import python
from tests.analysis.rules.files import file
from tests.analysis.stories import add, numbered, rows, said, store_of, verdicts

RULES = file('literals = ["LEAK"]\ntier = "certain"', leak="LEAK")
GOAT = ours("goat@1")
TROUBLE = [said(text) for text in ("a LEAK", "nothing", "BOOM 1", "HANG", "BOOM 2", "LEAK b")]
FREE = Wanted("none")
SHORT = Limits(seconds=1.0)


def report(store: Store, of: Detector) -> dict[str, Any]:
    """A replay against goat@1, with the accounts."""
    compared = replay(store, GOAT, known(store, of.id))
    assert isinstance(compared, Replay)
    return {**compared.as_json(), **accounts(store, GOAT.id, of.id, Filters())}


def test_code_is_compared_and_its_failures_are_counted_with_examples(tmp_path: Path) -> None:
    with store_of(tmp_path, TROUBLE) as store:
        of = bring(store, resolve(python(tmp_path), SHORT))
        found = report(store, of)
    assert {name: found[name] for name in ("candidate_only", "neither", "errors")} == {
        "candidate_only": 2, "neither": 1, "errors": {"baseline": 0, "candidate": 3},
    }  # fmt: skip
    assert found["failures"]["candidate"] == [
        {"sort": "raised", "n": 2, "error": "raised: ValueError: cannot read BOOM 1", "generation_id": "g2",
         "run_id": "r"},
        {"sort": "timeout", "n": 1, "error": "timeout: no answer within 1 s", "generation_id": "g3", "run_id": "r"},
    ]  # fmt: skip
    assert found["failures"]["baseline"] == []
    told = markdown(found)
    assert "| 2 | ` raised: ValueError: cannot read BOOM 1 ` | ` g2 ` |" in told
    assert [each["candidate"]["reason"] for each in found["disagreements"]] == ["it says LEAK"] * 2


def test_failures_outside_the_filter_are_not_told(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("BOOM", run="a"), said("BOOM", run="b", role="judge")]) as store:
        of = bring(store, resolve(python(tmp_path)))
        assert accounts(store, GOAT.id, of.id, Filters.parse(["run_id=b"]))["failures"]["candidate"] == []
        assert [each["n"] for each in accounts(store, GOAT.id, of.id, Filters())["failures"]["candidate"]] == [1]


COUNTS = """
def find(output):
    with open({path!r}, "a") as told: told.write(output.content + "\\n")
    return {{"markup": "LEAK"}} if "LEAK" in output.content else None
find.triggers = ["LEAK"]
"""


def test_what_code_has_judged_it_is_not_asked_again(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    with store_of(tmp_path, [said("LEAK a"), said("nothing"), said("LEAK a", run="s")]) as store:
        of = resolve(python(tmp_path, COUNTS.format(path=str(asked))), None, FREE)
        bring(store, of)
        # the second time is the sample, to which what is silent belongs
        assert sorted(asked.read_text().split("\n")) == ["", "LEAK a", "LEAK a", "nothing"]
        asked.unlink()
        bring(store, of)
        report(store, of)
        assert not asked.exists()
        before = verdicts(store, of)
        bring(store, of, anew=True)
        assert verdicts(store, of) == before
        assert asked.read_text().count("LEAK a") == 2
        asked.unlink()
        add(store, [said("LEAK new", run="t", generation_id="t0")])
        bring(store, of)
        assert asked.read_text().startswith("LEAK new\n")


def test_the_same_again_is_found_to_be_steady_and_sound(tmp_path: Path) -> None:
    source = COUNTS.format(path=str(tmp_path / "asked"))
    with store_of(tmp_path, [said(f"LEAK {at}") for at in range(5)] + [said("nothing")]) as store:
        of = bring(store, resolve(python(tmp_path, source), None, FREE))
        checks = report(store, of)["checks"]
    assert checks["baseline"] is None
    assert checks["candidate"] == {
        "asked_twice": 5, "changed": 0, "changed_examples": [], "silent": 1, "unsound": 0, "unsound_examples": [],
    }  # fmt: skip


ORDER = """
seen = []
def find(output):
    seen.append(output.content)
    return {"markup": "LEAK"} if len(seen) == 1 else None
"""
UNSOUND = """
def find(output):
    return {"markup": "LEAK", "kind": "printed_call"} if "LEAK" in output.content else None
find.triggers = ["LEAK a"]
"""


def test_code_that_changes_its_answer_is_noticed(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK a"), said("nothing"), said("LEAK b")]) as store:
        of = bring(store, resolve(python(tmp_path, ORDER)))
        found = report(store, of)
    checks = found["checks"]["candidate"]
    assert (checks["asked_twice"], checks["changed"]) == (3, 2)
    changed = {(each["first"], each["second"]) for each in checks["changed_examples"]}
    assert {("leaked_call, likely, content 0–4", "no finding")} <= changed
    assert "**The candidate changed its answer** on 2 of 3 outputs" in markdown(found)


def test_triggers_that_leave_a_finding_out_are_noticed(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("LEAK a"), said("nothing"), said("<LEAK b>")]) as store:
        of = bring(store, resolve(python(tmp_path, UNSOUND)))
        found = report(store, of)
    checks = found["checks"]["candidate"]
    assert (checks["silent"], checks["unsound"]) == (2, 1)
    assert checks["unsound_examples"] == [
        {"generation_id": "g2", "run_id": "r", "finding": "printed_call, likely, content 1–5", "markup": "LEAK"}
    ]
    assert found["candidate_only"] == 1
    assert "**The candidate's triggers leave findings out**" in markdown(found)


def test_code_that_is_not_here_tells_what_it_said_and_is_without_stores_what_came_since(tmp_path: Path) -> None:
    with store_of(tmp_path, TROUBLE[:2]) as store:
        of = bring(store, resolve(spec := python(tmp_path)))
        before = verdicts(store, of)
        replay(store, GOAT, known(store, of.id), recompute=True)
        assert verdicts(store, of) == before
        add(store, [said("LEAK new", run="t", generation_id="t0")])
        with pytest.raises(
            UsageError, match=rf"{of.id} is code that does not stand here, and 1 stored .* {spec} again"
        ):
            replay(store, GOAT, known(store, of.id))
        bring(store, of)
        assert replay(store, GOAT, known(store, of.id)).candidate_only == 2


def test_a_rule_file_is_kept_with_its_text_and_may_be_current(tmp_path: Path) -> None:
    with store_of(tmp_path, TROUBLE[:2]) as store:
        of = bring(store, rules.parse(RULES, "mine.toml"))
        again = known(store, of.id)
        assert (again.id, again.brought, again.source) == (of.id, of.brought, "rule file mine.toml")
        assert replay(store, GOAT, again).candidate_only == 1
        promote(store, again)
        assert current(store).id == of.id
        add(store, [said("LEAK new", run="t", generation_id="t0")])
        assert len(verdicts(store, of)) == 2
        assert [each["kind"] for each in kept(store)] == ["rules"]


def test_code_cannot_be_current(tmp_path: Path) -> None:
    with store_of(tmp_path, TROUBLE[:2]) as store:
        of = bring(store, resolve(python(tmp_path)))
        with pytest.raises(UsageError, match="is code, which judges no upload"):
            promote(store, known(store, of.id))
        assert [each["kind"] for each in kept(store)] == ["code"]


def test_what_nobody_knows_is_refused(tmp_path: Path) -> None:
    with store_of(tmp_path, TROUBLE[:1]) as store, pytest.raises(UsageError, match="unknown detector 'x@sha-1'"):
        known(store, "x@sha-1")


FUNCTIONS = """
def find(output):
    return {"start": 0, "end": 1} if "<f" in output.content else None
find.triggers = ["x"]
"""


def test_the_sample_takes_what_others_find_first(tmp_path: Path) -> None:
    """The one output that some detector finds among many is looked at, however small the sample."""
    records = [said(f"nothing {at}") for at in range(60)] + [said("<tool_call>\n<function=ls>\n</function>")]
    with store_of(tmp_path, records) as store:
        of = bring(store, resolve(python(tmp_path, FUNCTIONS)))
        found = noticed(store, of, sample=3)
        assert rows(store, "SELECT count(DISTINCT verdict_key) FROM generations") == [(61,)]
    assert (found["silent"], found["unsound"]) == (3, 1)
    assert found["unsound_examples"][0]["generation_id"] == "g60"


def test_ids_of_generations_need_not_be_told(tmp_path: Path) -> None:
    with store_of(tmp_path, numbered(TROUBLE[:1])) as store:
        add(store, [said("BOOM", run="t")])
        of = bring(store, resolve(python(tmp_path)))
        [failure] = accounts(store, GOAT.id, of.id, Filters())["failures"]["candidate"]
        assert failure["run_id"] == "t"
