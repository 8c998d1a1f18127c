"""Each rule of the audit over composed runs: broken, kept, and not to be told from the log."""

from pathlib import Path
from typing import Any

import pytest

from analysis.recovery.audit.rules import chosen, rules
from ingest.errors import UsageError
from ingest.shapes.repeated import reply_hash
from tests.analysis.recovery.audit.audits import found, told
from tests.analysis.stories import BOOM, LEAK, WORDS, Json, called, event_of, finds, label, leaked, said

GOAT, NET = {"client": "goat"}, {"client": "OpenRouter.Net"}
FOUNDRY = {"client": "foundry-local"}
SHOWN = {"streamed": ["text"]}
OBJECT = [{"name": "ls", "parameters": {"type": "object"}}]
CASES: list[tuple[str, list[Json], list[str | None], dict[str, int], str]] = [
    ("more_retries_than_allowed", [leaked(0, 0, **GOAT), leaked(0, 1, **GOAT), called(0, 2, **GOAT)],
     ["g2"], {}, "two retries in a turn"),
    ("more_retries_than_allowed", [leaked(0, 0, **GOAT), called(0, 1, **GOAT), leaked(1, 0, **GOAT),
                                   called(1, 1, **GOAT)], ["g3"], {}, "one retry in each of two rounds of a turn"),
    ("more_retries_than_allowed", [leaked(0, 0, turn=0, **GOAT), called(0, 1, turn=0, **GOAT),
                                   leaked(1, 0, turn=1, **GOAT), called(1, 1, turn=1, **GOAT)],
     [], {}, "one retry in each of two turns"),
    ("more_retries_than_allowed", [*(leaked(0, n, **GOAT) for n in range(5))], ["g2"], {},
     "all that is too much is one finding"),
    ("more_retries_than_allowed", [leaked(0, 0, **GOAT), said("", 0, 1, status="error", **GOAT),
                                   called(0, 2, **GOAT)], [], {}, "a retry of an error is none of a leak"),
    ("more_retries_than_allowed", [*(leaked(0, n, **NET) for n in range(3)), called(0, 3, **NET)], ["g3"], {},
     "a third nudge in a run"),
    ("more_retries_than_allowed", [leaked(0, 0, **NET), leaked(0, 1, **NET), called(0, 2, **NET)], [], {},
     "two nudges in a run"),
    ("more_retries_than_allowed", [leaked(0, 0, **FOUNDRY), leaked(0, 1, **FOUNDRY), called(0, 2, **FOUNDRY)],
     ["g2"], {}, "a second guided retry"),
    ("more_retries_than_allowed", [leaked(0, 0), leaked(0, 1), called(0, 2)], [], {"policy_unknown": 2},
     "nobody knows the client's policy"),
    ("more_retries_than_allowed", [leaked(**GOAT), called(**GOAT)], [], {"place_untold": 1}, "no round is told"),
    ("more_retries_than_allowed", [leaked(0, 0, **GOAT), said("Hm.", 0, 0, **GOAT), called(0, 1, **GOAT)], [], {},
     "two choices are no retry"),
    ("second_leak_did_not_end_turn", [leaked(0, 0, **GOAT), leaked(0, 1, **GOAT), called(1, 0, **GOAT)],
     ["g1"], {}, "the turn went on"),
    ("second_leak_did_not_end_turn", [leaked(0, 0, **GOAT), leaked(0, 1, **GOAT)], [], {}, "the turn ended"),
    ("second_leak_did_not_end_turn", [leaked(0, 0, **GOAT), leaked(0, 1, **GOAT),
                                      said("", 1, 0, status="error", **GOAT)], [], {}, "it ended with an error"),
    ("second_leak_did_not_end_turn", [leaked(0, 0, turn=0, **GOAT), leaked(0, 1, turn=0, **GOAT),
                                      called(1, 0, turn=1, **GOAT)], [], {}, "another turn may follow"),
    ("second_leak_did_not_end_turn", [leaked(0, 0, **GOAT), leaked(0, 1, tool_calls=[{"name": "ls"}], **GOAT),
                                      called(1, 0, **GOAT)], [], {}, "calls beside the second, which is no leak then"),
    ("second_leak_did_not_end_turn", [leaked(0, 0, **NET), leaked(1, 0, **NET), called(2, 0, **NET)], [], {},
     "this policy retries the second"),
    ("second_leak_did_not_end_turn", [*(leaked(n, 0, **NET) for n in range(3)), called(3, 0, **NET)], ["g2"], {},
     "and not the third"),
    ("second_leak_did_not_end_turn", [leaked(0, 0, **FOUNDRY), leaked(0, 1, **FOUNDRY), called(1, 0, **FOUNDRY)],
     [], {}, "a request ended, and the agent went on with another"),
    ("second_leak_did_not_end_turn", [leaked(0, 0, **FOUNDRY), leaked(0, 1, **FOUNDRY), called(0, 2, **FOUNDRY)],
     ["g1"], {}, "the request itself went on"),
    ("second_leak_did_not_end_turn", [leaked(0, 0), leaked()], [], {"policy_unknown": 1, "place_untold": 1}, "untold"),
    ("leak_completed_turn", [leaked(0, 0)], ["g0"], {}, "it was passed off as the answer"),
    ("leak_completed_turn", [leaked(0, 0), leaked(0, 1)], ["g1"], {}, "the retry was"),
    ("leak_completed_turn", [leaked(0, 0), called(0, 1)], [], {}, "it was mended"),
    ("leak_completed_turn", [leaked(0, 0, status="error")], [], {}, "the turn ended with an error"),
    ("leak_completed_turn", [leaked()], [], {"outcome_unknown": 1}, "nobody knows what followed"),
    ("leak_completed_turn", [leaked(0, 0), label("g0", False)], [], {}, "people say that it is none"),
    ("leak_completed_turn", [leaked(0, 0, role="judge")], [], {}, "a judge commits no turn"),
    ("leak_in_later_history", [leaked(0, 0), called(1, 0, history_replies=[reply_hash(LEAK)])], ["g0"], {},
     "the next request holds it"),
    ("leak_in_later_history", [leaked(0, 0), called(1, 0, history_replies=[]),
                               called(2, 0, history_replies=["0", reply_hash(f"{LEAK}\n")])], ["g0"], {},
     "a later one does"),
    ("leak_in_later_history", [leaked(0, 0), called(1, 0, history_replies=["0"])], [], {}, "it was left out"),
    ("leak_in_later_history", [leaked(0, 0), called(1, 0, history_replies=[reply_hash(LEAK)], run="s")], [],
     {"history_not_stored": 1}, "another run's request"),
    ("leak_in_later_history", [said("Hm.", 0, 0, history_replies=[]), leaked(1, 0)], [], {"history_not_stored": 1},
     "only an earlier request is there"),
    ("leak_in_later_history", [leaked(0, 0), called(1, 0)], [], {"history_not_stored": 1}, "no request is there"),
    ("leak_in_later_history", [leaked(0, 0), called(1, 0, history_replies=7)], [], {}, "a note that is no list"),
    ("retry_after_streamed_output", [said(f"I look.\n{LEAK}", 0, 0, streamed=True), called(0, 1)], ["g0"], {},
     "its text was shown"),
    ("retry_after_streamed_output", [leaked(0, 0, **SHOWN), called(0, 1)], ["g0"], {}, "the record lists what was"),
    ("retry_after_streamed_output", [leaked(0, 0, reasoning="Hm.", streamed=True), called(0, 1)], ["g0"], {},
     "its thoughts were"),
    ("retry_after_streamed_output", [said(f"I look.\n{LEAK}", 0, 0, streamed=[]), called(0, 1)], [], {},
     "nothing was shown"),
    ("retry_after_streamed_output", [said(f"I look.\n{LEAK}", 0, 0, streamed=False), called(0, 1)], [], {},
     "the reply was buffered"),
    ("retry_after_streamed_output", [said(f"\n {LEAK}", 0, 0), called(0, 1)], [], {}, "nothing stood before it"),
    ("retry_after_streamed_output", [said(f"I look.\n{LEAK}", 0, 0), called(0, 1)], [], {"streaming_untold": 1},
     "nobody knows whether it was"),
    ("retry_after_streamed_output", [leaked(0, 0, **SHOWN)], [], {}, "it was not retried"),
    ("retry_after_streamed_output", [leaked(**SHOWN), called()], [], {"place_untold": 1}, "nobody knows"),
    ("text_executed_as_call", [leaked(0, 0, text_executed=True)], ["g0"], {}, "carried out"),
    ("text_executed_as_call", [leaked(0, 0, text_executed=False)], [], {}, "not carried out"),
    ("text_executed_as_call", [leaked(0, 0), leaked(0, 1, text_executed="yes")], [], {"execution_untold": 2}, "untold"),
    ("text_executed_as_call", [said("Done.", 0, 0, text_executed=True)], [], {}, "no leak"),
    ("event_without_leak", [said("All is well.", 0, 0), event_of("well", round=0)], ["g0"], {}, "an answer in words"),
    ("event_without_leak", [leaked(0, 0), event_of(LEAK, round=0)], [], {}, "a leak"),
    ("event_without_leak", [event_of(LEAK, round=0)], [], {"generation_not_here": 1}, "its generation is not here"),
    ("event_without_leak", [said("Done.", 0, 0), event_of("Done", round=0), label("g0", True)], [], {},
     "people say that it is one"),
    ("event_without_leak", [leaked(0, 0), event_of(LEAK, round=0), label("g0", False)], ["g0"], {},
     "people say that it is none"),
    ("leak_without_event", [leaked(0, 0), leaked(1, 0), event_of(LEAK, round=0)], ["g1"], {}, "one of two is reported"),
    ("leak_without_event", [leaked(0, 0), event_of(LEAK, round=0)], [], {}, "it is reported"),
    ("leak_without_event", [leaked(0, 0)], [], {"client_reports_none": 1}, "the client reports none at all"),
    ("leak_without_event", [leaked(0, 0), event_of(LEAK, round=0), leaked(1, 0, client="other")], [],
     {"client_reports_none": 1}, "another client does"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "records", "broken", "unknown"), [pytest.param(*row[:4], id=f"{row[0]}: {row[4]}") for row in CASES]
)
def test_a_rule_is_broken_kept_or_not_checkable(
    rule: str, records: list[Json], broken: list[str | None], unknown: dict[str, int], tmp_path: Path
) -> None:
    assert told(found(tmp_path, records, rule)) == (broken, unknown)


CALLS = [{"name": "ls", "arguments": "{}"}]
BY_LEAKDOWN = "leakdown@1"
HERMES = '<tool_call>\n{"name": "ls", "arguments": {"path": "a"}}\n</tool_call>'
SAME = {"name": "ls", "arguments": '{ "path":"a" }'}
OTHER = {"name": "ls", "arguments": '{"path": "b"}'}
BOTH_WAYS: list[tuple[list[Json], list[str | None], dict[str, int], str]] = [
    ([said(HERMES, 0, 0, tool_calls=[OTHER, SAME])], ["g0"], {}, "beside it, its arguments spelled another way"),
    ([said(HERMES, 0, 0, tool_calls=[{**SAME, "arguments": {"path": "a"}}])], ["g0"], {}, "beside it, as an object"),
    ([said(HERMES, 0, 0, tool_calls=[OTHER])], [], {}, "other arguments"),
    ([said(HERMES, 0, 0, tool_calls=[{**SAME, "name": "read"}])], [], {}, "another tool"),
    ([said(HERMES, 0, 0, tool_calls=[{**SAME, "arguments": "{path"}])], [], {}, "arguments that are no JSON"),
    ([said(HERMES, 0, 0), said(None, 0, 1, tool_calls=[SAME])], [], {}, "the same call as a retry is recovery"),
    ([said(HERMES, 0, 0, text_executed=True), said(None, 0, 1, tool_calls=[SAME])], ["g0"], {}, "it ran twice"),
    ([said(HERMES, 0, 0, text_executed=True), said(None, 0, 1, tool_calls=[OTHER])], [], {}, "two calls ran once each"),
    ([said("</tool_call>", 0, 0, tool_calls=[SAME])], [], {"calls_unread": 1}, "nothing can be read from the text"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("records", "broken", "unknown"), [pytest.param(*row[:3], id=row[3]) for row in BOTH_WAYS]
)  # fmt: skip
def test_a_call_in_text_that_ran_as_a_structured_one(
    records: list[Json], broken: list[str | None], unknown: dict[str, int], tmp_path: Path
) -> None:
    assert told(_by_leakdown(tmp_path, records, "leaked_call_also_structured")) == (broken, unknown)


def _by_leakdown(folder: Path, records: list[Json], rule: str) -> Any:
    """By a detector that also looks beside structured calls, and reads the calls of a leak."""
    from analysis.detectors import detector
    from analysis.recovery.audit.findings import audit
    from analysis.recovery.audit.rules import Asked
    from tests.analysis.stories import store_of

    with store_of(folder, records, detector(BY_LEAKDOWN)) as store:
        return audit(store, Asked(BY_LEAKDOWN), chosen([rule]))


def test_a_leak_beside_calls_is_no_event_that_is_missing(tmp_path: Path) -> None:
    records = [said(HERMES, 0, 0, tool_calls=[OTHER]), said(HERMES, 1, 0), event_of(HERMES, round=1)]
    assert told(_by_leakdown(tmp_path, records, "leak_without_event")) == ([], {"calls_beside": 1})


ENVELOPE = '<tool_call>[{"name": "ls", "parameters": {}}]</tool_call>'
STRICT: list[tuple[Json, list[str | None], dict[str, int], str]] = [
    (called(0, 1, tools=OBJECT, arguments="[]"), ["g1"], {}, "arguments that are no object"),
    (called(0, 1, tools=OBJECT, raw_text=ENVELOPE), [], {}, "accepted whole"),
    (called(0, 1, tools=OBJECT), [], {"envelope_not_stored": 1}, "the envelope is not stored"),
    (called(0, 1), [], {"schema_missing": 1}, "no schema is stored"),
    (called(0, 1, tools=...), [], {"tools_unknown": 1}, "the tools are not known"),
    (called(0, 1, tools=OBJECT, arguments="[]", status="error"), [], {}, "it did not stand"),
    (said("Done.", 0, 1), [], {}, "no call"),
]


@pytest.mark.parametrize(("retry", "broken", "unknown"), [pytest.param(*row[:3], id=row[3]) for row in STRICT])
def test_a_retry_that_a_strict_check_refuses(
    retry: Json, broken: list[str | None], unknown: dict[str, int], tmp_path: Path
) -> None:
    assert told(found(tmp_path, [leaked(0, 0), retry], "strict_refused_retry")) == (broken, unknown)


def test_a_reply_on_which_the_detector_failed_denies_no_event(tmp_path: Path) -> None:
    from analysis.recovery.audit.findings import audit
    from analysis.recovery.audit.rules import Asked
    from tests.analysis.stories import store_of

    by = finds("words", WORDS)
    with store_of(tmp_path, [said(BOOM, 0, 0), event_of(BOOM, round=0)], by) as store:
        found_ = audit(store, Asked(by.id), chosen(["event_without_leak"]))
    assert told(found_) == ([], {"not_judged": 1})


@pytest.mark.parametrize(
    ("held_to", "broken"),
    [
        pytest.param("goat", ["g2"], id="one retry a turn"),
        pytest.param("goat:max_retries=2", [], id="its parameter allows two"),
        pytest.param("openrouter-net", [], id="two a run"),
        pytest.param("openrouter-net:max_retries=1", ["g2"], id="one a run"),
        pytest.param("report-only", ["g1"], id="none at all"),
    ],
)
def test_all_runs_are_held_to_a_policy_that_is_named(held_to: str, broken: list[str], tmp_path: Path) -> None:
    records = [leaked(0, 0), leaked(0, 1), called(0, 2)]
    assert told(found(tmp_path, records, "more_retries_than_allowed", held_to=held_to)) == (broken, {})


def test_a_policy_without_retries_has_no_second_leak(tmp_path: Path) -> None:
    records = [leaked(0, 0), called(1, 0)]
    expected: tuple[list[str | None], dict[str, int]] = ([], {"policy_never_retries": 1})
    assert told(found(tmp_path, records, "second_leak_did_not_end_turn", held_to="salvage")) == expected


def test_the_evidence_says_how_the_rule_is_broken(tmp_path: Path) -> None:
    [finding] = found(tmp_path, [*(leaked(0, n, **GOAT) for n in range(4))], "more_retries_than_allowed").findings
    assert finding.evidence == "3 retries of leaks in the turn; goat@1 allows 1"


WIDE = "W" * 10_000


@pytest.mark.parametrize(
    ("rule", "records"),
    [
        pytest.param("event_without_leak", [said("x", 0, 0), event_of("x", round=0, detector=WIDE)], id="a detector"),
        pytest.param("leak_completed_turn", [said(f"{LEAK} {WIDE}", 0, 0)], id="markup"),
        pytest.param("retry_after_streamed_output", [leaked(0, 0, streamed=[WIDE]), called(0, 1)], id="what was shown"),
        pytest.param(
            "leak_in_later_history",
            [leaked(0, 0), called(1, 0, generation_id=WIDE, history_replies=[reply_hash(LEAK)])],
            id="a generation",
        ),
    ],
)
def test_evidence_stays_short_whatever_a_log_holds(rule: str, records: list[Json], tmp_path: Path) -> None:
    [finding] = found(tmp_path, records, rule).findings
    assert len(finding.evidence) < 300


def test_every_rule_has_rows_here() -> None:
    assert {each.name for each in rules()} == {
        "leaked_call_also_structured", "strict_refused_retry", *(row[0] for row in CASES),
    }  # fmt: skip


def test_an_unknown_rule_names_those_there_are() -> None:
    with pytest.raises(UsageError, match="unknown rule 'x'; known: event_without_leak, leak_completed_turn"):
        chosen(["x"])
