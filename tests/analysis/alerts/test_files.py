"""Rule files of alerts: what is read, and one clear line for what is not."""

from pathlib import Path

import pytest

from analysis.alerts.files import DEFAULT, load, parse
from analysis.alerts.kinds.change import Change
from analysis.alerts.kinds.threshold import Threshold
from ingest.errors import UsageError

GOOD = """
[[rule]]
name = "strict"
kind = "threshold"
rate = 0.05
where = ["model=qwen*", "engine=vllm"]
since = "2026-11-01"

[[rule]]
name = "worse"
kind = "change"
baseline_days = 14
"""


def test_a_file_is_its_rules(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(GOOD)
    assert load(tmp_path / "a.toml") == (
        Threshold(name="strict", kind="threshold", rate=0.05, where=["model=qwen*", "engine=vllm"], since="2026-11-01"),
        Change(name="worse", kind="change", baseline_days=14),
    )


def test_the_built_in_rules_are_three() -> None:
    assert [(each.name, each.kind) for each in DEFAULT] == [
        (name, name) for name in ("change", "recovery_drop", "first_seen")
    ]


def table(**fields: str) -> str:
    """A rule, with the values spelled as TOML."""
    told = {"name": '"a"', "kind": '"change"', **fields}
    return "[[rule]]\n" + "".join(f"{name} = {value}\n" for name, value in told.items())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "a.toml: rule: field required", id="empty"),
        pytest.param("rule = []", "a.toml: rule: list should have at least 1 item", id="no rule"),
        pytest.param("[[rule]", "a.toml: no TOML: expected", id="no TOML"),
        pytest.param("colour = 1\n" + table(), "a.toml: colour: extra inputs are not permitted", id="an unknown key"),
        pytest.param(table(colour="1"), "a.toml: rule 1: colour: extra inputs", id="an unknown key of a rule"),
        pytest.param(table(rate="0.1"), "a.toml: rule 1: rate: extra inputs", id="a key of another kind"),
        pytest.param(table() + table(name='"b"', kind='"x"'), "a.toml: rule 2: kind: input tag 'x'", id="no kind"),
        pytest.param('[[rule]]\nname = "a"', "a.toml: rule 1: kind: unable to extract tag", id="the kind is missing"),
        pytest.param(table(name='"A b"'), "a.toml: rule 1: name: string should match", id="no name"),
        pytest.param(table() + table(), "a.toml: rule 2: name: 'a' is the name of rule 1 too", id="a name twice"),
        pytest.param(table(kind='"threshold"'), "a.toml: rule 1: rate: field required", id="no rate"),
        pytest.param(table(kind='"threshold"', rate="0"), "rule 1: rate: input should be greater than", id="rate 0"),
        pytest.param(table(kind='"threshold"', rate="1.0"), "rate: input should be less than 1", id="rate 1"),
        pytest.param(table(kind='"threshold"', rate='"5%"'), "rate: input should be a valid number", id="no number"),
        pytest.param(table(kind='"threshold"', rate="nan"), "rule 1: rate: input should be", id="rate nan"),
        pytest.param(table(baseline_days="0"), "rule 1: baseline_days: input should be greater", id="no day"),
        pytest.param(table(baseline_days="1.5"), "baseline_days: input should be a valid integer", id="half a day"),
        pytest.param(table(where='"model=x"'), "rule 1: where: input should be a valid list", id="no list"),
        pytest.param(table(where='["modle=x"]'), "rule 1: where.0: modle=x: write key=glob with", id="no filter"),
        pytest.param(table(since='"soon"'), "rule 1: since: 'soon' is no day; write one such as", id="no date"),
        pytest.param(table(since="2026-11-01"), "rule 1: since: input should be a valid string", id="without quotes"),
        pytest.param('a = "\ud800"', "a.toml: character 6 is half of a surrogate pair", id="half a pair"),
        pytest.param("a = " + "[" * 9_000, "a.toml: no TOML: ", id="nested without end"),
    ],
)
def test_what_is_wrong_is_one_clear_line(text: str, said: str) -> None:
    with pytest.raises(UsageError) as fault:
        parse(text, "a.toml")
    assert said in str(fault.value)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "cannot be read (no such file or directory)", id="not there"),
        pytest.param(b"\xff", "byte 0 is no UTF-8", id="no text"),
        pytest.param(b"#" * 70_000, "over 65,536 bytes", id="too large"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "a.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=r"a\.toml") as fault:
        load(path)
    assert said in str(fault.value)
