"""Everyone at once, in short: `python -m tests.bench.load` is the long form.

No answer may be wrong: each is of a state between two acknowledged commits. Nothing may end otherwise than well, or
with the word to come again; and everybody must come to an end.
"""

import time
from pathlib import Path

import pytest

from tests.api.service import process
from tests.bench.load.ledger import Ledger
from tests.bench.load.roles import Load

SHORT = {"uploaders": 2, "readers": 3, "reviewers": 2, "replays": 1, "promotions": 1}
EACH = {"uploaders": 2, "readers": 8, "reviewers": 3, "replays": 1, "promotions": 2}
FULL = {"uploaders": 8, "readers": 32, "reviewers": 2, "replays": 1, "promotions": 1}
FULL_EACH = {"uploaders": 6, "readers": 40, "reviewers": 20, "replays": 5, "promotions": 6}
HANGS = 600.0
"""Seconds after which a thread is not slow but stuck."""


@pytest.mark.parametrize(
    ("counts", "each"),
    [
        pytest.param(SHORT, EACH, id="all roles"),
        pytest.param(FULL, FULL_EACH, id="8 uploaders and 32 readers", marks=pytest.mark.slow),
    ],
)
def test_no_answer_is_wrong_and_nobody_waits_for_ever(
    counts: dict[str, int], each: dict[str, int], tmp_path: Path
) -> None:
    with process(tmp_path / "s.duckdb") as service:
        load = Load(service.url, Ledger(time.monotonic() + HANGS))
        load.calibrate()
        threads = load.threads(counts, each)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANGS)
            assert not thread.is_alive(), f"{thread.name} hangs: {load.ledger.faults}"
        assert [*load.ledger.faults, *load.settled()] == []
    assert load.ledger.acknowledged == load.ledger.sent == 1 + counts["uploaders"] * each["uploaders"]
    assert load.ledger.labels == counts["reviewers"] * each["reviewers"]
