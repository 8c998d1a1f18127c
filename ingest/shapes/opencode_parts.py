"""Parts of OpenCode's messages, as its export and the output of its `run` command tell them.

Source: session/message-v2.ts and session/processor.ts of OpenCode 1.x. Text loses its trailing white space. A call
that could not be parsed is kept as one of the tool `invalid`, with the name that was called; its arguments are lost.
"""

from typing import Any

from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields
from ingest.shapes.told import counts, objects, texts

STEP = ("step-start", "text", "reasoning", "tool", "step-finish")
"""The parts that a response consists of."""


def steps(parts: Any) -> list[list[Fields]]:
    """The parts of a message by model call: each begins with a `step-start`, and older versions have several."""
    found: list[list[Fields]] = [[]]
    for part in objects(parts):
        if part.get("type") == "step-start" and any(earlier.get("type") in STEP for earlier in found[-1]):
            found.append([])
        found[-1].append(part)
    return found


def step_fields(parts: list[Fields]) -> Fields:
    """One response of the model."""
    said = [part for part in parts if not part.get("synthetic") and not part.get("ignored")]
    told = [part["text"] for part in said if part.get("type") == "text" and isinstance(part.get("text"), str)]
    thoughts = [part["text"] for part in said if part.get("type") == "reasoning" and isinstance(part.get("text"), str)]
    calls = [_call(part) for part in parts if part.get("type") == "tool"]
    fields: Fields = {"content": "".join(told), "text_fidelity": "normalised"} if told else {"content": None}
    fields |= {"reasoning": "".join(thoughts)} if thoughts else {}
    fields |= {"tool_calls": calls} if calls else {}
    for part in parts:
        if part.get("type") == "step-finish":
            fields |= counts(part.get("tokens"), "input", "output")
            fields |= texts(part, {"reason": "finish_reason"})
    return fields | {"finish_fidelity": "mapped" if "finish_reason" in fields else "absent"}


def began(parts: list[Fields]) -> Fields:
    """The start of the first part that has a time."""
    times = (part.get("time") for part in parts)
    found = next((moment(time.get("start")) for time in times if isinstance(time, dict)), None)
    return {"started_at": found} if found else {}


def _call(part: Fields) -> Fields:
    state = part.get("state")
    state = state if isinstance(state, dict) else {}
    call = {"name": part.get("tool")} | ({"id": part["callID"]} if "callID" in part else {})
    given = state.get("input")
    match call["name"], given:
        case "invalid", {"tool": str() as name, **rest}:
            return call | {"name": name, "parse_error": rest.get("error")}
        case _, dict() if not given and state.get("status") == "pending":
            return call | texts(state, {"raw": "arguments"})
        case _:
            return call | ({"arguments": given} if "input" in state else {})


def status_of(error: Any) -> str:
    """The status of a response that ended in `error`."""
    if not error:
        return "ok"
    name = error.get("name") if isinstance(error, dict) else None
    if name == "MessageOutputLengthError":
        return "cut"
    return "cancelled" if name == "MessageAbortedError" else "error"
