"""LM Studio's log stream (`lms log stream --source model --filter input,output --json`).

Source: @lmstudio/sdk 2.0.0. The input is the rendered prompt, the output what the model wrote before anything was
parsed out of it: evidence (`raw_text`), for the log does not say what the client got. No event names its request: an
output belongs to the one input of its model that waits.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import Object
from ingest.formats import Format, Item, Line, Skipped, quarantined, share
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields
from ingest.shapes.parts import PART
from ingest.shapes.threads import digest
from ingest.shapes.wrapped import NO_TEXT, mapped, object_at, started, text, tokens

INPUT, OUTPUT = "llm.prediction.input", "llm.prediction.output"
MODELS = 256
"""Models whose last prompt is remembered."""
HEAD = 500
"""Characters of the prompt that are kept: they show the template."""


def recognises(value: Any) -> bool:
    """Whether `value` is an event of that stream."""
    return isinstance(value, dict) and "timestamp" in value and object_at(value, "data").get("type") in (INPUT, OUTPUT)


def sniff(values: Sequence[Any]) -> float:
    """The share of events."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response for each output."""
    prompts = _Prompts()
    for line in lines:
        if not recognises(line.value):
            yield quarantined(line, "no event of LM Studio's log stream")
            continue
        data: Object = line.value["data"]
        if data["type"] == INPUT:
            prompts.add(data)
            yield Skipped(line.number, PART)
            continue
        try:
            yield _item(line, data, prompts)
        except ValueError as fault:
            yield quarantined(line, str(fault))


def _item(line: Line, data: Object, prompts: "_Prompts") -> Item:
    said = data.get("output")
    if not isinstance(said, str):
        return Skipped(line.number, NO_TEXT)
    stats = object_at(data, "stats")
    found: Fields = {
        "content": None,
        "raw_text": said,
        "call_mode": "unknown",
        "text_fidelity": "normalised" if line.mended else "exact",
        "engine": "lmstudio",
        "finish_fidelity": "absent",
    }
    if reason := text(stats, "stopReason"):
        found |= {"finish_reason": reason, "finish_fidelity": "wire"}
    if model := text(data, "modelIdentifier", "modelPath"):
        found["model"] = model
    found |= tokens(stats, "promptTokensCount", "predictedTokensCount") | started(moment(line.value["timestamp"]))
    return mapped(line, [found | prompts.take(model or "", [line.value["timestamp"], said])])


class _Prompts:
    """The prompts that wait for their output, and the runs that they continue, by model."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, list[str]] = OrderedDict()
        self._last: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def add(self, data: Object) -> None:
        prompt = data.get("input")
        if isinstance(prompt, str):
            model = text(data, "modelIdentifier", "modelPath") or ""
            self._waiting[model] = [*self._waiting.get(model, [])[:2], prompt]
            _bound(self._waiting)

    def take(self, model: str, output: Any) -> Fields:
        """The run of an output, and the start of its prompt where that is sure."""
        waiting = self._waiting.pop(model, [])
        if len(waiting) != 1:
            self._last.pop(model, None)
            return {"run_id": f"l{digest([model, output]).hex()}"}
        prompt = waiting[0]
        before, run = self._last.get(model, ("", ""))
        if not before or not prompt.startswith(before):
            run = f"l{digest([model, prompt, output]).hex()}"
        self._last[model] = (prompt, run)
        _bound(self._last)
        return {"run_id": run, "prompt_head": prompt[:HEAD]}


def _bound(kept: "OrderedDict[str, Any]") -> None:
    if len(kept) > MODELS:
        kept.popitem(last=False)


LMSTUDIO = Format(
    name="lmstudio",
    title="LM Studio, log stream of a model's input and output (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="objects with a `timestamp` and `data` of type `llm.prediction.input` or `llm.prediction.output`",
    carries="the text before anything is parsed out of it (as evidence), the start of the rendered prompt, model, "
    "stop reason, usage, time",
    lacks="what the client got, so that a leak cannot be told from a call that was parsed; tools; which prompt is "
    "whose when requests overlap",
    better="log requests and responses of the client or a gateway beside it",
    example="""\
{"timestamp":1796000000000,"data":{"type":"llm.prediction.input","modelPath":"a/m","modelIdentifier":"m",\
"input":"<|im_start|>user\\nls<|im_end|>\\n<|im_start|>assistant\\n"}}
{"timestamp":1796000001000,"data":{"type":"llm.prediction.output","modelIdentifier":"m","output":"Two files.",\
"stats":{"stopReason":"eosFound","promptTokensCount":9,"predictedTokensCount":3}}}
""",
)
