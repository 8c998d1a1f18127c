"""What hosts say to a model whose reply they could not use is known again, and what users say is not taken for it."""

from typing import Any

import pytest

from ingest.shapes.nudges import HEAD, KNOWN, LONGEST, nudge, nudge_in


@pytest.mark.parametrize("known", [pytest.param(each, id=each.source) for each in KNOWN])
def test_what_frameworks_write_is_known_by_its_beginning(known: Any) -> None:
    assert nudge_in(f"{known.text}! And so on, for a while.") == known.kind
    assert nudge_in([{"type": "text", "text": f"Error:\n\n{known.text}."}]) == known.kind
    assert nudge_in(f"In my log I read: {known.text}. What is it?") is None
    assert nudge_in("a\n" * HEAD + known.text) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param("Your last reply contained a tool call written as plain text, so it was not executed. Call tools "
                     "through the interface.", "nudge", id="a call as text"),
        pytest.param("No action occurred. Use the complete structured tool format; do not repeat completed actions.",
                     "nudge", id="no action occurred"),
        pytest.param("[System Notice: the function call above was not parsed. Retry it.]", "nudge", id="not parsed"),
        pytest.param("You must call the tools through the API.", "nudge", id="through the API"),
        pytest.param("Please use the tool ls to look at the folder.", None, id="a user names a tool"),
        pytest.param("How do I call a function with two arguments in Python?", None, id="a question about functions"),
        pytest.param("Write a parser for tool calls, with tests.", None, id="a task about tool calls"),
        pytest.param("Run it again, please.", None, id="again"),
        pytest.param("", None, id="nothing"),
        pytest.param(None, None, id="null"),
        pytest.param(7, None, id="a number"),
        pytest.param("No action occurred. Try again. " + "x" * LONGEST, None, id="a long text asks for something else"),
    ],
)  # fmt: skip
def test_a_nudge_is_known_by_what_it_says(text: Any, kind: str | None) -> None:
    assert nudge_in(text) == kind


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        pytest.param("system", "host_instruction", id="the system"),
        pytest.param("developer", "host_instruction", id="the developer"),
        pytest.param("user", "nudge", id="in the user's place"),
    ],
)
def test_who_says_it_makes_it_an_instruction_or_a_nudge(role: str, kind: str) -> None:
    assert nudge({"role": role, "content": "No tool call was executed: you must call tools through the API."}) == kind
