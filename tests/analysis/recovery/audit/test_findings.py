"""The audit of a whole store: sums that balance, ids that stay, acknowledgements, pages."""

from datetime import datetime
from pathlib import Path

import pytest

from analysis.detectors import detector
from analysis.paging import MOST
from analysis.recovery.audit.acknowledgements import Acknowledgement, acknowledge
from analysis.recovery.audit.findings import audit
from analysis.recovery.audit.rules import Asked
from ingest.errors import Conflict, UsageError
from ingest.store import Store
from ingest.uploads import delete, uploads
from tests.analysis.recovery.audit.audits import audited
from tests.analysis.stories import LEAK, Json, add, called, dice, event_of, leaked, numbered, rows, said, store_of

NOON = datetime(2026, 11, 30, 12)  # noqa: DTZ001 - as the store has it
ANA = Acknowledgement("a known fault", "ana", NOON)
HISTORY = [
    leaked(0, 0, client="goat"), leaked(0, 1, client="goat"), called(0, 2, client="goat"),
    leaked(0, 0, run="s", client="goat"), said("Done.", 1, 0, run="s", client="goat"),
    event_of("Done", run_id="s", round=1), leaked(0, 0, run="t"),
]  # fmt: skip


def ids(store: Store) -> dict[str, str]:
    """What is broken where, by the id of the finding."""
    return {each.id: f"{each.rule} {each.generation_id}" for each in audited(store).findings}


def random_history(seed: int) -> list[Json]:
    """Leaks, calls and words in any order, some without a place, some told on."""
    throw = dice(seed)
    made: list[Json] = []
    for _ in range(60):
        place = (throw.randrange(3), throw.randrange(4))[: throw.choice((0, 2, 2, 2))]
        more = {"run": f"r{throw.randrange(6)}", "client": throw.choice(("goat", "openrouter-net", "mine"))}
        make = throw.choice((leaked, leaked, called, lambda *at, **fields: said("Done.", *at, **fields)))
        made.append(make(*place, turn=throw.randrange(2), **more))
        if throw.random() < 0.2:
            made.append(event_of(LEAK, run_id=more["run"]))
    return made


@pytest.mark.parametrize("seed", range(5))
def test_what_was_checked_and_what_was_not_is_all_there_is(tmp_path: Path, seed: int) -> None:
    """Whatever the history; and no two findings have one id."""
    with store_of(tmp_path, random_history(seed), detector("openrouter-net@1")) as store:
        found = audited(store)
        [(leaks, events)] = rows(
            store,
            "SELECT (SELECT count(*) FROM generations JOIN verdicts v USING (verdict_key) WHERE v.detector = $1 AND "
            "v.tier IN ('certain', 'likely')), (SELECT count(*) FROM events)",
            "openrouter-net@1",
        )
    looked_at = {each.rule.unit: leaks if each.rule.unit == "leaks" else events for each in found.counts}
    for each in found.counts:
        if each.rule.unit != "retries":
            assert each.checked + each.unknown.total() == looked_at[each.rule.unit] > 0, each.rule.name
    assert len({each.id for each in found.findings}) == len(found.findings)


def test_the_same_records_again_have_the_same_ids(tmp_path: Path) -> None:
    """Sent twice, shuffled, and after the first upload was deleted."""
    with store_of(tmp_path, HISTORY, detector("openrouter-net@1")) as store:
        first = ids(store)
        assert len(first) == 7
        add(store, numbered(HISTORY), detector("openrouter-net@1"))
        assert ids(store) == first
        delete(store, uploads(store)[0].upload_id)
        assert ids(store) == {}
        add(store, numbered(HISTORY)[::-1], detector("openrouter-net@1"))
        assert ids(store) == first


def test_another_detector_that_finds_the_same_has_the_same_ids(tmp_path: Path) -> None:
    from analysis.registry import judged

    with store_of(tmp_path, HISTORY, detector("openrouter-net@1")) as store:
        first, other = ids(store), judged(store, detector("salvage@1"))
        found = audit(store, Asked(other.id))
    assert {each.id for each in found.findings} == set(first)
    assert {each["detector"] for each in found.page(limit=MOST)["items"]} == {"salvage@1"}


def test_a_finding_is_acknowledged_once(tmp_path: Path) -> None:
    with store_of(tmp_path, HISTORY, detector("openrouter-net@1")) as store:
        chosen, *_ = audited(store).findings
        acknowledge(store, chosen.id, chosen.rule, ANA)
        with pytest.raises(Conflict, match=f"{chosen.id} was acknowledged by ana on 2026-11-30 12:00 UTC: a known"):
            acknowledge(store, chosen.id, chosen.rule, Acknowledgement("me too", "bo", NOON))
        found = audited(store)
    assert next(each for each in found.findings if each.id == chosen.id).acknowledgement == ANA
    assert [each.acknowledged for each in found.counts if each.rule.name == chosen.rule] == [1]
    open_, all_ = found.page(limit=MOST), found.page(limit=MOST, all_=True)
    assert len(open_["items"]) == len(all_["items"]) - 1 == 6
    assert open_["rules"] == all_["rules"]
    assert [each["id"] for each in all_["items"] if each["acknowledged"]] == [chosen.id]


def test_an_acknowledgement_outlives_the_upload(tmp_path: Path) -> None:
    with store_of(tmp_path, HISTORY, detector("openrouter-net@1")) as store:
        chosen, *_ = audited(store).findings
        acknowledge(store, chosen.id, chosen.rule, ANA)
        delete(store, uploads(store)[0].upload_id)
        add(store, numbered(HISTORY), detector("openrouter-net@1"))
        assert [each.id for each in audited(store).findings if each.acknowledgement] == [chosen.id]


@pytest.mark.parametrize(
    ("reason", "by", "said_"),
    [
        pytest.param(" ", "ana", "needs a reason", id="no reason"),
        pytest.param("known", "", "needs the name of whoever acknowledges it", id="nobody"),
    ],
)
def test_an_acknowledgement_needs_a_reason_and_a_name(tmp_path: Path, reason: str, by: str, said_: str) -> None:
    with (
        Store.open(tmp_path / "s.duckdb", create=True) as store,
        pytest.raises(UsageError, match=said_),
    ):
        acknowledge(store, "x", "leak_completed_turn", Acknowledgement(reason, by, NOON))


@pytest.mark.parametrize("limit", [1, 2, 7, 500])
def test_pages_hold_every_finding_once(tmp_path: Path, limit: int) -> None:
    with store_of(tmp_path, HISTORY, detector("openrouter-net@1")) as store:
        found = audited(store)
    page = found.page(limit=limit)
    seen = page["items"]
    while page["next"]:
        page = found.page(after=page["next"], limit=limit)
        seen += page["items"]
    assert [each["id"] for each in seen] == [each.id for each in found.findings]


@pytest.mark.parametrize(
    ("where", "generations"),
    [
        pytest.param(["run_id=s"], {"s"}, id="one run"),
        pytest.param(["client=goat"], {"r", "s"}, id="one client"),
        pytest.param(["run_id=none"], set(), id="nothing"),
    ],
)
def test_filters_choose_by_the_generation_that_is_found(
    tmp_path: Path, where: list[str], generations: set[str]
) -> None:
    with store_of(tmp_path, HISTORY, detector("openrouter-net@1")) as store:
        found = audited(store, where=where)
    assert {each.run_id for each in found.findings} == generations


def test_an_empty_store_has_nothing_to_look_at(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        found = audited(store)
    assert found.findings == ()
    assert {(each.checked, each.unknown.total()) for each in found.counts} == {(0, 0)}
