"""docs/examples: what the pages on rule files and candidates show stands there, loads, and does what they say."""

import json
import re
import tomllib

import pytest

from analysis.candidates import resolve
from analysis.candidates.wire import as_output, said
from analysis.detectors import Finding, judge, judge_all
from analysis.output import OfferedTool, Output
from analysis.rules import parse
from analysis.rules.files import Rule
from tests.test_docs import ROOT, blocks

EXAMPLES = ROOT / "docs" / "examples"
RULES, CODE = ROOT / "docs" / "rule-files.md", ROOT / "docs" / "candidates.md"


def test_the_rule_files_of_the_page_load() -> None:
    shown = blocks(RULES, "toml")
    assert shown == [(EXAMPLES / "rules.toml").read_text()]
    detector = parse(shown[0], "rules.toml")
    assert all(judge(detector, each.output) for each in detector.leaks)


def test_the_code_of_the_page_is_that_of_the_examples() -> None:
    files = [(EXAMPLES / name).read_text() for name in ("my_detector.py", "my_detector_script.py")]
    assert blocks(CODE, "python") == files


@pytest.mark.parametrize(
    "spec", [f"{EXAMPLES}/my_detector.py:find", f"exec:python3 '{EXAMPLES}/my_detector_script.py'"]
)
def test_the_examples_of_code_find_what_they_are_for(spec: str) -> None:
    detector = resolve(spec)
    outputs = [Output(content=text, tools=(OfferedTool("ls"),)) for text in ("Now <function=ls>", "Nothing.")]
    found, none = judge_all(detector, outputs)
    assert isinstance(found, Finding)
    assert (found.tier, found.start, none) == ("certain", 4, None)
    assert detector.triggers == ("<function=", "<invoke name=")


def test_the_output_of_the_page_is_one() -> None:
    [shown] = blocks(CODE, "json")
    output = as_output(json.loads(shown))
    assert isinstance(said(b'{"start":0,"end":1}', output), Finding)


def test_the_page_names_every_key_of_a_rule() -> None:
    rows = re.findall(
        r"^\| (`.+?) \|", RULES.read_text().partition("## A rule\n")[2].partition("\n## ")[0], re.MULTILINE
    )
    named = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    assert named == set(Rule.model_fields)
    example = tomllib.loads((EXAMPLES / "rules.toml").read_text())
    assert all(set(rule) <= named for rule in example["rule"])
