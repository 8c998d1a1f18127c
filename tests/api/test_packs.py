"""A pack holds all that a detector may look at and all that people said: the store's labelled figures come back."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.detectors import detector
from analysis.replay import replay
from api.packed import packed
from ingest.errors import InputError, NotFound
from ingest.files.containers import Source
from ingest.packs import VERSION, header, write
from ingest.redaction import Redactor
from ingest.store import Store
from tests.analysis.stories import LEAK, Json, add, called, label, numbered, rows, said, store_of

PAIR = (detector("openrouter-net@1"), detector("goat@1"))
QUOTE = "It is <tool_call>, says the template."


def pack_of(store: Store, redactor: Redactor | None = None) -> bytes:
    out = io.BytesIO()
    write(store, out, redactor)
    return out.getvalue()


def packed_lines(folder: Path, records: list[Json], redactor: Redactor | None = None) -> list[Json]:
    with store_of(folder, records) as store:
        return [json.loads(line) for line in pack_of(store, redactor).splitlines()]


def labelled_figures(store: Store) -> Json:
    return replay(store, *PAIR).labelled.as_json()


def truths(store: Store) -> list[tuple[Any, ...]]:
    return rows(store, "SELECT verdict_key, leak FROM truth ORDER BY ALL")


def a_tool(name: str) -> Json:
    return {"name": name, "description": f"does {name}", "parameters": {"type": "object", "x": [1.5, None]}}


STORIES = [
    pytest.param([said(LEAK), said(QUOTE), said("hello"), label("g0", True), label("g1", False)], id="two of three"),
    pytest.param(
        [said(LEAK, run=f"r{at // 3}") for at in range(9)] + [label(f"g{at}", at % 2 == 0) for at in range(9)],
        id="the same output in many runs",
    ),
    pytest.param([said(LEAK), label("g0", True), label("g0", False, by="bob")], id="a conflict stays one"),
    pytest.param(
        [said(LEAK), label("g0", True), label("g0", False, by="bob"), label("g0", True, by="cy", resolution=True)],
        id="a resolved conflict",
    ),
    pytest.param(
        [said(LEAK), label("g0", True), label("g0", None), said(QUOTE), label("g1", False)], id="unsure at last"
    ),
    pytest.param(
        [
            said(LEAK),
            label("g0", False, at="2026-11-01T00:00:00Z"),
            label("g0", True, at="2026-11-02T00:00:00Z"),
            label("g0", False, note="no time at all"),
        ],
        id="the last word by time",
    ),
    pytest.param(
        [said(LEAK, tools=...), called(tools=...), label("g0", True)], id="tools unknown, names of another output"
    ),
    pytest.param([said(LEAK, tools=..., run="q"), label("g0", True)], id="tools unknown, nothing called"),
    pytest.param([said(LEAK, tools=None), label("g0", True)], id="tools null"),
    pytest.param([said(LEAK, tools=[]), label("g0", True)], id="no tools"),
    pytest.param([said(LEAK, tools=[a_tool("ls"), a_tool("é")]), label("g0", True)], id="tools with schemas"),
    pytest.param([said("", reasoning=LEAK), label("g0", True)], id="a leak in the reasoning"),
    pytest.param(
        [called(arguments='{"a": 1.0, "b": "\\u00e9"}', reasoning="x"), label("g0", False)], id="a call as it came"
    ),
    pytest.param(
        [said(None, tool_calls=[{"name": "ls", "arguments": {"a": [1.0]}}]), label("g0", False)], id="an object"
    ),
    pytest.param([said(LEAK, call_mode="text"), label("g0", True)], id="calls as text"),
    pytest.param([said(LEAK, finish_reason="length"), said(LEAK), label("g0", True), label("g1", True)], id="finish"),
    pytest.param([said(LEAK, role="judge"), said(QUOTE), label("g0", True), label("g1", False)], id="another role"),
    pytest.param(
        [said(LEAK, generation_id="x"), said(LEAK, generation_id="x", turn=1), label("x", True)],
        id="an id twice, with the same output",
    ),
    pytest.param(
        [{"type": "run", "run_id": "r", "engine": "vllm"}, said(LEAK, model="m"), label("g0", True)], id="series"
    ),
]


@pytest.mark.parametrize("records", STORIES)
def test_a_replay_of_the_pack_gives_the_labelled_figures_of_the_store(records: list[Json], tmp_path: Path) -> None:
    target = tmp_path / "p.jsonl"
    with store_of(tmp_path, records) as store:
        target.write_bytes(pack_of(store))
        expected, truth = labelled_figures(store), truths(store)
    with packed(target) as backend:
        assert labelled_figures(backend.store) == expected
        assert truths(backend.store) == truth


def test_an_id_that_came_to_name_several_outputs_is_told_apart(tmp_path: Path) -> None:
    """The label was given while the id named one output; in the pack it must find that one again."""
    target = tmp_path / "p.jsonl"
    with store_of(tmp_path, [said(LEAK, generation_id="x"), label("x", True)]) as store:
        add(store, [said(QUOTE, generation_id="x"), said("y"), label("g0", False)])
        add(store, numbered([said(QUOTE, run="s"), label("g0", False)]))
        target.write_bytes(pack_of(store))
        expected, truth = labelled_figures(store), truths(store)
    assert len(truth) == 2
    with packed(target) as backend:
        assert (labelled_figures(backend.store), truths(backend.store)) == (expected, truth)


def test_a_pack_of_a_pack_is_the_same_file(tmp_path: Path) -> None:
    records = [
        said(LEAK, model="m", tools=...), called(tools=...), said(QUOTE, run="b", started_at="2026-11-01T00:00:00Z"),
        label("g0", True, note="n"), label("g2", False, kind="printed_call", at="2026-11-02T00:00:00Z"),
    ]  # fmt: skip
    with store_of(tmp_path, records) as store:
        first = pack_of(store)
        assert pack_of(store) == first
    (tmp_path / "p.jsonl").write_bytes(first)
    with packed(tmp_path / "p.jsonl") as backend:
        assert pack_of(backend.store) == first


def test_it_holds_what_a_replay_needs_and_nothing_else(tmp_path: Path) -> None:
    secret: Json = {
        "tags": {"team": "a"},
        "usage": {"input_tokens": 1},
        "mine": 1,
        "raw_text": "x",
        "tool_choice": "auto",
    }
    [head, generation, verdict] = packed_lines(
        tmp_path, [said(LEAK, 0, 0, model="m", **secret), said("unlabelled"), label("g0", True, mine=2)]
    )
    assert head == {"type": "pack", "version": VERSION, "redacted": False, "generations": 1, "labels": 1}
    assert generation.keys() == {
        "type", "run_id", "generation_id", "round", "attempt", "model", "tools", "content",
    }  # fmt: skip
    assert verdict == {"type": "label", "generation_id": "g0", "run_id": "r", "leak": True, "by": "ana"}


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([said(LEAK)], id="no label"),
        pytest.param([said(LEAK), label("g9", True)], id="a label of an output that is not here"),
    ],
)
def test_without_a_labelled_output_there_is_nothing_to_pack(records: list[Json], tmp_path: Path) -> None:
    with store_of(tmp_path, records) as store, pytest.raises(NotFound, match="no output here is labelled"):
        pack_of(store)


def test_redaction_takes_out_secrets_and_people_and_keeps_what_differs_apart(tmp_path: Path) -> None:
    records = [
        said("mail bo@x.org", run="u@x.org", model="acme-7b"),
        said("sk-0123456789abcdef0123", run="v@x.org", tools=[{"name": "acme_ls", "description": "of ann@x.org"}]),
        said("clean native text", run="w"),
        label("g0", True, by="ana@x.org"), label("g0", False, by="ben@x.org", note="ask ana@x.org"),
        label("g1", True, by="ben@x.org", kind="leaked_call"), label("g2", True, by="ana@x.org"),
    ]  # fmt: skip
    head, *lines = packed_lines(tmp_path, records, Redactor(["acme|native|leaked"]))
    generations, labels = lines[:3], lines[3:]
    assert head["redacted"] is True
    assert [each["content"] for each in generations] == [
        "mail [redacted-email]", "[redacted-key]", "clean [redacted-1] text",
    ]  # fmt: skip
    assert [each["run_id"] for each in generations] == ["[redacted-email]-1", "[redacted-email]-3", "w"]
    assert [each["text_fidelity"] for each in generations] == ["redacted"] * 3
    assert generations[0]["model"] == "[redacted-1]-7b"
    assert generations[1]["tools"] == [{"name": "[redacted-1]_ls", "description": "of [redacted-email]"}]
    assert [(each["generation_id"], each["by"]) for each in labels] == [
        ("g0", "reviewer-1"), ("g0", "reviewer-2"), ("g1", "reviewer-2"), ("g2", "reviewer-1"),
    ]  # fmt: skip
    assert (labels[1]["note"], labels[2]["kind"]) == ("ask [redacted-email]", "leaked_call")
    assert "x.org" not in json.dumps(lines)


def test_a_redacted_pack_is_read_as_any_other(tmp_path: Path) -> None:
    target = tmp_path / "p.jsonl"
    with store_of(tmp_path, [said(f"{LEAK} bo@x.org", run="u@x.org"), label("g0", True, by="a@x.org")]) as store:
        target.write_bytes(pack_of(store, Redactor()))
        expected = labelled_figures(store)
    with packed(target) as backend:
        assert labelled_figures(backend.store) == expected


HEAD: Json = {"type": "pack", "version": 1, "generations": 2, "labels": 1}
GOOD: list[Json] = [
    HEAD, said(LEAK, generation_id="g0"), said("hello", generation_id="g1"), label("g0", True, run_id="r"),
]  # fmt: skip


def lines(*values: Json) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def zipped(*members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for at, each in enumerate(members):
            archive.writestr(f"m{at}.jsonl", each)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(lines(*GOOD[1:]), "no pack; the first line of one is", id="no header"),
        pytest.param(b"", "no pack", id="an empty file"),
        pytest.param(b"hello\n", "no pack", id="no JSON"),
        pytest.param(lines({"type": "pack"}, *GOOD[1:]), "no pack", id="a header without a version"),
        pytest.param(lines({**HEAD, "version": 2}, *GOOD[1:]), "a pack of version 2; this leakdown reads version 1",
                     id="newer"),
        pytest.param(lines({**HEAD, "version": "1"}, *GOOD[1:]), "a pack of version '1'", id="a text"),
        pytest.param(zipped(lines(*GOOD), lines(*GOOD)), "no pack", id="a zip of two"),
        pytest.param(lines(*GOOD[:2], *GOOD[3:]), "its first line tells of 2 outputs, and 1 are there", id="a gap"),
        pytest.param(lines(*GOOD[:3]), "its first line tells of 1 labels, and 0 are there", id="the end lost"),
        pytest.param(lines(*GOOD)[:-9], "1 of its lines are no records (ends in the middle", id="cut within a line"),
        pytest.param(lines(*GOOD, {"type": "generation"}), "1 of its lines are no records", id="no record"),
        pytest.param(lines(*GOOD, label("g7", True)), "1 of 2 labels name no output of it", id="a label of nothing"),
        pytest.param(lines(HEAD), "no record in 1 lines", id="a header alone"),
    ],
)  # fmt: skip
def test_what_is_no_whole_pack_is_refused(content: bytes, why: str, tmp_path: Path) -> None:
    target = tmp_path / "p.jsonl"
    target.write_bytes(content)
    with pytest.raises(InputError) as refused, packed(target):
        pass
    assert why in str(refused.value)
    assert str(refused.value).startswith(str(target))


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: lines(*GOOD), id="as it is"),
        pytest.param(lambda: zipped(lines(*GOOD)), id="zipped"),
        pytest.param(lambda: lines({"type": "pack", "version": 1}, *GOOD[1:]), id="written by hand, without counts"),
        pytest.param(
            lambda: lines(*GOOD, said("more", generation_id="g2"), label("g2", False)), id="with lines added by hand"
        ),
    ],
)
def test_what_is_a_whole_pack_is_read(made: Callable[[], bytes], tmp_path: Path) -> None:
    target = tmp_path / "p"
    target.write_bytes(made())
    assert header(Source(target, "p")).version == 1
    with packed(target) as backend:
        assert labelled_figures(backend.store)["baseline"]["tp"] == 1


def test_nothing_is_left_of_a_pack_that_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    (tmp_path / "p.jsonl").write_bytes(lines(*GOOD))
    with packed(tmp_path / "p.jsonl") as backend:
        assert backend.store.path.exists()
    assert list((tmp_path / "t").iterdir()) == []


def test_a_pack_is_a_native_file_too(tmp_path: Path) -> None:
    """Its header is a line without a record, so that the lines balance."""
    (tmp_path / "p.jsonl").write_bytes(lines(*GOOD))
    with Store.open(tmp_path / "s.duckdb", create=True) as store:
        from api.backend import LocalBackend
        from api.uploads import Given

        result = LocalBackend(store).uploads.ingest(Source(tmp_path / "p.jsonl", "p.jsonl"), Given())
    assert (result["format"], result["lines"], result["mapped"], result["quarantined"]) == ("native", 4, 3, 0)
    assert result["skipped_why"] == {"the header of a pack": 1}
