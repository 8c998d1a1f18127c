"""Calls as elements without a wrapper's opening: Qwen3-Coder, Seed-OSS, MiniCPM, Claude, MiniMax, DSML, Step3, Muse.

The namespace tells the family; without one the closer that follows does.
"""

import re
from collections.abc import Iterator

from analysis.grammars import Grammar, spellings
from analysis.reading import MINIMAX, Damages, Reading, Scan, damages, partial, skip_blanks
from analysis.reading.bodies import Body, read_body
from analysis.reading.starts import Starts
from analysis.reading.tags import CALLS, DSML, NAMESPACE
from analysis.reading.wrappers import FOREIGN

_START = Starts(
    re.compile(
        rf"(?P<open><(?:{DSML}|\s)?{CALLS}>\s*+(?=<))?"
        rf"(?:(?P<head><function(?:=|\s+name\s*=|>\s*<name>)|<(?P<ns>{NAMESPACE})?(?:invoke|tool_use)(?:\s+name\s*=|>\s*<tool_name>))|"
        r"(?<![\w<|:/=.-])(?P<lost>(?:function=|invoke\s+name=)[\"']?[^\"'<>\s={}]{1,128}+[\"']?>(?=\s*+<(?:parameter|param)[\s=])))"
    ),
    sign=re.compile(r"<|function=|invoke\s"),
)  # fmt: skip
_CLOSERS = re.compile(rf"\s*(?P<closer></tool_call>|</(?:[a-z]{{1,16}}:)?(?:tool_call|{CALLS})>|</{DSML}{CALLS}>)")
_BY_NAMESPACE = {"atem:": "muse_atem", "steptml:": "step3", "minimax:": "minimax_m2"}
_BY_CLOSER = {"</seed:tool_call>": "seed_oss", "</minimax:tool_call>": "minimax_m2", "</tool_calls>": "minimax_m2"}
_FUNCTION = re.compile(r"<?function\b(?!:)")
_BEFORE = {"step3": "function"}


def _read(scan: Scan) -> Iterator[Reading]:
    position = 0
    while (start := _START.search(scan.folded, position)) is not None:
        if not scan.charge(start.end() - position):
            return
        position = start.end()
        at = start.start("head") if start["head"] else start.start("lost")
        body = read_body(scan, at)
        if body is None or not (body.calls or "cut" in body.damage):
            continue
        reading = _reading(scan, start, body)
        yield reading
        position = max(position, reading.end)


def _reading(scan: Scan, start: re.Match[str], body: Body) -> Reading:
    closer = _CLOSERS.match(scan.folded, body.end)
    end = closer.end() if closer else body.end
    family, damage = _family(scan, start, body, closer["closer"] if closer else None)
    if "cut" in body.damage:
        return Reading(family, _begin(scan, start, family), len(scan.text), body.calls, body.damage | damage)
    if closer is None:
        foreign = FOREIGN.match(scan.folded, end) if family in ("qwen3_coder_xml", "claude_function_calls") else None
        rest = skip_blanks(scan.folded, end)
        cut = any(partial(scan, rest, token) for token in ("</tool_call>", "</function_calls>", "</tool_calls>"))
        end = foreign.end() if foreign else len(scan.text) if cut else end
        damage |= damages("wrong_closer" if foreign else None, "closer_missing" if cut else None)
    return Reading(family, _begin(scan, start, family), end, body.calls, body.damage | damage)


def _begin(scan: Scan, start: re.Match[str], family: str) -> int:
    """Where the reading begins; Step3's word before its element belongs to it."""
    word = _BEFORE.get(family, "")
    at = start.start() - len(word)
    return at if word and at >= 0 and scan.text.startswith(word, at) else start.start()


def _family(scan: Scan, start: re.Match[str], body: Body, closer: str | None) -> tuple[str, Damages]:
    """The family, and what is missing of its frame."""
    namespace = (start["ns"] or "").strip()
    missing = damages("closer_missing" if closer is None else None) if start["open"] else damages("opener_missing")
    if "DSML" in namespace or "DSML" in (start["open"] or ""):
        return "deepseek_dsml", missing | _dsml(scan, start)
    if scan.minimax and MINIMAX in scan.text[max(0, start.start() - 16) : body.end]:
        return "minimax_m3", missing
    if _FUNCTION.match(start["head"] or start["lost"]):
        return _function_family(start, body, closer)
    by_closer = None if namespace else _BY_CLOSER.get(closer or "")
    return _BY_NAMESPACE.get(namespace) or by_closer or "claude_function_calls", missing


def _dsml(scan: Scan, start: re.Match[str]) -> Damages:
    raw = scan.text[start.start() : start.end()]
    exact = "｜DSML｜" in raw and "｜｜" not in raw
    return damages(None if exact else "look_alike")


def _function_family(start: re.Match[str], body: Body, closer: str | None) -> tuple[str, Damages]:
    head = start["head"] or ""
    lost = damages("opener_missing" if start["lost"] else None)
    if re.match(r"<function\s+name", head):
        return ("minicpm5" if body.kind == "function" else "function_eq_json"), frozenset()
    if body.kind == "function_json" and closer is None:
        return "function_eq_json", lost
    if body.kind == "json":
        return "hermes_json", frozenset()
    return _BY_CLOSER.get(closer or "", "qwen3_coder_xml"), damages("opener_missing")


ELEMENTS = Grammar(
    families=("qwen3_coder_xml", "function_eq_json", "hermes_json", "minicpm5", "claude_function_calls", "minimax_m2",
              "minimax_m3", "deepseek_dsml", "step3", "muse_atem", "seed_oss"),
    anchors=spellings(
        "<function=", "<function ", "<function\n", "<function>", "<invoke", ":invoke", "DSML", "<tool_use", ":tool_use",
        "<param",
    ),
    read=_read,
    examples={
        "function_eq_json": '<function=look>{"at": "sky"}</function>',
        "minicpm5": '<function name="look"><param name="at">sky</param></function>',
        "deepseek_dsml": (
            '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="look">\n<｜DSML｜parameter name="at" string="true">sky'
            "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
        ),
    },
)  # fmt: skip
