"""The sample logs that hold leaks and retries: each leak's outcome, and what it rests on. Skipped where none stand
beside the repository."""

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.detectors import detector
from analysis.judging import judge_for
from analysis.recovery.outcomes import follow
from analysis.registry import register
from ingest.files.containers import Source
from ingest.pipeline import ingest
from ingest.store import Store
from tests.analysis.stories import rows
from tests.ingest.samples import shared_log

NEWEST = detector("leakdown@1")
PASSED_OFF = ("passed_off", "end_of_turn")


def outcomes(folder: Path, *names: str) -> list[tuple[object, ...]]:
    """Of each leak of the samples: attempt, what links it, outcome, evidence."""
    first, *more = [Source(path, path.name) for path in map(shared_log, names)]
    with Store.open(folder / "store.duckdb", create=True) as store:
        register(store, NEWEST)
        ingest(store, replace(first, more=tuple(more)), judge_for(NEWEST))
        with store.cursor() as cursor:
            follow(cursor, NEWEST.id)
            found = cursor.execute(
                "SELECT o.attempt, linked_by, outcome, evidence FROM outcomes o JOIN generations g USING (key) "
                "WHERE o.leak ORDER BY o.turn, o.round, o.attempt"
            ).fetchall()
        assert rows(store, "SELECT count(*) FROM generations")[0][0] >= len(found)
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param(
            "mini-swe-agent/run.traj.json",
            [
                (0, "next_round", "leaked_again", "reprimand"),
                (1, "reprimand", "leaked_again", "reprimand"),
                (2, "reprimand", "unknown", "reprimand"),
            ],
            id="mini-swe-agent reprimands three leaks and gives up",
        ),
        pytest.param(
            "litellm/standard_logging_payload.jsonl",
            [
                (0, "next_round", "leaked_again", "identical_request"),
                (1, "identical_request", *PASSED_OFF),
            ],
            id="LiteLLM is asked the same twice",
        ),
        pytest.param(
            "composed/roo_api_conversation_history.json",
            [(0, "new_turn", "unknown", "reprimand")],
            id="Roo Code reprimands, and the record ends",
        ),
        pytest.param(
            "cline-cli/1796027675671_j7tor.messages.json",
            [(0, "next_round", *PASSED_OFF)],
            id="Cline takes a leak as the answer",
        ),
        pytest.param(
            "inspect-ai/2026-11-30T08-37-02-00-00_demo_bXcAfAiCvFmQJ3M2xqhZM7.json",
            [(0, "next_round", *PASSED_OFF)],
            id="Inspect takes a leak as the answer",
        ),
        pytest.param(
            "composed/openrouter_generation_plus_content.jsonl",
            [(0, "new_turn", *PASSED_OFF)],
            id="OpenRouter's attempts at other providers said nothing",
        ),
        pytest.param(
            "openai/chat_request_response_pairs.jsonl",
            [(0, "next_round", *PASSED_OFF)],
            id="a pair tells its place by its history",
        ),
        pytest.param(
            "openai/finetune_messages.jsonl", [(0, "next_round", *PASSED_OFF)], id="a conversation ends with a leak"
        ),
        pytest.param(
            "openai/chat_stream_chunks.jsonl", [(0, None, "unknown", "none")], id="a response alone tells no turn"
        ),
        pytest.param("swe-agent/function_calling_simple.traj", [], id="SWE-agent, where nothing leaks"),
    ],
)
def test_what_followed_the_leaks_of_a_sample(name: str, expected: list[tuple[object, ...]], tmp_path: Path) -> None:
    assert outcomes(tmp_path, name) == expected
