"""Labels over HTTP: the next output blind, a verdict, undo; and what truth becomes of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.api.conftest import LEAK, generation
from tests.api.service import Service, served

QUOTED = "Write <function=name> first."
"""A leak to openrouter-net@1, none to openrouter-net-tight@1."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service with a clean output, a leak, and one on which two detectors differ, in this order."""
    with served(tmp_path / "s.duckdb") as running:
        running.upload(generation("a", 0, "All is well."), generation("a", 1, LEAK), generation("a", 2, QUOTED))
        for detector in ("openrouter-net-tight@1", "openrouter-net@1"):
            assert running.http.put("/v1/detectors/current", json={"detector": detector}).status_code == 200
        yield running


def following(service: Service, by: str = "ana", **more: Any) -> Any:
    return service.http.get("/v1/labels/next", params={"by": by, **more}).json()


def shown(service: Service, by: str, **more: Any) -> Any:
    """The id of the output that comes next; None at the end."""
    output = following(service, by, **more)["output"]
    return output["generation_id"] if output else None


def label(service: Service, generation_id: str, leak: bool | None = True, **more: Any) -> Any:
    answer = service.http.post("/v1/labels", json={"generation_id": generation_id, "leak": leak, "by": "ana", **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def truth(service: Service) -> dict[str, bool | None]:
    return {row["generation_id"]: row["truth"] for row in service.http.get("/v1/generations").json()["items"]}


def test_the_next_output_comes_without_any_verdict(service: Service) -> None:
    told = following(service)
    key = told["output"].pop("verdict_key")
    assert told == {
        "output": {
            "generation_id": "a.2",
            "run_id": "a",
            "model": "m-1",
            "content": QUOTED,
            "reasoning": None,
            "tool_calls": None,
            "tools": ["ls"],
            "finish_reason": None,
            "said": None,
        },
        "waiting": 3,
        "total": 3,
        "done": 0,
        "elsewhere": 0,
        "labelled": 0,
        "previous": None,
        "later": None,
    }
    assert UUID(key)


def test_disputed_outputs_come_first_then_leaks_then_the_rest(service: Service) -> None:
    seen = []
    while output := following(service)["output"]:
        seen.append(output["generation_id"])
        label(service, output["generation_id"])
    assert seen == ["a.2", "a.1", "a.0"]
    told = following(service)
    assert (told["output"], told["waiting"], told["done"], told["labelled"]) == (None, 0, 3, 3)


def test_two_people_look_at_different_outputs(service: Service) -> None:
    """What is shown to one is not shown to the other, before it is labelled and after."""
    assert [shown(service, by) for by in ("ana", "ben", "ana")] == ["a.2", "a.1", "a.2"]
    label(service, "a.2")
    assert [shown(service, by) for by in ("ben", "ana", "cleo")] == ["a.1", "a.0", None]
    assert following(service, by="cleo")["elsewhere"] == 2


def test_second_labels_are_asked_for(service: Service) -> None:
    """Then what one person labelled comes first to another, and nothing comes to a third."""
    label(service, "a.1")
    assert shown(service, "ben", double=True) == "a.1"
    assert shown(service, "cleo", double=True) == "a.2"
    assert shown(service, "ana", double=True) == "a.2"


def test_what_is_left_for_later_goes_to_others_and_comes_back_last(service: Service) -> None:
    key = following(service)["output"]["verdict_key"]
    assert service.http.post("/v1/labels/skip", json={"by": "ana", "verdict_key": key}).status_code == 204
    told = following(service)
    assert (told["output"]["generation_id"], told["previous"]) == ("a.1", key)
    assert shown(service, "ben") == "a.2"
    assert service.refused(404, "POST", "/v1/labels/skip", json={"by": "cleo", "verdict_key": key})


def test_what_was_shown_before_is_shown_again(service: Service) -> None:
    """With what this person said of it; nobody else's outputs are."""
    key = following(service)["output"]["verdict_key"]
    label(service, "a.2", leak=False)
    assert following(service)["previous"] == key
    again = following(service, at=key)
    assert (again["output"]["generation_id"], again["output"]["said"]) == ("a.2", "clean")
    assert again["later"] == following(service)["output"]["verdict_key"]
    service.refused(404, "GET", "/v1/labels/next", params={"by": "ben", "at": key})


def test_an_unknown_sample_is_refused(service: Service) -> None:
    assert "'s1'" in service.refused(404, "GET", "/v1/labels/next", params={"by": "ana", "sample": "s1"})


def test_a_label_taken_back_lets_the_output_wait_again(service: Service) -> None:
    added = label(service, "a.2", leak=False)
    assert truth(service)["a.2"] is False
    assert service.http.delete(f"/v1/labels/{added['label_id']}").status_code == 204
    assert truth(service)["a.2"] is None
    assert following(service)["output"]["generation_id"] == "a.2"
    service.refused(404, "DELETE", f"/v1/labels/{added['label_id']}")


@pytest.mark.parametrize(
    ("labels", "known"),
    [
        pytest.param([("ana", True)], True, id="one person"),
        pytest.param([("ana", True), ("ben", False)], None, id="two in conflict"),
        pytest.param([("ana", True), ("ben", None)], True, id="the other is unsure"),
        pytest.param([("ana", None)], None, id="unsure alone"),
        pytest.param([("ana", True), ("ana", False)], False, id="the last word"),
    ],
)
def test_truth_is_what_people_agree_on(
    service: Service, labels: list[tuple[str, bool | None]], known: bool | None
) -> None:
    for by, leak in labels:
        label(service, "a.1", leak, by=by)
    assert truth(service)["a.1"] is known


def test_a_label_sticks_to_its_output_through_an_export(service: Service, tmp_path: Path) -> None:
    label(service, "a.1", kind="leaked_call", note="clear\x00 as day")
    exported = service.http.get("/v1/export.jsonl").content
    with served(tmp_path / "other.duckdb") as other:
        other.upload_bytes(exported)
        assert truth(other)["a.1"] is True


@pytest.mark.parametrize(
    ("change", "status", "named"),
    [
        pytest.param({"generation_id": "nope"}, 404, "'nope'", id="a generation that does not exist"),
        pytest.param({"run_id": "other"}, 404, "'a.1'", id="of another run"),
        pytest.param({"leak": 1}, 400, "leak", id="a number as verdict"),
        pytest.param({"kind": "spilled"}, 400, "kind", id="a kind that is none"),
        pytest.param({"by": ""}, 400, "by", id="nobody"),
        pytest.param({"note": "x" * 10_001}, 400, "note", id="too long a note"),
        pytest.param({"colour": "red"}, 400, "colour", id="an unknown field"),
    ],
)
def test_a_wrong_label_is_refused(service: Service, change: dict[str, Any], status: int, named: str) -> None:
    body = {"generation_id": "a.1", "leak": True, "by": "ana", **change}
    assert named in service.refused(status, "POST", "/v1/labels", json=body)
    assert following(service)["labelled"] == 0


def test_an_id_of_two_outputs_needs_its_run(service: Service) -> None:
    service.upload(generation("b", 0, "other", generation_id="a.1"))
    body = {"generation_id": "a.1", "leak": True, "by": "ana"}
    assert "name its run too" in service.refused(400, "POST", "/v1/labels", json=body)
    label(service, "a.1", run_id="b")
    assert following(service)["labelled"] == 1
