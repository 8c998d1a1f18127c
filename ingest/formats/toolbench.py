"""Answers of ToolBench (`answer_generation`), one search for an answer a document.

`train_messages` holds one list for each reply, each with the whole conversation before it, so that every reply
but the last stands in several lists.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, quarantined, share
from ingest.shapes.documents import Items, objects, part, runs, told
from ingest.shapes.openai_message import Fields, message_fields, offered
from ingest.shapes.threads import digest


def recognises(value: Any) -> bool:
    """Whether `value` is such an answer."""
    return isinstance(part(value, "answer_generation").get("train_messages"), list)


def sniff(values: Sequence[Any]) -> float:
    """The share of answers."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One search a document."""
    return runs(lines, recognises, "answer of ToolBench", lambda line: _run(line, line.value["answer_generation"]))


def _run(line: Line, answer: Fields) -> Iterator[Item]:
    items = Items()
    try:
        whole = _run_fields(answer)
        for round_, message in _replies(answer["train_messages"]):
            fields = message_fields(message, mended=line.mended) | {"finish_fidelity": "absent"}
            yield items.of(
                line, whole | fields | {"round": round_, "linked_by": "next_round" if round_ else "new_turn"}
            )
    except ValueError as fault:
        yield quarantined(line, str(fault))


def _run_fields(answer: Fields) -> Fields:
    name = digest([answer.get("query"), answer["train_messages"][:1]]).hex()
    fields: Fields = {"run_id": f"m{name}", "turn": 0, "client": "toolbench"} | told(
        finish_type=answer.get("finish_type")
    )
    if isinstance(answer.get("function"), list):
        fields["tools"] = offered(answer["function"])
        fields["call_mode"] = "native" if fields["tools"] else "none"
    return fields


def _replies(chains: list[Any]) -> Iterator[tuple[int, Fields]]:
    """Each reply once, with its place in its conversation: known again by all that stands before it."""
    seen: set[bytes] = set()
    for chain in chains:
        state, place = b"", 0
        for message in objects(chain):
            state = digest([state.hex(), message])
            if message.get("role") != "assistant":
                continue
            if state not in seen:
                seen.add(state)
                yield place, message
            place += 1


TOOLBENCH = Format(
    name="toolbench",
    title="ToolBench answers",
    sniff=sniff,
    read=read,
    recognised="`answer_generation` with `train_messages`",
    carries="exact text, raw arguments (`function_call`), tools",
    lacks="model, finish reason, time, usage, engine; replies on branches that were given up",
    better="log the requests in a proxy beside it",
    example="""\
{"win":true,"answer_generation":{"valid_data":true,"final_answer":"","finish_type":"give_answer","function":[{"name":\
"find","parameters":{"type":"object"}}],"query":"list","train_messages":[[{"role":"user","content":"list"},{"role":\
"assistant","content":"","function_call":{"name":"find","arguments":"{}"}}]]}}
""",
)
