"""Files that belong together are one upload; what a sidecar says holds for the logs beside and below it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.errors import InputError
from ingest.files.containers import SIDECAR, Source, expand
from ingest.files.grouping import together
from ingest.files.sidecar import told
from ingest.formats import formats
from ingest.pipeline import ingest
from ingest.store import Store
from ingest.uploads import correct, uploads
from tests.ingest.loading import MARK_JUDGE, generation, rows, written

ACROSS = [each for each in formats() if each.across_files]


def test_files_of_a_format_that_reaches_across_them_are_one_input(tmp_path: Path) -> None:
    reaching, native = ACROSS[0], json.dumps(generation())
    for name, text in (("a.log", reaching.example), ("b.log", reaching.example), ("c.log", native), ("d.log", "no")):
        (tmp_path / name).write_text(text)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "e.log").write_text(reaching.example)
    found = together(expand([str(tmp_path)]))
    assert [source.name.removeprefix(f"{tmp_path}/") for source in found] == [
        "a.log + b.log", "c.log", "d.log", "deep/e.log",
    ]  # fmt: skip
    assert [part.path and part.path.name for part in found[0].parts()] == ["a.log", "b.log"]


def test_a_joint_input_is_one_upload(store: Store, tmp_path: Path) -> None:
    reaching = ACROSS[0]
    for name in ("a", "b"):
        (tmp_path / name).write_text(reaching.example)
    [source] = together([Source(tmp_path / name, name) for name in ("a", "b")])
    result = ingest(store, source, MARK_JUDGE)
    assert (result.path, result.format) == ("a + b", reaching.name)
    assert result.lines == result.mapped + result.skipped + result.duplicate + result.quarantined


def sidecar(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SIDECAR).write_text(text)
    return folder / "log.jsonl"


def test_the_nearer_sidecar_counts_more(tmp_path: Path) -> None:
    sidecar(tmp_path, '[set]\nengine = "vllm"\ntemplate = "hermes"\n')
    path = sidecar(tmp_path / "deep", '[set]\nengine = "sglang"\n')
    assert told(path) == {"engine": "sglang", "template": "hermes"}


def test_a_sidecar_is_no_log(tmp_path: Path) -> None:
    sidecar(tmp_path, '[set]\nengine = "vllm"\n').write_text(json.dumps(generation()))
    assert [source.path and source.path.name for source in expand([str(tmp_path)])] == ["log.jsonl"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("[set", "not read as TOML", id="no TOML"),
        pytest.param("engine = 'x'", r"other than a table \[set\]", id="outside the table"),
        pytest.param("[set]\ncolour = 'red'", r"\[set\] colour: write one of model, ", id="no series field"),
        pytest.param("[set]\nengine = 1", r"\[set\] engine: write one of .* as a text", id="no text"),
    ],
)
def test_a_sidecar_that_is_wrong_is_refused_in_one_line(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=why) as refusal:
        told(sidecar(tmp_path, text))
    assert str(tmp_path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_where_a_value_comes_from_is_kept(store: Store, tmp_path: Path) -> None:
    source = written(tmp_path / "log.jsonl", [generation(engine="theirs", model="m")])
    given, beside = {"engine": "vllm"}, {"engine": "sglang", "template": "hermes", "client": "c"}
    ingest(store, source, MARK_JUDGE, settings=given, sidecar=beside)
    correct(store, 1, {"client": "d"})
    [upload] = uploads(store)
    assert upload.settings == {"engine": "vllm", "template": "hermes", "client": "d"}
    assert upload.origins == {"engine": "given", "template": "sidecar", "client": "corrected"}
    assert rows(store, "SELECT model, engine, template, client FROM generations") == [("m", "vllm", "hermes", "d")]


def test_a_group_keeps_to_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.files.grouping.MOST", 2)
    sources = []
    for at in range(5):
        (tmp_path / f"{at}").write_text(ACROSS[0].example)
        sources.append(Source(tmp_path / f"{at}", f"{at}"))
    assert [len(each.parts()) for each in together(sources)] == [2, 2, 1]
    assert together([replace(sources[0])]) == [sources[0]]
