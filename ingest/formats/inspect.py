"""Eval logs of Inspect AI: the `.json` document, or the members of an `.eval` archive, one document a line.

Generations are the model events; messages, output, state changes and pools hold copies of them. From 0.3.260 on
the raw body stands in `call.response` for the first five calls of a sample, before that for all (docs/eval-logs.qmd).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.formats import Format, Item, Line, Mapped, Skipped, quarantined, share
from ingest.records import Record, validate
from ingest.shapes.documents import Items, objects, part, started, text, told
from ingest.shapes.inspect_reply import choice, converted, merged, model, raw, tools
from ingest.shapes.inspect_sample import Call, Sample, unresolved
from ingest.shapes.openai_message import Fields

_Series = tuple[Any, Any, Any]
"""The model that was asked for, the engine and its version."""
_BOOKKEEPING = ({"id", "epoch", "input", "target"}, {"scorer", "samples"})


def recognises(value: Any) -> bool:
    """Whether `value` is a log, a header, a sample, or one of the lists beside them."""
    return _is_log(value) or _is_sample(value) or _is_aside(value)


def _is_log(value: Any) -> bool:
    about = part(value, "eval")
    return bool(about) and "task" in about and bool({"run_id", "task_id"} & about.keys()) and "version" in value


def _is_sample(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= {"id", "epoch", "input", "target", "messages"}


def _is_aside(value: Any) -> bool:
    """A summary of a sample or a reduced score, or a list of them."""
    first = next(iter(objects(value)), None) if isinstance(value, list) else value
    return isinstance(first, dict) and any(first.keys() >= keys for keys in _BOOKKEEPING)


def sniff(values: Sequence[Any]) -> float:
    """The share of parts of eval logs."""
    return share(values, recognises)


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """A log a line, or a member of an archive a line, the header before its samples."""
    about: Fields = {}
    for line in lines:
        if _is_log(line.value):
            about = line.value["eval"]
            samples = line.value.get("samples")
            if isinstance(samples, list) and samples:
                for sample in samples:
                    yield from _sample(line, sample, about)
            else:
                yield Skipped(line.number, "bookkeeping: header")
        elif not _is_sample(line.value) and (_is_aside(line.value) or line.value == []):
            yield Skipped(line.number, "bookkeeping: summaries")
        else:
            yield from _sample(line, line.value, about)


def _sample(line: Line, value: Any, about: Fields) -> Iterator[Item]:
    if not _is_sample(value):
        yield quarantined(line, "no header, sample or summary of an Inspect log")
        return
    sample, items = Sample(value), Items()
    whole = _sample_fields(value, about)
    calls = sample.calls()
    series_of: dict[str, list[_Series]] = {}
    for call, found in _replies(line, sample, calls, about):
        if not isinstance(found, dict):
            yield found
            continue
        one = whole | found | _place(call, whole["run_id"])
        series = (one.get("requested_model"), one.get("engine"), one.get("engine_version"))
        series_of.setdefault(one["run_id"], []).append(series)
        yield items.of(line, one)
    yield from (Mapped(line.number, (run,)) for run in _runs(series_of))
    if not calls:
        yield from _without_events(line, value, whole, items)


def _replies(line: Line, sample: Sample, calls: list[Call], about: Fields) -> Iterator[tuple[Call, Item | Fields]]:
    """The fields of each reply, or why there is none."""
    for call in calls:
        if why := _no_generation(call.event):
            yield call, Skipped(line.number, why)
            continue
        try:
            yield from ((call, fields) for fields in _generations(call, sample, about, mended=line.mended))
        except ValueError as fault:
            yield call, quarantined(line, str(fault))


def _runs(series_of: dict[str, list[_Series]]) -> Iterator[Record]:
    """The engine of a run of one model, told by the raw calls that were kept, for those that were not."""
    for run_id, series in series_of.items():
        engines = {each[1:] for each in series if each[1]}
        if len(engines) == 1 and len({each[0] for each in series}) == 1 and any(not each[1] for each in series):
            ((engine, version),) = engines
            yield validate({"type": "run", "run_id": run_id} | told(engine=engine, engine_version=version))


def _no_generation(event: Fields) -> str | None:
    if event.get("cache") == "read":
        return "a cached answer, no new generation"
    return "a request without a response" if event.get("pending") else None


def _sample_fields(value: Fields, about: Fields) -> Fields:
    """A sample that a retried eval took over keeps its uuid, and so its run."""
    origin = text(value.get("uuid")) or text(about.get("task_id")) or text(about.get("run_id"))
    fields: Fields = {"run_id": ":".join(filter(None, (origin, str(value["id"]), str(value["epoch"]))))}
    fields |= {"turn": 0, "client": "inspect_ai"}
    fields |= told(client_version=part(about, "packages").get("inspect_ai"))
    retries = value.get("error_retries")
    fields |= {"sample_retries": len(retries)} if isinstance(retries, list) and retries else {}
    return fields | ({"tags": {"task": about["task"]}} if text(about.get("task")) else {})


def _place(call: Call, run_id: str) -> Fields:
    fields: Fields = {"round": call.round, "attempt": call.attempt, "linked_by": call.link}
    fields |= {"reprimand": call.reprimand} if call.reprimand else {}
    fields |= {"role": call.role} if call.role else {}
    return fields | ({"run_id": f"{run_id}/{call.thread}", "parent_run_id": run_id} if call.thread else {})


def _generations(call: Call, sample: Sample, about: Fields, *, mended: bool) -> list[Fields]:
    event = call.event
    output = sample.resolved(part(event, "output"))
    choices = objects(output.get("choices"))
    whole = model(event, output) | started(event.get("timestamp")) | tools(event, sample)
    whole |= {key: event[key] for key in ("retries", "cache") if event.get(key)}
    if error := event.get("error") or (not choices and (output.get("error") or "no output")):
        status = "cancelled" if str(error).startswith("Cancelled by") else "error"
        return [whole | {"content": None, "status": status, "error": error, "finish_fidelity": "absent"}]
    parsed = [choice(each, output if not n else {}, mended=mended) for n, each in enumerate(choices)]
    wire = raw(sample.resolved(part(event, "call").get("response")), mended=mended)
    fields = merged(wire, parsed) if len(wire) == len(parsed) else parsed
    emulated = bool(part(about, "model_args").get("emulate_tools")) or converted(event, wire, parsed)
    return [_finished(whole, each, n, emulated) for n, each in enumerate(fields)]


def _finished(whole: Fields, fields: Fields, position: int, emulated: bool) -> Fields:
    wire = {key: fields[key] for key in ("model", "engine", "engine_version") if key in fields}
    both = fields | whole | wire
    if emulated and whole.get("call_mode") == "native":
        both["call_mode"] = "text"
        if both["finish_fidelity"] == "mapped":
            both["text_fidelity"] = "normalised"
    if position and "generation_id" in both:
        both["generation_id"] = f"{both['generation_id']}#{position}"
    if any(unresolved(both.get(channel)) for channel in ("content", "reasoning")):
        both["text_fidelity"] = "truncated"
    return both


def _without_events(line: Line, value: Fields, whole: Fields, items: Items) -> Iterator[Item]:
    """A log that keeps no events: the assistant messages, and the stop reason of the last."""
    replies = [each for each in objects(value.get("messages")) if each.get("role") == "assistant"]
    replies = [each for each in replies if each.get("source") != "input"]
    output = part(value, "output")
    last = next(iter(objects(output.get("choices"))), {})
    for n, reply in enumerate(replies):
        ends = n == len(replies) - 1 and part(last, "message").get("content") == reply.get("content")
        try:
            fields = choice(
                last if ends else {"message": reply}, output if len(replies) == 1 else {}, mended=line.mended
            )
        except ValueError as fault:
            yield quarantined(line, str(fault))
            continue
        yield items.of(
            line, whole | fields | told(model=reply.get("model"), generation_id=reply.get("id")) | {"round": n}
        )
    if not replies:
        yield Skipped(line.number, "a sample without a reply of a model")


INSPECT = Format(
    name="inspect",
    title="Inspect AI eval logs (.json, .eval)",
    sniff=sniff,
    read=read,
    recognised="`eval` with a task beside `version`, and samples with `epoch`, `target` and `messages`",
    carries="exact text, reasoning, tools, models, usage, time, errors, roles of scorers and sub-agents; raw "
    "arguments, finish reason and fingerprint where the raw call was kept: by default five a sample",
    lacks="raw arguments and the wire's finish reason of later calls, chat template, tool parser",
    better="run with --log-model-api, so that every raw call is kept",
    joint=True,
    example="""\
{"version":2,"status":"success","eval":{"run_id":"r","task":"list","task_id":"t","model":"openai/m","packages":\
{"inspect_ai":"0.3.200"}},"plan":{"name":"plan","steps":[]}}
{"id":"a","epoch":1,"input":"list the files","target":"","messages":[{"role":"user","content":"list the files",\
"source":"input"}],"output":{"model":"m","choices":[]},"uuid":"s1","attachments":{},"events":[{"event":"model","uuid":"e1",\
"timestamp":"2026-11-01T10:00:00+00:00","model":"openai/m","input":[{"role":"user","content":"list the files","source":\
"input"}],"tools":[{"name":"bash","description":"Run a command.","parameters":{"type":"object"}}],"tool_choice":"auto",\
"output":{"model":"m-1","choices":[{"message":{"role":"assistant","content":"I am done.","source":"generate"},\
"stop_reason":"stop"}],"usage":{"input_tokens":9,"output_tokens":3}}}]}
""",
)
