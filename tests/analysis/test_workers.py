"""Any number of processes gives the same verdicts, in the same order, and one that dies loses none."""

from pathlib import Path

import pytest

from analysis.candidate_choice import Part, choose, parts
from analysis.detectors import Detector, detector
from analysis.judging import forget, judge_history, verdicts_on
from analysis.workers import Workers
from tests.analysis.stories import BOOM, WORDS, dice, finds, said, store_of, verdicts
from tests.analysis.test_judging import invented

LEAKDOWN = detector("leakdown@1")


def judged(part: Part, by: Detector, count: int, kill: bool = False) -> list[object]:
    outputs = [(each.verdict_key, output) for each, output in part.outputs]
    with Workers(by, verdicts_on, len(outputs), count) as workers:
        first = workers.verdicts(outputs[: len(outputs) // 2])
        for process in workers._others if kill else ():
            process.kill()
            process.wait()
        return [*first, *workers.verdicts(outputs[len(outputs) // 2 :])]


def test_any_number_of_processes_says_the_same_in_the_same_order(tmp_path: Path) -> None:
    with store_of(tmp_path, invented(dice(3)), LEAKDOWN) as store, store.cursor() as cursor:
        at_ingest = verdicts(store, LEAKDOWN)
        with store.transaction() as writer:
            forget(writer, LEAKDOWN)
        choose(cursor, LEAKDOWN, [1])
        [part] = parts(cursor)
        alone = judged(part, LEAKDOWN, 1)
        assert len(alone) > 50
        assert judged(part, LEAKDOWN, 2) == alone
        assert judged(part, LEAKDOWN, 3) == alone
        assert judged(part, LEAKDOWN, 2, kill=True) == alone
        judge_history(store, LEAKDOWN, workers=2)
        assert verdicts(store, LEAKDOWN) == at_ingest


def test_fewer_outputs_than_processes_are_judged_all(tmp_path: Path) -> None:
    with store_of(tmp_path, [said("<tool_call>\n<function=ls>\n</function>\n</tool_call>")], LEAKDOWN) as store:
        with store.transaction() as writer:
            forget(writer, LEAKDOWN)
        assert judge_history(store, LEAKDOWN, workers=3) == 1
        assert len(verdicts(store, LEAKDOWN)) == 1


def test_a_detector_that_is_not_ours_is_judged_here(tmp_path: Path) -> None:
    of = finds("words", WORDS)
    with store_of(tmp_path, [said("LEAK"), said(BOOM)]) as store:
        assert judge_history(store, of, workers=2) == 2
        assert len(verdicts(store, of)) == 2


@pytest.mark.parametrize(
    ("expected", "started"),
    [
        pytest.param(2, 0, id="little is left to do"),
        pytest.param(10**9, 1, id="much is left to do"),
    ],
)
def test_processes_are_started_where_they_pay(
    expected: int, started: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    with store_of(tmp_path, invented(dice(3))) as store, store.cursor() as cursor:
        with store.transaction() as writer:
            forget(writer, LEAKDOWN)
        choose(cursor, LEAKDOWN, [1])
        [part] = parts(cursor)
        outputs = [(each.verdict_key, output) for each, output in part.outputs]
        with Workers(LEAKDOWN, verdicts_on, expected) as workers:
            alone = workers.verdicts(outputs[:20])
            assert workers.verdicts(outputs[:20]) == alone
            assert len(workers._others) == started
