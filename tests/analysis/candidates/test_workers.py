"""Whatever code does, each output gets one verdict: a finding, nothing, or a failure that says what happened."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.candidates import is_brought, resolve
from analysis.candidates.code import IN_A_ROW
from analysis.candidates.isolation import Wanted
from analysis.candidates.limits import MEGABYTE, Limits
from analysis.detectors import EVERY, Detector, Failure, Finding, Verdict, judge_all
from analysis.output import Call, OfferedTool, Output
from ingest.errors import UsageError
from tests.analysis.candidates.codes import LANGUAGES, PYTHON, python, script, until_gone

TOOLS = (OfferedTool("ls", {"type": "object"}),)
SHORT = Limits(seconds=1.0, memory=256 * MEGABYTE)
FREE = Wanted("none")
"""For code that writes beside itself, and what happens to code without a sandbox."""
Make = Callable[[Path], str]


def said(of: Detector, *contents: str) -> list[Verdict]:
    return judge_all(of, [Output(content=content, tools=TOOLS) for content in contents])


def brief(verdicts: list[Verdict]) -> list[str | None]:
    """A finding's markup, None, or the sort of a failure."""
    return [
        f"! {each.why.partition(':')[0]}" if isinstance(each, Failure) else each.markup if each else None
        for each in verdicts
    ]


@pytest.mark.parametrize("make", LANGUAGES)
@pytest.mark.parametrize(
    ("trouble", "sort"),
    [
        pytest.param("HANG", "! timeout", id="hangs"),
        pytest.param("DIE", "! crash", id="ends"),
        pytest.param("KILL", "! crash", id="kills itself"),
        pytest.param("HOG", "! crash", id="takes all memory"),
        pytest.param("GARBAGE", "! no JSON", id="answers with garbage"),
    ],
)
def test_trouble_on_one_output_is_its_failure_and_the_others_go_on(
    make: Make, trouble: str, sort: str, tmp_path: Path
) -> None:
    of = resolve(make(tmp_path), SHORT)
    if "code.py" in of.source:  # what raises is told without the end of the worker
        sort = {"HOG": "! raised", "GARBAGE": "! raised"}.get(trouble, sort)
    assert brief(said(of, "a LEAK", trouble, "nothing", "LEAK")) == ["LEAK", sort, None, "LEAK"]


@pytest.mark.parametrize(
    ("make", "trouble", "why"),
    [
        pytest.param(python, "EXIT", "raised: SystemExit: 4", id="sys.exit in Python"),
        pytest.param(python, "BOOM", "raised: ValueError: cannot read BOOM", id="an exception"),
        pytest.param(python, "HOG", "raised: MemoryError: ", id="memory in Python"),
        pytest.param(python, "GARBAGE", "raised: it answered int", id="a number"),
        pytest.param(python, "WRONG", "no finding: its markup does not stand in the content", id="a wrong place"),
        pytest.param(python, "LONG", "too long: its answer is over 1,048,576 bytes", id="a long answer"),
        pytest.param(python, "HANG", "timeout: no answer within 1 s", id="a hang"),
        pytest.param(python, "KILL", "crash: ended by signal SIGKILL; it said: not an answer", id="a signal"),
        pytest.param(script, "EXIT", "crash: ended with exit code 4", id="sys.exit in a script"),
        pytest.param(script, "DIE", "crash: ended with exit code 3; it said: my last words", id="last words"),
        pytest.param(script, "LONG", "too long: its answer is over 1,048,576 bytes", id="a long line"),
        pytest.param(script, "GARBAGE", "no JSON: it answered 'not JSON'", id="garbage"),
        pytest.param(script, "CLOSE", "crash: it closed its output", id="a closed output"),
        pytest.param(script, "FLOOD", "timeout: no answer within 1 s", id="a flood on stderr"),
    ],
)
def test_a_failure_says_what_happened(make: Make, trouble: str, why: str, tmp_path: Path) -> None:
    [failure] = said(resolve(make(tmp_path), SHORT, FREE), trouble)
    assert failure == Failure(why)


@pytest.mark.parametrize("make", LANGUAGES[1:])
def test_an_answer_too_many_leaves_none_that_can_be_told_apart(make: Make, tmp_path: Path) -> None:
    of = resolve(make(tmp_path), SHORT)
    found = said(of, "LEAK", "TWICE", "LEAK", "nothing")
    lost = [each for each in found if isinstance(each, Failure)]
    assert 2 <= len(lost) <= 4
    assert all(each.why.startswith("too many answers to ") for each in lost)
    assert brief(said(of, "LEAK", "TWICE"))[1] == "! too many answers to 2 outputs"


def test_code_that_fails_on_everything_is_given_up(tmp_path: Path) -> None:
    of = resolve(script(tmp_path), SHORT)
    found = said(of, *["DIE"] * (IN_A_ROW + 5), "LEAK")
    assert brief(found) == ["! crash"] * IN_A_ROW + ["! not asked"] * 6
    assert found[-1] == Failure(f"not asked: it failed on {IN_A_ROW} outputs in a row")
    assert brief(said(of, "LEAK")) == ["! not asked"]


def test_large_outputs_pass_whole(tmp_path: Path) -> None:
    of = resolve(python(tmp_path), SHORT)
    text = "é😀\u2028\ud800\x00" * 200_000
    [found] = said(of, f"{text}LEAK")
    assert isinstance(found, Finding)
    assert (found.start, found.end) == (1_000_000, 1_000_004)


ECHO = """
def find(output):
    call, tool = output.calls[0], output.tools[0]
    told = [output.content, output.reasoning, call.name, call.arguments, tool.name, tool.parameters["type"]]
    told += [output.finish_reason, output.call_mode, *sorted(output.inferred_names), *output.offered_names]
    return {"start": 0, "end": 1, "reason": "|".join(told)}
"""


def test_code_sees_all_that_a_detector_sees(tmp_path: Path) -> None:
    output = Output(
        "content", "reasoning", (Call("name", "{}"),), TOOLS, frozenset({"rm"}), "length", "unknown"
    )  # fmt: skip
    [found] = judge_all(resolve(python(tmp_path, ECHO)), [output])
    assert isinstance(found, Finding)
    assert found.reason == "content|reasoning|name|{}|ls|object|length|unknown|rm|ls"


def test_what_is_unknown_of_the_tools_costs_a_tier_here_too(tmp_path: Path) -> None:
    of = resolve(python(tmp_path))
    outputs = [Output(content="LEAK", tools=tools, call_mode=mode) for tools, mode in ((TOOLS, "native"), (None, "native"), (TOOLS, "text"))]  # type: ignore[arg-type] # fmt: skip # noqa: E501
    assert [each.tier for each in judge_all(of, outputs) if isinstance(each, Finding)] == [
        "certain", "likely", "possible",
    ]  # fmt: skip


CHILD = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({path!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
def find(output):
    while "HANG" in output.content: pass
"""


@pytest.mark.parametrize("content", ["nothing", "HANG"])
def test_no_process_outlives_what_it_was_asked(content: str, tmp_path: Path) -> None:
    of = resolve(python(tmp_path, CHILD.format(path=str(tmp_path / "pids"))), SHORT, FREE)
    said(of, content)
    pids = [int(each) for each in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    assert all(map(until_gone, pids))


DECLARED = """
class Words:
    summary = "Finds plain words."
    triggers = ("LEAK", "CUT")
    endings = (":",)
    def find(self, output):
        return None
words = Words()
def plain(output): return None
plain.triggers = ["LEAK"]
from analysis.detectors.goat import GOAT
"""


def test_what_code_declares_is_taken_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "declared.py").write_text(DECLARED)
    words, plain, goat = (resolve(f"{tmp_path}/declared.py:{name}") for name in ("words", "plain", "GOAT"))
    assert (words.triggers, words.endings, words.summary) == (("LEAK", "CUT"), (":",), "Finds plain words.")
    assert (plain.triggers, plain.name) == (("LEAK",), "declared.plain")
    assert goat.triggers == ("<function=",)
    monkeypatch.chdir(tmp_path)
    module = resolve("declared:words.find")
    assert (module.name, module.triggers) == ("declared.words.find", (EVERY,))
    found = judge_all(goat, [Output(content="<function=ls></function></tool_call>", tools=TOOLS)])
    assert [each.tool for each in found if isinstance(each, Finding)] == ["ls"]


KNOWS = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"triggers": ["LEAK"], "summary": "mine"} if "hello" in json.loads(line) else None), flush=True)
"""


def test_a_script_declares_its_triggers_in_answer_to_the_first_line(tmp_path: Path) -> None:
    of = resolve(script(tmp_path, KNOWS))
    assert (of.triggers, of.summary, of.name) == (("LEAK",), "mine", "script")
    assert resolve(script(tmp_path)).triggers == (EVERY,)


def test_the_version_of_code_is_the_hash_of_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("WORD = 1")
    first = resolve(python(tmp_path, f"import beside\n{PYTHON}"))
    assert resolve(python(tmp_path, f"import beside\n{PYTHON}")).id == first.id
    (tmp_path / "beside.py").write_text("WORD = 2")
    second = resolve(python(tmp_path, f"import beside\n{PYTHON}"))
    (tmp_path / "unused.py").write_text("WORD = 2")
    assert resolve(python(tmp_path, f"import beside\n{PYTHON}")).id == second.id != first.id
    assert first.id.startswith("code.find@sha-")
    one, other = resolve(script(tmp_path)), resolve(f"{script(tmp_path)} -x")
    assert one.id != other.id
    assert resolve(script(tmp_path, f"{KNOWS}#")).id != one.id


@pytest.mark.parametrize(
    ("spec", "brought"),
    [
        pytest.param("goat@1", False, id="a detector"),
        pytest.param("my-rules@sha-12", False, id="one that a store knows"),
        pytest.param("rules.toml", True, id="a rule file"),
        pytest.param("a/b.py:find", True, id="a file of code"),
        pytest.param("a.b:C.find", True, id="a module"),
        pytest.param("exec:./x y", True, id="a command"),
        pytest.param("goat", False, id="a name alone"),
        pytest.param("a.b:", False, id="a module without an attribute"),
        pytest.param("b.py", False, id="a file without an attribute"),
    ],
)
def test_what_is_a_candidate_from_outside(spec: str, brought: bool) -> None:
    assert is_brought(spec) == brought


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        pytest.param("goat", "unknown detector 'goat'; known: ", id="no version"),
        pytest.param("none.py:find", "none.py:find: there is no file none.py", id="no file"),
        pytest.param("no.such.module:find", "ModuleNotFoundError: No module named 'no'", id="no module"),
        pytest.param("bad.py:find", "bad.py:find: ZeroDivisionError: division by zero", id="an import that fails"),
        pytest.param("leaves.py:find", "leaves.py:find: SystemExit: 3", id="an import that leaves"),
        pytest.param("dies.py:find", "does not answer the first line (crash: ended with exit code 3", id="a dead one"),
        pytest.param("good.py:other", "module 'good' has no attribute 'other'", id="no attribute"),
        pytest.param("good.py:number", "TypeError: number is no detector", id="no function"),
        pytest.param("good.py:odd", "its triggers must be a list of texts, none of them empty", id="odd triggers"),
        pytest.param("exec:no-such-program x", "no-such-program is no program that can be run", id="no program"),
        pytest.param("exec:", "nothing is no program", id="nothing"),
        pytest.param("exec:'a", "no closing quotation; quote it as in a shell", id="a quote"),
        pytest.param("exec:echo hi", "its answer to the first line is no JSON", id="a program that talks"),
        pytest.param("exec:true", "does not answer the first line (crash: ended with exit code 0)", id="a silent end"),
        pytest.param("exec:good.py", "good.py is no program that can be run", id="a file that cannot be run"),
    ],
)
def test_a_candidate_that_does_not_load_is_one_clear_line(
    spec: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text("1 / 0")
    Path("leaves.py").write_text("import sys; sys.exit(3)")
    Path("dies.py").write_text("import os; os._exit(3)")
    Path("good.py").write_text("number = 1\ndef odd(_): return None\nodd.triggers = ['']")
    with pytest.raises(UsageError) as fault:
        resolve(spec)
    assert told in str(fault.value)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"seconds": 1e9}, {"memory": 1}, {"seconds": float("nan")}])
def test_limits_that_are_none_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=r"--(time|memory)-limit"):
        Limits(**limits)  # type: ignore[arg-type]


def test_a_worker_that_does_not_start_to_answer_is_given_up_in_time(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(UsageError, match=r"does not answer the first line \(timeout: no answer within 0\.5 s\)"):
        resolve(script(tmp_path, "import time; time.sleep(600)"), Limits(start=0.5))
    assert time.monotonic() - started < 60
