"""Outputs are judged alike whenever they are judged: at ingest, over the history, once, and whatever raises."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.candidate_choice import PART_OUTPUTS
from analysis.detectors import FAULT_LIMIT, Detector, Finding, detectors, judge
from analysis.judging import judge_for, judge_history, output_of
from analysis.output import Call, OfferedTool, Output
from analysis.registry import default_detector, judged, register
from ingest.batches import read
from ingest.files.containers import Source
from ingest.pipeline import ingest
from ingest.store import Store
from ingest.verdict_rows import Judge
from tests.analysis.stories import (
    BOOM,
    LEAK,
    TOOLS,
    WORDS,
    Json,
    add,
    called,
    detector,
    dice,
    finds,
    label,
    rows,
    said,
    store_of,
    verdicts,
)

PIECES = (
    LEAK, "<tool_call>", "</tool_call>", "<function=ls>", "<function=rm>", "</function>", "[TOOL_CALLS]",
    '<invoke name="ls">', "<|python_tag|>", "<｜tool▁calls▁begin｜>", "`", "``", "\n```\n", "\n~~~\n", "\n", "> ",
    "- ", " ", "word", "😀", '"', "\\", "{}", "\u2028",
)  # fmt: skip


def channels(output: Output) -> Iterator[tuple[str, str]]:
    """All that a detector can read, by channel."""
    yield "content", output.content or ""
    yield "reasoning", output.reasoning or ""
    for call in output.calls:
        yield "tool_name", call.name
        yield "tool_arguments", call.arguments or ""


def anywhere(word: str) -> Detector:
    """A detector that finds `word` in the first channel that holds it."""

    def find(output: Output) -> Finding | None:
        held = ((channel, text.find(word)) for channel, text in channels(output))
        found = next(((channel, at) for channel, at in held if at >= 0), None)
        if found is None:
            return None
        channel, at = found
        return Finding(
            "contaminated_call", None, "certain", None, channel, at, at + len(word), word,  # type: ignore[arg-type]
            f"{word!r} stands there", (Call("ls", "{}"), Call("read")),
        )  # fmt: skip

    return detector("anywhere", find, (word,))


def text(thrown: random.Random) -> str | None:
    if thrown.random() < 0.2:
        return thrown.choice([None, "", " "])
    return "".join(thrown.choices(PIECES, k=thrown.randint(1, 12)))


def invented(thrown: random.Random) -> Iterator[Json]:
    """Generations of a few runs with all that can differ in what a detector sees."""
    for at in range(300):
        record = said(text(thrown), run=f"run-{at % 20}", reasoning=text(thrown))
        if thrown.random() < 0.3:
            arguments = thrown.choice([text(thrown) or "{}", {"path": text(thrown)}, None])
            record["tool_calls"] = [{"name": thrown.choice(["ls", "rm", "<tool_call>"]), "arguments": arguments}]
        elif thrown.random() < 0.3:
            record["tool_calls"] = thrown.choice([[], None])
        if thrown.random() < 0.4:
            record["tools"] = thrown.choice([..., ..., None, [], [{"name": "rm", "parameters": {"type": "object"}}]])
        if thrown.random() < 0.3:
            record["call_mode"] = thrown.choice(["native", "text", "none", "unknown"])
        if thrown.random() < 0.3:
            record["finish_reason"] = thrown.choice([None, "stop", "length"])
        if at % 3 == 0:
            record |= {"content": f"So {at}:\nrm()", "finish_reason": "stop"}
        yield {name: value for name, value in record.items() if value is not ...}


EVERY = [
    *(pytest.param(each, id=each.id) for each in detectors()),
    pytest.param(finds("words", {"word": ("printed_call", "likely")}), id="one of plain words"),
    pytest.param(anywhere("\n"), id="one that looks everywhere for a line end"),
    pytest.param(anywhere('"'), id="one that looks everywhere for a quote"),
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("of", EVERY)
def test_judging_at_ingest_and_judging_the_history_say_the_same(of: Detector, seed: int, tmp_path: Path) -> None:
    with store_of(tmp_path, invented(dice(seed)), of) as store:
        at_ingest = verdicts(store, of)
        judged(store, of, anew=True)
        assert verdicts(store, of) == at_ingest
        assert len(at_ingest) > 3


@pytest.mark.parametrize("seed", range(3))
def test_a_detector_sees_the_same_output_at_ingest_and_in_the_history(seed: int, tmp_path: Path) -> None:
    seen: list[Output] = []
    # an empty trigger stands in every text; a wholly empty output has none
    every = detector(
        "every", lambda output: seen.append(output) if any(dict(channels(output)).values()) else None, ("",)
    )
    with store_of(tmp_path, invented(dice(seed)), every) as store:
        at_ingest = {repr(output) for output in seen}
        seen.clear()
        judged(store, every, anew=True)
        assert {repr(output) for output in seen} == at_ingest
    assert len(at_ingest) > 200
    assert "" not in {text for output in seen for text in (output.content, output.reasoning)}


def test_an_output_is_what_its_record_says(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"type":"generation","run_id":"r","content":"a","reasoning":"b","finish_reason":"stop","call_mode":"text",'
        '"tools":[{"name":"ls","parameters":{"type":"object"}},{"name":"rm"}],"tool_calls":[{"name":"ls","arguments":'
        '"{\\"a\\": 1}"},{"name":"rm","arguments":{"a":1.0}},{"name":"x"},{"name":"y","arguments":null}]}\n'
        '{"type":"generation","run_id":"s","content":"","tool_calls":[{"name":"ls","arguments":""}]}\n'
        '{"type":"generation","run_id":"s","content":"c"}\n'
    )
    [batch] = read(Source(path, "log")).batches
    assert [output_of(generation, batch) for generation in batch.generations] == [
        Output(
            content="a",
            reasoning="b",
            calls=(Call("ls", '{"a": 1}'), Call("rm", '{"a":1.0}'), Call("x"), Call("y")),
            tools=(OfferedTool("ls", {"type": "object"}), OfferedTool("rm")),
            finish_reason="stop",
            call_mode="text",
        ),
        Output(calls=(Call("ls", ""),), inferred_names=frozenset({"ls"})),
        Output(content="c", inferred_names=frozenset({"ls"}), call_mode="unknown"),
    ]


@pytest.mark.parametrize(
    ("record", "channel"),
    [
        pytest.param(said("a KEY b"), "content", id="content"),
        pytest.param(said("a", reasoning="the KEY"), "reasoning", id="reasoning alone"),
        pytest.param(called(arguments='{"a": "KEY"}'), "tool_arguments", id="arguments alone, a string"),
        pytest.param(said(None, tool_calls=[{"name": "ls", "arguments": {"a": ["KEY"]}}]), "tool_arguments",
                     id="arguments alone, an object"),
        pytest.param(said(None, tool_calls=[{"name": "the KEY", "arguments": "{}"}]), "tool_name", id="a name alone"),
        pytest.param(said("a", raw_text="KEY"), None, id="the raw text is no channel"),
        pytest.param(said("a", tools=[{"name": "KEY"}]), None, id="an offered tool is no channel"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "key",
    [
        pytest.param("tool_call", id="a plain trigger"),
        pytest.param('name="ls"', id="a trigger with quotes"),
        pytest.param("a\n\t\\b", id="a trigger with a line end, a tab and a backslash"),
        pytest.param("▁😀\u2028\x7f", id="a trigger beyond ASCII"),
    ],
)
def test_a_trigger_in_one_channel_alone_reaches_the_detector(
    record: Json, channel: str | None, key: str, tmp_path: Path
) -> None:
    of = anywhere(key)
    if channel == "tool_arguments" and isinstance(record["tool_calls"][0]["arguments"], dict):
        # an object's own text is JSON: there a detector looks for JSON
        of = anywhere(pl.Series([key]).to_frame("k").write_json()[7:-3])
    with store_of(tmp_path, [placed(record, key)], of) as store:
        at_ingest = verdicts(store, of)
        judged(store, of, anew=True)
        assert verdicts(store, of) == at_ingest
    assert [row[6] for row in at_ingest] == ([channel] if channel else [])


def placed(value: object, key: str) -> Json:
    """`value` with `key` in place of KEY."""
    match value:
        case str():
            return value.replace("KEY", key)  # type: ignore[return-value]
        case list():
            return [placed(each, key) for each in value]  # type: ignore[return-value]
        case dict():
            return {name: placed(each, key) for name, each in value.items()}
        case _:
            return value  # type: ignore[return-value]


TEXTS = st.lists(st.sampled_from([*PIECES, "\ud800"]), max_size=15).map("".join)
OUTPUTS = st.builds(
    Output,
    content=st.none() | TEXTS,
    reasoning=st.none() | TEXTS,
    calls=st.lists(st.builds(Call, TEXTS, st.none() | TEXTS), max_size=1).map(tuple),
    tools=st.sampled_from([None, (), (OfferedTool("ls"),)]),
    inferred_names=st.sampled_from([frozenset[str](), frozenset({"rm"})]),
)


@pytest.mark.parametrize("of", [pytest.param(each, id=each.id) for each in detectors()])
@given(output=OUTPUTS)
def test_a_finding_has_a_trigger_in_a_channel(of: Detector, output: Output) -> None:
    if judge(of, output) is not None:
        assert any(trigger in text for channel, text in channels(output) for trigger in looked_for(of, channel))


def looked_for(of: Detector, channel: str) -> tuple[str, ...]:
    return (*of.triggers, *(of.call_triggers if channel.startswith("tool") else ()))


DEBRIS = [
    *('{"a":1}</abc', '{"a":1}```', '{"a":1} functions.ls:0', '{"a":1}to=functions', '{"a":1}<|', '```json\n{"a":1}'),
    *('json{"a":1}', '{"parameter=x": 1}', '{"a": "x</a>"}', '{"a":"1</ls>"}'),
]


@pytest.mark.parametrize("arguments", DEBRIS)
def test_debris_in_arguments_is_looked_for(arguments: str, tmp_path: Path) -> None:
    """What `scan` finds is found in the store too, where only what holds a trigger is judged."""
    with store_of(tmp_path, [called(arguments=arguments), called(arguments='{"a": 1}')]) as store:
        of = default_detector()
        judged(store, of)
        [found] = rows(store, "SELECT kind FROM verdicts WHERE detector = $1", of.id)
    assert found == ("contaminated_call",)


def counting() -> tuple[Detector, Counter[str]]:
    """A detector of plain words, and what it was shown."""
    shown = Counter[str]()

    def note(output: Output) -> None:
        shown[output.content or ""] += 1

    return finds("counting", WORDS, note), shown


SHARED = [said("LEAK a", run="r1"), said("LEAK a", run="r2"), said("LEAK b", run="r1"), said("LEAK a", run="r1")]


def test_a_verdict_key_is_judged_once_at_ingest(tmp_path: Path) -> None:
    of, shown = counting()
    with store_of(tmp_path, SHARED, of) as store:
        assert len(rows(store, "FROM generations")) == 4
    assert shown == {"LEAK a": 1, "LEAK b": 1}


def test_a_verdict_key_is_judged_once_over_the_history_and_never_again(tmp_path: Path) -> None:
    of, shown = counting()
    with store_of(tmp_path, SHARED) as store:
        register(store, of)
        assert judge_history(store, of) == 2
        assert judge_history(store, of) == 0
    assert shown == {"LEAK a": 1, "LEAK b": 1}


def test_a_verdict_key_known_from_an_earlier_upload_is_not_judged_again(tmp_path: Path) -> None:
    of, shown = counting()
    with store_of(tmp_path, SHARED, of) as store:
        add(store, [said("LEAK a", run="r3"), said("LEAK c", run="r3"), said("clean", run="r3")])
        shown.clear()
        assert judge_history(store, of) == 1
    assert shown == {"LEAK c": 1}


def test_an_output_without_a_trigger_is_never_shown(tmp_path: Path) -> None:
    of, shown = counting()
    with store_of(tmp_path, [said("clean"), said("leak")], of) as store:
        assert judge_history(store, of) == 0
        judged(store, of, anew=True)
    assert shown == {}


def test_an_upload_that_arrives_while_the_history_is_judged_is_left_for_the_next_time(tmp_path: Path) -> None:
    of, shown = counting()
    with store_of(tmp_path, [said("LEAK a")]) as store:
        register(store, of)
        judge_history(store, of, lambda _: add(store, [said("LEAK late", run="late")]))
        assert shown == {"LEAK a": 1}
        judge_history(store, of)
        assert shown == {"LEAK a": 1, "LEAK late": 1}
        assert len(verdicts(store, of)) == 2


def test_a_detector_that_raises_is_a_counted_result_and_the_others_go_on(tmp_path: Path) -> None:
    of = finds("words", WORDS)
    with store_of(tmp_path, [said(f"{BOOM} {'x' * 1000}"), said("LEAK")], of) as store:
        at_ingest = verdicts(store, of)
        judged(store, of, anew=True)
        assert verdicts(store, of) == at_ingest
    errors = [row[-1] for row in at_ingest if row[-1]]
    assert len(at_ingest) == 2
    assert [(error[:24], len(error)) for error in errors] == [("ValueError: cannot read ", FAULT_LIMIT)]


def test_judging_that_is_interrupted_goes_on_where_it_was(tmp_path: Path) -> None:
    of, shown = counting()

    def note(output: Output) -> None:
        shown[output.content or ""] += 1
        if shown.total() > PART_OUTPUTS + 100:
            raise KeyboardInterrupt

    stopping = finds("counting", WORDS, note)
    texts = [f"{'LEAK' if at % 2 else BOOM[:2]} {at}" for at in range(PART_OUTPUTS + 200)]
    stopping, of = (replace(each, triggers=("LEAK", BOOM[:2])) for each in (stopping, of))
    with store_of(tmp_path, map(said, texts)) as store:
        register(store, of)
        with pytest.raises(KeyboardInterrupt):
            judge_history(store, stopping)
        assert len(verdicts(store, of)) == PART_OUTPUTS // 2
        assert rows(store, "FROM coverage WHERE detector = 'counting@1'") == []
        shown.clear()
        assert judge_history(store, of) == 200
        assert shown == dict.fromkeys(texts[PART_OUTPUTS:], 1)
        assert len(verdicts(store, of)) == (PART_OUTPUTS + 200) // 2
        assert rows(store, "SELECT count(*) FROM coverage WHERE detector = 'counting@1'") == [(1,)]
        assert rows(store, "FROM judged_so_far") == []


def test_recomputing_judges_anew_and_so_does_one_that_was_interrupted(tmp_path: Path) -> None:
    of, shown = counting()

    def stop(_: object) -> None:
        if shown:
            raise KeyboardInterrupt

    with store_of(tmp_path, SHARED, of) as store:
        for _ in range(2):
            shown.clear()
            with pytest.raises(KeyboardInterrupt):
                judged(store, of, stop, anew=True)
            assert shown == {"LEAK a": 1, "LEAK b": 1}
        shown.clear()
        judged(store, of)
        assert shown == {}
        assert len(verdicts(store, of)) == 2
        judged(store, of, anew=True)
        assert shown == {"LEAK a": 1, "LEAK b": 1}


def test_outputs_that_share_a_text_have_it_whatever_part_they_are_judged_in(tmp_path: Path) -> None:
    thoughts = Counter[str | None]()
    of = finds("words", WORDS, lambda output: thoughts.update([output.reasoning]))
    count = PART_OUTPUTS + 50
    with store_of(tmp_path, [said(f"LEAK {at}", reasoning="Shared.") for at in range(count)]) as store:
        judged(store, of)
        assert len(verdicts(store, of)) == count
    assert thoughts == {"Shared.": count}


def test_an_empty_store_and_a_file_of_labels_alone_are_covered(tmp_path: Path) -> None:
    of = finds("words", WORDS)
    with Store.open(tmp_path / "store.duckdb", create=True) as store:
        assert judge_history(store, of) == 0
        add(store, [label("g0", True)])
        assert judge_history(store, of) == 0
        assert rows(store, "SELECT count(*) FROM coverage WHERE detector = 'words@1'") == [(1,)]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(judge_for, id="a detector"),
        pytest.param(lambda of: Judge(of.id, lambda _: ()), id="a judge that finds nothing"),
    ],
)
def test_what_is_covered_is_taken_from_whoever_judged(make: Callable[[Detector], Judge], tmp_path: Path) -> None:
    of = finds("words", WORDS)
    path = tmp_path / "log.jsonl"
    path.write_text('{"type":"generation","run_id":"r","content":"LEAK","tools":[{"name":"ls"}]}\n')
    with Store.open(tmp_path / "store.duckdb", create=True) as store:
        ingest(store, Source(path, "log"), make(of))
        assert judge_history(store, of) == 0


def test_progress_is_told_the_texts_searched_and_then_the_outputs_judged(tmp_path: Path) -> None:
    told: list[int] = []
    with store_of(tmp_path, [said("a"), said("LEAK", reasoning="c"), said("a", tools=TOOLS[:1])]) as store:
        judge_history(store, finds("words", WORDS), told.append)
        assert told == [3, 0, 1]
        told.clear()
        judge_history(store, finds("other", WORDS), told.append)
        assert told == [0, 1]
