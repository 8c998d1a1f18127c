"""Native records are read as they stand; the .NET event in any spelling is one of them."""

from typing import Any

import pytest

from ingest.formats import Mapped, Quarantined
from ingest.formats.native import NATIVE
from ingest.records import Generation, Label, LeakedToolCall, Record, Run
from tests.ingest.samples import decoded, read_text

EVENT = {"markup": "<", "leak": 1, "retried": False}
GENERATION = {"type": "generation", "run_id": "r", "content": "x"}


def record(value: Any) -> Record:
    (item,) = NATIVE.read(decoded(value))
    assert isinstance(item, Mapped), item
    (found,) = item.records
    return found


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        pytest.param(GENERATION, Generation, id="a generation"),
        pytest.param({"type": "run", "run_id": "r"}, Run, id="a run"),
        pytest.param({"type": "label", "generation_id": "g", "leak": None, "by": "ana"}, Label, id="an unsure label"),
        pytest.param({"type": "leaked_tool_call", **EVENT}, LeakedToolCall, id="an event"),
        pytest.param({"Markup": "<", "Leak": 1, "Retried": True}, LeakedToolCall, id="the event of .NET"),
        pytest.param({"markup": "<", "leak": 1, "retried": True, "runId": "r"}, LeakedToolCall, id="in camel case"),
    ],
)  # fmt: skip
def test_each_kind_of_record_is_read(value: dict[str, Any], kind: type[Record]) -> None:
    assert type(record(value)) is kind


def test_the_event_of_dotnet_is_read_whole() -> None:
    event = record({"Markup": "<tool_call>", "Leak": 2, "Retried": True, "Iteration": 3, "RunId": "r"})
    assert event == LeakedToolCall(
        type="leaked_tool_call", run_id="r", round=3, markup="<tool_call>", leak=2, retried=True
    )


def test_unknown_fields_and_the_difference_of_absent_and_null_are_kept() -> None:
    found = record({**GENERATION, "tools": None, "seed": 7})
    assert found.model_extra == {"seed": 7}
    assert "tools" in found.model_fields_set
    assert "reasoning" not in found.model_fields_set


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param([], "not a record: a record is a JSON object", id="a list"),
        pytest.param({"run_id": "r"}, "not a record: it has no type", id="no type"),
        pytest.param({"type": "span"}, "Input tag 'span' found", id="another type"),
        pytest.param({"type": "a\nb" * 900}, "Input tag 'a b", id="a type of many lines"),
        pytest.param({"type": "generation", "content": "x"}, "run_id: Field required", id="no run id"),
        pytest.param({"type": "generation", "run_id": "r"}, "needs one of content, reasoning", id="nothing said"),
        pytest.param({**GENERATION, "round": -1}, "round: Input should be greater", id="a round before the first"),
        pytest.param({**GENERATION, "round": "1"}, "round: Input should be a valid integer", id="a round as text"),
        pytest.param({**GENERATION, "status": "fine"}, "status: Input should be 'ok'", id="a status of their own"),
        pytest.param({**GENERATION, "started_at": "0001-01-01T00:00:00+14:00"}, "", id="a time before all time"),
        pytest.param({"Markup": "<", "Leak": "1", "Retried": True}, "leak: Input should be", id="a broken event"),
    ],
)
def test_what_is_no_record_is_quarantined_with_its_reason(value: Any, why: str) -> None:
    (item,) = NATIVE.read(decoded(value))
    assert isinstance(item, Quarantined)
    assert why in item.why
    assert "\n" not in item.why
    assert len(item.why) <= 200


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param("", "normalised", id="nothing told"),
        pytest.param(', "text_fidelity": "exact"', "normalised", id="exact is no longer true"),
        pytest.param(', "text_fidelity": "redacted"', "redacted", id="a stronger word stays"),
    ],
)
def test_a_mended_text_is_not_called_exact(told: str, expected: str) -> None:
    line = rf'{{"type": "generation", "run_id": "r", "content": "a\ud83d"{told}}}'
    (item,) = read_text(NATIVE, line)
    assert isinstance(item, Mapped)
    (found,) = item.records
    assert isinstance(found, Generation)
    assert (found.content, found.text_fidelity) == ("a\ufffd", expected)


def test_a_whole_text_is_told_nothing() -> None:
    assert record(GENERATION).model_fields_set == set(GENERATION)
