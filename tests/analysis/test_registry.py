"""A store knows its current detector, judges history before it changes it, and forgets verdicts of other source."""

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from analysis.detectors import Detector, detector, detectors
from analysis.rates import rates
from analysis.registry import current, default_detector, fingerprint, judged, promote, promotions, register, sources
from ingest.errors import UsageError
from ingest.store import Store
from tests.analysis.stories import WORDS, called, finds, leaked, rows, said, store_of, verdicts

OPENROUTER, GOAT = detector("openrouter-net@1"), detector("goat@1")
BARE = said("The marker is <tool_call>.", 0, 0, run="bare")
"""A leak for openrouter-net, none for goat."""


def test_a_new_store_takes_the_default_and_keeps_it(tmp_path: Path) -> None:
    with Store.open(tmp_path / "new.duckdb", create=True) as store:
        assert promotions(store) == []
        assert current(store) == default_detector() == detector("leakdown@1")
        assert current(store) == default_detector()
        assert [each.detector for each in promotions(store)] == ["leakdown@1"]


def test_promotion_judges_the_history_first_and_changes_the_rates(tmp_path: Path) -> None:
    with store_of(tmp_path, [leaked(0, 0), BARE]) as store:
        promote(store, OPENROUTER)
        assert [row.leak.hits for row in rates(store, current(store))] == [2]
        promote(store, GOAT)
        assert current(store) == GOAT
        assert len(verdicts(store, GOAT)) == 1
        assert [(row.detector, row.leak.hits) for row in rates(store, current(store))] == [("goat@1", 1)]
        promote(store, OPENROUTER)
        history = promotions(store)
    assert [each.detector for each in history] == ["leakdown@1", "openrouter-net@1", "goat@1", "openrouter-net@1"]
    assert [each.promoted_at for each in history] == sorted(each.promoted_at for each in history)


def test_a_promotion_that_is_interrupted_changes_nothing(tmp_path: Path) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with store_of(tmp_path, [leaked(0, 0)]) as store:
        with pytest.raises(KeyboardInterrupt):
            promote(store, GOAT, stop)
        assert current(store) == default_detector()
        assert [each.detector for each in promotions(store)] == ["leakdown@1"]


def test_a_promotion_outlives_the_process(tmp_path: Path) -> None:
    with store_of(tmp_path, [leaked()]) as store:
        promote(store, GOAT)
    with Store.open(tmp_path / "store.duckdb") as store:
        assert current(store) == GOAT


def test_a_current_detector_that_is_gone_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with store_of(tmp_path, [leaked()]) as store:
        promote(store, finds("gone", WORDS))
        with pytest.raises(UsageError, match=r"store\.duckdb: .*'gone@1'; known: .*goat@1.*detectors promote"):
            current(store)
        promote(store, GOAT)
        assert current(store) == GOAT


SOURCE = """
from analysis.detectors import Detector, Finding
from analysis.output import Output
WORD = {word!r}
def find(output: Output) -> Finding | None:
    at = (output.content or "").find(WORD)
    if at < 0:
        return None
    return Finding("leaked_call", None, "certain", None, "content", at, at + len(WORD), WORD, "for tests")
OWN = Detector("own", 1, "for tests", "tests", (WORD,), find, (), ())
"""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Detector]:
    """A detector `own@1` out of a module that was written for a word."""

    def load(word: str) -> Detector:
        path = tmp_path / f"own_{word}.py"
        path.write_text(SOURCE.format(word=word))
        spec = spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        monkeypatch.setitem(sys.modules, path.stem, module)
        spec.loader.exec_module(module)
        own = module.OWN
        assert isinstance(own, Detector)
        return own

    return load


def test_other_source_of_the_same_version_drops_the_verdicts_and_makes_new_ones(
    tmp_path: Path, written: Callable[[str], Detector]
) -> None:
    with store_of(tmp_path, [said("one two"), said("two")]) as store:
        for word, found in (("one", 1), ("two", 2), ("two", 2)):
            judged(store, written(word))
            assert [row[9] for row in verdicts(store, written(word))] == [word] * found
        assert rows(store, "SELECT count(*) FROM detectors WHERE detector = 'own@1'") == [(1,)]


def test_verdicts_of_the_same_source_and_of_other_detectors_are_kept(
    tmp_path: Path, written: Callable[[str], Detector]
) -> None:
    with store_of(tmp_path, [leaked()], OPENROUTER) as store:
        before = verdicts(store, OPENROUTER)
        register(store, OPENROUTER)
        register(store, written("one"))
        register(store, written("two"))
        assert len(before) == 1
        assert verdicts(store, OPENROUTER) == before


@pytest.mark.parametrize(
    ("of", "own"),
    [
        pytest.param(GOAT, "goat", id="goat takes constants alone from the markers"),
        pytest.param(OPENROUTER, "openrouter_net", id="openrouter-net"),
    ],
)
def test_a_fingerprint_is_of_all_sources_that_decide_and_of_no_other_detector(of: Detector, own: str) -> None:
    deciding = set(sources(of))
    assert {"analysis.markers", "analysis.markdown", "analysis.markdown_blocks", "analysis.output"} <= deciding
    assert {name for name in deciding if name.startswith("analysis.detectors.")} == {f"analysis.detectors.{own}"}


def test_no_two_detectors_have_the_same_fingerprint() -> None:
    assert len({fingerprint(each) for each in detectors()}) == len(detectors())


def test_ingest_is_judged_by_the_current_detector(tmp_path: Path) -> None:
    with store_of(tmp_path, [called()]) as store:
        promote(store, GOAT)
    with Store.open(tmp_path / "store.duckdb") as store:
        assert rows(store, "SELECT detector, count(*) FROM coverage GROUP BY ALL ORDER BY ALL") == [
            ("goat@1", 1),
            ("leakdown@1", 1),
        ]
