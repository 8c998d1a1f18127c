"""Runs that leaked, a piece at a time: no figure and no finding hangs on how large a piece is."""

from pathlib import Path

import pytest

from analysis.detectors import detector
from analysis.filters import Filters
from analysis.recovery import pieces
from analysis.recovery.audit.findings import audit
from analysis.recovery.audit.rules import Asked
from analysis.recovery.policies import chosen
from analysis.recovery.policy_replay import replay_policies
from ingest.store import Store
from tests.analysis.stories import Json, called, dice, event_of, label, leaked, numbered, said, store_of

BY = detector("openrouter-net@1")


def at_random(seed: int) -> list[Json]:
    """Fifteen runs of a few rounds, with labels on leaks and on clean replies, events, and tokens."""
    throw = dice(seed)
    made: list[Json] = []
    for _ in range(90):
        more: Json = {"run": f"r{throw.randrange(15)}", "client": throw.choice(("goat", "mine")), "model": f"m{seed}"}
        more["usage"] = {"input_tokens": throw.randrange(9), "output_tokens": 1}
        make = throw.choice((leaked, called, lambda *at, **fields: said("Done.", *at, **fields)))
        made.append(make(throw.randrange(3), throw.randrange(3), **more))
    labels = [label(f"g{throw.randrange(90)}", throw.random() < 0.5) for _ in range(30)]
    events = [event_of("<tool_call>", run_id=f"r{throw.randrange(15)}", round=throw.randrange(3)) for _ in range(9)]
    return [*numbered(made), *labels, *events]


def told(store: Store, filters: Filters) -> list[object]:
    by = ("model", "kind")
    found = audit(store, Asked(BY.id, filters))
    return [
        replay_policies(store, BY, chosen(()), filters, by=by).as_json(),
        [each.as_json() for each in found.counts],
        found.findings,
    ]


@pytest.mark.parametrize(
    "where",
    [
        pytest.param([], id="all"),
        pytest.param(["client=goat"], id="of one client"),
        pytest.param(["model=none"], id="nothing"),
    ],
)
def test_the_size_of_a_piece_changes_nothing(where: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with store_of(tmp_path, at_random(3), BY) as store:
        at_once = told(store, Filters.parse(where))
        monkeypatch.setattr(pieces, "MOST", 1)
        with store.cursor() as cursor:
            assert len(pieces.pieces(cursor, BY.id)) > 5
        assert told(store, Filters.parse(where)) == at_once


def test_a_store_without_a_leak_is_one_piece(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("Done.")], BY) as store, store.cursor() as cursor:
        assert len(pieces.pieces(cursor, BY.id)) == 1
