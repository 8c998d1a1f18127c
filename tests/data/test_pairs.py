"""The request/response pairs and their truth."""

from data.markup import MARKERS
from tests.data.sample import CLOSERS, Json, pairs, truth


def test_pairs_grow_a_history_and_leak_as_the_truth_says() -> None:
    of_pairs = truth()["pairs"]
    assert len(pairs()) == of_pairs["generations"] == 30
    leaks = []
    for pair in pairs():
        [choice] = pair["response"]["choices"]
        text = choice["message"]["content"] or ""
        if any(mark in text for mark in (*MARKERS, *CLOSERS)):
            leaks.append(pair["response"]["id"])
            assert choice["message"]["tool_calls"] == []
        assert pair["response"]["system_fingerprint"] == "vllm-0.30.0-tp2-1a2b3c4d"
    assert leaks == of_pairs["leaking_responses"]
    assert len(leaks) == of_pairs["leaks"] == sum(of_pairs["endings"].values()) == 3


def test_each_request_of_the_pairs_continues_the_one_before() -> None:
    starts = 0
    before: list[Json] = []
    for pair in pairs():
        messages = pair["request"]["messages"]
        if messages[: len(before)] != before:
            starts += 1
        before = messages
    assert starts + 1 == truth()["pairs"]["runs"]
